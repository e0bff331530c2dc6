"""Records the outcomes of fetching pictures: stores the file and its dimensions with the media, and the next state of
the PictureFetch.

A stored picture changes its product: `updated_at` of the product moves on, so that clients with copies of the shop see
it (the log of changes follows the product's row), and caches of the shop are invalidated. Apps get one
`product.updated` for all pictures of a product that were fetched one after another, not one for each picture
(R-HOOK-20).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from os import SEEK_END
from typing import IO

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from storefront.catalogue import events
from storefront.catalogue.models import Media, Product
from storefront.pictures.claiming import Job
from storefront.pictures.models import PictureFetch, StoredPicture
from storefront.pictures.rules import next_wait
from storefront.shops import quotas
from storefront.shops.changes import publish_change
from storefront.shops.models import Shop
from storefront.shops.quotas import QuotaReached

EXTENSIONS = {"PNG": "png", "JPEG": "jpg", "WEBP": "webp", "GIF": "gif"}
REASON_CHARACTERS = 300


@dataclass(frozen=True)
class FetchedPicture:
    """A checked picture: its file, with the SHA-256 of the content in hexadecimal, the format that Pillow recognised,
    and its dimensions in pixels."""

    file: IO[bytes]
    digest: str
    format: str
    width: int
    height: int


@dataclass(frozen=True)
class Outcome:
    """The outcome of one attempt: a picture, or the reason for the failure in one sentence. `is_final`: another attempt
    cannot succeed. `retry_after` is the wait that the host asked for."""

    job: Job
    picture: FetchedPicture | None = None
    reason: str = ""
    is_final: bool = False
    retry_after: timedelta | None = None


def record_outcomes(outcomes: Collection[Outcome], *, lease: str, now: datetime) -> None:
    """Record the outcomes, in one transaction for each shop. Skips pictures that are no longer leased with `lease`: the
    media or product was removed, or the lease expired."""
    by_shop: dict[Shop, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_shop[outcome.job.shop].append(outcome)
    for shop, of_shop in by_shop.items():
        # Files are written before the transaction, since a storage can be slow.
        wanted = _leased(shop, of_shop, lease)
        names: dict[int, str] = {}
        recorded: list[Outcome] = []
        for each in of_shop:
            if each.picture and each.job.media_id in wanted:
                try:
                    names[each.job.media_id] = store(shop=shop, picture=each.picture, now=now)
                except QuotaReached as refusal:
                    each = Outcome(each.job, reason=refusal.text, is_final=True)
            recorded.append(each)
        _record(shop, recorded, names, lease, now)


def store(*, shop: Shop, picture: FetchedPicture, now: datetime) -> str:
    """Store the content unless the shop has it, and return the name of its file. Raises QuotaReached."""
    stored = StoredPicture.objects.filter(shop=shop, digest=picture.digest)
    existing = stored.first()
    if existing and default_storage.exists(existing.file):
        return existing.file
    size = picture.file.seek(0, SEEK_END)
    picture.file.seek(0)
    path = f"products/{shop.pk}/{picture.digest[:32]}.{EXTENSIONS[picture.format]}"
    # Always a new file: an existing one of that name may be incomplete, left by a killed worker.
    with quotas.held("files", shop_id=shop.pk, now=now, amount=size):
        name = default_storage.save(path, File(picture.file))
    if existing:
        stored.update(file=name)
        return name
    StoredPicture.objects.bulk_create(
        [StoredPicture(shop=shop, digest=picture.digest, file=name)], ignore_conflicts=True
    )
    winner = stored.get().file
    if winner != name:
        default_storage.delete(name)
        quotas.free("files", shop_id=shop.pk, amount=size)
    return winner


@transaction.atomic
def _record(shop: Shop, outcomes: list[Outcome], names: dict[int, str], lease: str, now: datetime) -> None:
    products = sorted({outcome.job.product_id for outcome in outcomes})
    # Locked first, in the order of other writers: a product, then its media.
    list(Product.objects.select_for_update(no_key=True).filter(shop=shop, pk__in=products).order_by("pk"))
    leased = _leased(shop, outcomes, lease)
    outcomes = [outcome for outcome in outcomes if outcome.job.media_id in leased]
    changed: set[int] = set()
    for outcome in outcomes:
        name = names.get(outcome.job.media_id)
        if name is None or outcome.picture is None:
            _postpone(outcome, now)
        elif _put(outcome.job, outcome.picture, name):
            changed.add(outcome.job.product_id)
            _end(outcome.job, state=PictureFetch.State.FETCHED, reason="")
        else:
            # The address was changed meanwhile, or a file uploaded.
            _release(outcome.job, now)
    if changed:
        # A deleted product keeps the time of its deletion.
        Product.objects.filter(shop=shop, pk__in=changed, deleted_at=None).update(updated_at=now)
        publish_change(shop.pk)
    _announce(shop, products, now)


def _leased(shop: Shop, outcomes: Iterable[Outcome], lease: str) -> set[int]:
    ids = [outcome.job.media_id for outcome in outcomes]
    rows = PictureFetch.objects.filter(shop=shop, pk__in=ids, lease=lease, state=PictureFetch.State.WAITING)
    return set(rows.values_list("pk", flat=True))


def _put(job: Job, picture: FetchedPicture, name: str) -> bool:
    """Store the file with the media. Returns False if the file or address changed meanwhile."""
    media = Media.objects.filter(shop=job.shop, pk=job.media_id, source_url=job.url, file="")
    return bool(media.update(file=name, width=picture.width, height=picture.height))


def _postpone(outcome: Outcome, now: datetime) -> None:
    """Schedule the next attempt, or give up after the last."""
    job, reason = outcome.job, outcome.reason[:REASON_CHARACTERS]
    wait = None if outcome.is_final else next_wait(job.attempts, outcome.retry_after)
    if wait is None:
        _end(job, state=PictureFetch.State.FAILED, reason=reason)
    else:
        _end(job, state=PictureFetch.State.WAITING, reason=reason, due_at=now + wait)


def _release(job: Job, now: datetime) -> None:
    has_file = Media.objects.filter(pk=job.media_id).exclude(file="").exists()
    state = PictureFetch.State.FETCHED if has_file else PictureFetch.State.WAITING
    _end(job, state=state, attempts=0, due_at=now, reason="")


def _end(job: Job, **columns: object) -> None:
    PictureFetch.objects.filter(pk=job.media_id).update(lease=None, **columns)


def _announce(shop: Shop, products: Collection[int], now: datetime) -> None:
    """Emit `product.updated` for products with fetched pictures that were not announced yet, once no picture of the
    product waits for its first attempt. As for imported products, events are recorded only if the shop has an app."""
    if not events.has_apps(shop):
        return
    of_products = PictureFetch.objects.filter(shop=shop, media__product__in=products)
    unfinished = of_products.filter(Q(attempts=0) | Q(lease__isnull=False), state=PictureFetch.State.WAITING)
    fetched = of_products.filter(state=PictureFetch.State.FETCHED, is_announced=False).exclude(
        media__product__in=set(unfinished.values_list("media__product", flat=True))
    )
    found = dict(fetched.values_list("pk", "media__product"))
    PictureFetch.objects.filter(pk__in=found).update(is_announced=True)
    events.emit_updated(shop, sorted(set(found.values())), now)

"""Sweeps of the worker for files that buyers download. Each is safe to run twice, and in two workers at once."""

from datetime import datetime, timedelta

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, RestrictedError

from storefront.catalogue.models import DigitalFile, StoredFile
from storefront.kit.storage import StorageUnavailable
from storefront.orders.download_links import is_paid, is_refunded, is_withdrawn
from storefront.orders.downloads import expiry, new_download
from storefront.orders.models import Download, OrderLine
from storefront.pods.moves import NOT_MOVING
from storefront.shops import quotas

log = structlog.get_logger(__name__)

# How long an unused file is kept. An order that is being placed may still copy it.
KEPT_UNUSED = timedelta(days=1)
IS_USED = Q(Exists(DigitalFile.objects.filter(file=OuterRef("pk")))) | Q(
    Exists(Download.objects.filter(file=OuterRef("pk")))
)


def give_added_files(*, now: datetime, limit: int) -> int:
    """Give earlier buyers a file that was added to a product: add it to up to `limit` lines of that product, with the
    expiry of the line's other files, or else a new one from now. Returns how many lines were examined.

    Orders that were cancelled or refunded, and those whose time is over, get nothing; nor do bundles.
    """
    file = DigitalFile.objects.filter(NOT_MOVING, given_at=None).select_related("product").order_by("pk").first()
    if file is None:
        return 0
    with transaction.atomic():
        lines = list(_lines_of(file)[:limit])
        found = [each for line in lines if (each := _given(line, file, now))]
        # A line that was sold with the file has it already.
        Download.objects.bulk_create(found, ignore_conflicts=True)
        progress = {"given_to": lines[-1].pk} if lines else {"given_at": now}
        DigitalFile.objects.filter(shop=file.shop_id, pk=file.pk).update(**progress)
    return max(len(lines), 1)


def delete_unused_files(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` stored files that no product has and no order was sold with, after KEPT_UNUSED. Returns how
    many were deleted."""
    StoredFile.objects.filter(NOT_MOVING, IS_USED, unused_since__isnull=False).update(unused_since=None)
    StoredFile.objects.filter(NOT_MOVING, ~IS_USED, unused_since=None).update(unused_since=now)
    old = StoredFile.objects.filter(NOT_MOVING, ~IS_USED, unused_since__lt=now - KEPT_UNUSED).order_by("unused_since")
    return sum(_is_deleted(stored) for stored in old[:limit])


def _lines_of(file: DigitalFile) -> QuerySet[OrderLine]:
    """Lines that were sold without the file, in the order of their ids, from where the last call ended."""
    lines = OrderLine.objects.filter(shop=file.shop_id, product=file.product_id, pk__gt=file.given_to)
    if file.variant_id is not None:
        lines = lines.filter(variant=file.variant_id)
    return lines.select_related("order").prefetch_related("downloads").order_by("pk")


def _given(line: OrderLine, file: DigitalFile, now: datetime) -> Download | None:
    order, others = line.order, list(line.downloads.all())
    ends = others[0].expires_at if others else None
    if is_withdrawn(order) or is_refunded(line) or (ends is not None and ends <= now):
        return None
    if not others and is_paid(order):
        ends = expiry(file.product.download_expiry_days, now)
    return new_download(order, line, file, ends)


def _is_deleted(stored: StoredFile) -> bool:
    """Delete the row, then the file: a file without a row only takes space, but a row without a file would break a
    download. Returns False if the file is used again."""
    storage, name = stored.file.storage, str(stored.file.name)
    try:
        if not stored.delete()[0]:
            return False
    except (RestrictedError, IntegrityError):
        return False
    try:
        storage.delete(name)
        quotas.free("files", shop_id=stored.shop_id, amount=stored.size)
    except (OSError, StorageUnavailable) as error:
        log.warning("stored_file_not_deleted", name=name, reason=str(error))
    return True

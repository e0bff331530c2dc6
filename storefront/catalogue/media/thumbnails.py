"""Thumbnails of uploaded pictures. The worker makes them, one picture at a time; pages show them once they exist."""

from datetime import datetime, timedelta

import structlog
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, transaction
from django_tasks import task
from easy_thumbnails.files import Thumbnailer, ThumbnailFile, get_thumbnailer

from storefront.catalogue.models import WantedThumbnails
from storefront.kit import clock
from storefront.kit.files import pictures
from storefront.kit.lru import LruCache
from storefront.kit.replicas import reading
from storefront.kit.storage import StorageUnavailable, is_remote
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# Pixels of the longer side: in a basket's line, on a product card, on a product's page, on a category's banner.
SMALL, CARD, LARGE, BANNER = 160, 480, 1000, 1600
SIDES = [SMALL, CARD, LARGE, BANNER]
# Thumbnails that are still missing after this time are requested again.
AGAIN_AFTER = timedelta(days=1)
# Maximum bytes and pixels of a picture that pages show in full size until its thumbnails exist.
SMALL_FILE, SMALL_PICTURE = 300_000, 4_000_000

# When this process last requested a picture's thumbnails, so that not every page view queries the table.
_requested: LruCache[datetime] = LruCache(4096)
_ASKED_FOR = timedelta(minutes=1)
# URLs of existing thumbnails in a bucket, where a name is never used again.
_known: LruCache[str] = LruCache(16384)


def clear_cache() -> None:
    """Empty the cache, as in a new process."""
    _requested.clear()
    _known.clear()


def url_of(name: str, side: int) -> str | None:
    """The URL of a stored picture's thumbnail with this longer side in pixels; None until all its thumbnails are made,
    since pages name several of them."""
    known = _known.get((name, side))
    if known is None:
        thumbnailer = _thumbnailer(name)
        found = thumbnailer.get_existing_thumbnail({"size": (side, side)})
        # The smallest thumbnail is made last.
        if found and side != SMALL and not thumbnailer.get_existing_thumbnail({"size": (SMALL, SMALL)}):
            found = None
        known = found.url if found else None
        if known is not None and is_remote():
            _known.put((name, side), known)
    return known


def future_url_of(name: str, side: int) -> str:
    """The URL that this thumbnail of a stored picture has or will have."""
    thumbnailer = _thumbnailer(name)
    file = thumbnailer.get_thumbnail_name(thumbnailer.get_options({"size": (side, side)}))
    return str(thumbnailer.thumbnail_storage.url(file))


def is_small(name: str) -> bool:
    """Returns True if the picture itself is known to be small enough for pages. Does not ask a bucket."""
    if is_remote():
        return False
    try:
        with default_storage.open(name) as file:
            image = pictures.open_picture(file)
            return file.size <= SMALL_FILE and image.width * image.height <= SMALL_PICTURE
    except (OSError, pictures.Unusable):
        return False


def request_thumbnails(shop: Shop, name: str, *, now: datetime) -> None:
    """Enqueue the task that makes a picture's thumbnails, once for any number of requests. Logs database errors."""
    before = _requested.get((shop.pk, name))
    if before is not None and now - before < _ASKED_FOR:
        return
    _requested.put((shop.pk, name), now)
    wanted = WantedThumbnails.objects.filter(shop=shop, file=name)
    try:
        # Pages that a replica answers show pictures, too.
        with reading.on_primary():
            if wanted.filter(asked_at__gt=now - AGAIN_AFTER).exists():
                return
            with transaction.atomic():
                row, created = wanted.get_or_create(shop=shop, file=name, defaults={"asked_at": now})
                if created or wanted.filter(asked_at__lte=now - AGAIN_AFTER).update(asked_at=now):
                    make_thumbnails.enqueue(shop.pk, row.pk)
    except DatabaseError as error:
        log.warning("thumbnails_not_asked_for", file=name, reason=str(error).strip())


@task()
def make_thumbnails(shop_id: int, wanted_id: int) -> None:
    """Make the thumbnails of one picture and delete its row. If that fails, the row stays and has the reason."""
    row = WantedThumbnails.objects.filter(shop=shop_id, pk=wanted_id).first()
    if row is None:
        return
    try:
        make(row.file)
    except StorageUnavailable as error:
        # The next view requests it again.
        log.warning("storage_away", file=row.file, reason=str(error))
        row.delete()
    except (pictures.Unusable, OSError) as error:
        reason = _reason(error)
        log.warning("thumbnails_not_made", file=row.file, reason=reason)
        WantedThumbnails.objects.filter(shop=shop_id, pk=row.pk).update(problem=reason[:200], asked_at=clock.now())
    else:
        row.delete()


def _reason(error: Exception) -> str:
    """The reason as a phrase that follows the picture's name."""
    if isinstance(error, pictures.Unusable):
        return str(error)
    return "is not in the file storage" if isinstance(error, FileNotFoundError) else "cannot be read"


def make(name: str) -> None:
    """Make all thumbnails of a stored picture, the smallest last. Raises Unusable, and OSError if the file cannot be
    read."""
    with default_storage.open(name) as file:
        made = pictures.small_versions(file, SIDES)
    thumbnailer = _thumbnailer(name)
    for side, content in sorted(made.items(), reverse=True):
        options = thumbnailer.get_options({"size": (side, side)})
        file_name = thumbnailer.get_thumbnail_name(options)
        storage = thumbnailer.thumbnail_storage
        small = ThumbnailFile(file_name, file=ContentFile(content), storage=storage, thumbnail_options=options)
        small._committed = False
        thumbnailer.save_thumbnail(small)


def delete(name: str) -> None:
    """Delete all thumbnails of a stored picture."""
    thumbnailer = _thumbnailer(name)
    if source := thumbnailer.get_source_cache():
        for thumbnail in source.thumbnails.all():
            thumbnailer.thumbnail_storage.delete(thumbnail.name)
        source.delete()


def _thumbnailer(name: str) -> Thumbnailer:
    return get_thumbnailer(default_storage, relative_name=name)

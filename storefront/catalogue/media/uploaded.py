"""Pictures between their upload and the product that they are saved with.

A form that is refused must not lose its pictures. So each is stored when it arrives, and the form names it by a signed
text; the product's new picture takes the stored file over, in the transaction that saves the product.
"""

from datetime import datetime, timedelta

import structlog
from django.core import signing
from django.core.files.base import File
from django.db import transaction
from django.utils.translation import gettext as _

from storefront.catalogue.models import Media, UploadedPicture
from storefront.kit.files import pictures
from storefront.kit.files.uploads import cleaned_name
from storefront.kit.refusals import Refusal
from storefront.kit.storage import StorageUnavailable
from storefront.pods.moves import NOT_MOVING
from storefront.shops import quotas
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# How long an unused picture is kept.
KEPT = timedelta(days=1)
_SALT = "catalogue.uploaded-picture"


class UnusablePicture(Refusal):
    """The file is too large, or not a picture that pages can show. The message has its name."""

    code, field = "unusable_picture", "file"


def check_picture(file: File) -> tuple[int, int]:
    """The width and the height of an upload, read from its first bytes. Raises UnusablePicture."""
    if file.size > pictures.MAX_FILE_BYTES:
        most = pictures.MAX_FILE_BYTES // 1024**2
        raise UnusablePicture(
            _("%(name)s is too large. Pictures up to %(most)s MiB can be uploaded.") % {"name": file.name, "most": most}
        )
    try:
        file.seek(0)
        image = pictures.open_picture(file)
        return image.width, image.height
    except pictures.Unusable as problem:
        raise UnusablePicture(f"{file.name} {problem}.") from None
    finally:
        file.seek(0)


def store_picture(*, shop: Shop, file: File, now: datetime) -> UploadedPicture:
    """Store an upload. Call it outside a transaction, since the storage may be a bucket.

    Raises UnusablePicture, QuotaReached and `kit.storage.StorageUnavailable`.
    """
    width, height = check_picture(file)
    name = cleaned_name(file.name or "")
    uploaded = UploadedPicture(shop=shop, name=name, width=width, height=height, created_at=now)
    with quotas.held("files", shop_id=shop.pk, now=now, amount=file.size):
        uploaded.file.save(name, file, save=True)
    return uploaded


def token_of(uploaded: UploadedPicture) -> str:
    """The token by which a form names the upload. It is signed, so that a form can only name uploads of its own
    shop."""
    return signing.dumps([uploaded.shop_id, uploaded.pk], salt=_SALT)


def find_uploaded(shop: Shop, token: str) -> UploadedPicture | None:
    """The upload that `token_of` named; None for another shop's, one that is gone, and any other text."""
    try:
        shop_id, id = signing.loads(token, salt=_SALT, max_age=KEPT)
    except signing.BadSignature:
        return None
    return UploadedPicture.objects.filter(shop=shop, pk=id).first() if shop_id == shop.pk else None


def take_over(uploaded: UploadedPicture, row: Media) -> bool:
    """Make the upload's file the picture's, for the caller to save. False if it was taken or deleted meanwhile.

    Call it in the transaction that saves the picture.
    """
    if not UploadedPicture.objects.filter(pk=uploaded.pk, shop=uploaded.shop_id).delete()[0]:
        return False
    # Assigning the attribute would read the picture's size from a storage that may be remote.
    vars(row)["file"] = str(uploaded.file.name)
    row.width, row.height, row.source_url = uploaded.width, uploaded.height, ""
    return True


def delete_old_pictures(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` uploads that no product has taken for KEPT, and their files. Returns how many."""
    old = UploadedPicture.objects.filter(NOT_MOVING, created_at__lt=now - KEPT).order_by("created_at")[:limit]
    return sum(_is_deleted(uploaded) for uploaded in old)


def _is_deleted(uploaded: UploadedPicture) -> bool:
    """Delete the row, then the file, so that no form can take over the picture. Returns False if the row was already
    deleted."""
    with transaction.atomic():
        is_ours = bool(UploadedPicture.objects.filter(pk=uploaded.pk).delete()[0])
    if is_ours:
        try:
            size = uploaded.file.size
            uploaded.file.storage.delete(str(uploaded.file.name))
            quotas.free("files", shop_id=uploaded.shop_id, amount=size)
        except (OSError, StorageUnavailable) as error:
            log.warning("uploaded_picture_not_deleted", name=uploaded.file.name, reason=str(error))
    return is_ours

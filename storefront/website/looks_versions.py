"""Versions of a shop's looks: what was saved, by whom, and the way back to it.

Each save adds a version, also going back to one and choosing a theme, so nothing that was saved is lost until
MAX_VERSIONS later ones exist. Two who save at once: the row of the looks is locked, and the second is refused
(`LooksForm.clean`).
"""

from datetime import datetime
from functools import partial
from typing import Any

import structlog
from django.db import transaction

from storefront.catalogue.media import thumbnails
from storefront.catalogue.media.uploaded import find_uploaded
from storefront.catalogue.models import UploadedPicture
from storefront.content import sections
from storefront.content.models import Looks, LooksPicture, LooksVersion
from storefront.kit.storage import StorageUnavailable
from storefront.shops import changes, quotas
from storefront.shops.models import Shop, User

log = structlog.get_logger(__name__)

MAX_VERSIONS = 20
# The columns of a version. Links in menus are rows of their own, and stay as they are.
DESIGN = ("logo", "accent", "background", "fonts", "corners", "pictures", "home")
STATE = (*DESIGN, "footer_text", "address", "phone", "hours", "translations")


def state_of(looks: Looks) -> dict[str, Any]:
    found = {name: getattr(looks, name) for name in STATE}
    return found | {"logo": looks.logo.name or "", "home": looks.sections}


def with_state(looks: Looks, state: dict[str, Any]) -> Looks:
    """The looks with these columns, which are not saved."""
    for name in STATE:
        if name in state:
            setattr(looks, name, state[name])
    return looks


def latest(shop: Shop) -> LooksVersion | None:
    return LooksVersion.objects.filter(shop=shop).select_related("saved_by").first()


def locked(shop: Shop) -> Looks | None:
    """The looks of the shop, for a transaction that changes them."""
    return Looks.objects.select_for_update(no_key=True).filter(shop=shop).first()


def keep_first(looks: Looks) -> None:
    """Make what was saved before there were versions a version, so that there is a way back to it."""
    if not LooksVersion.objects.filter(shop=looks.shop_id).exists():
        LooksVersion.objects.create(shop_id=looks.shop_id, saved_at=looks.updated_at, state=state_of(looks))
        _keep_logo(looks, looks.updated_at)


def add_version(looks: Looks, user: User | None, now: datetime) -> LooksVersion:
    """Add what was just saved as the newest version, and drop what is too old, with pictures that nothing shows now."""
    _keep_logo(looks, now)
    version = LooksVersion.objects.create(shop_id=looks.shop_id, saved_by=user, saved_at=now, state=state_of(looks))
    rows = LooksVersion.objects.filter(shop=looks.shop_id)
    kept = list(rows[:MAX_VERSIONS])
    rows.filter(pk__lt=kept[-1].pk).delete()
    _drop_unused(looks, kept)
    return version


def save_state(shop: Shop, state: dict[str, Any], user: User | None, now: datetime) -> tuple[Looks, Looks]:
    """Save this state as the looks of the shop and as a version. Returns the looks before and after. Call it in a
    transaction."""
    Looks.objects.get_or_create(shop=shop, defaults={"updated_at": now})
    before = locked(shop)
    assert before is not None
    keep_first(before)
    after = with_state(Looks.objects.get(pk=before.pk), state)
    after.updated_at = now
    after.save(update_fields=[*STATE, "updated_at"])
    add_version(after, user, now)
    changes.publish_change(shop.pk)
    return before, after


def take_picture(shop: Shop, token: str, now: datetime) -> LooksPicture | None:
    """Make an upload a picture of the looks. None if it is another shop's, or no longer stored. Call it in the
    transaction that saves the looks."""
    uploaded = find_uploaded(shop, token)
    if uploaded is None or not UploadedPicture.objects.filter(pk=uploaded.pk, shop=shop).delete()[0]:
        return None
    return LooksPicture.objects.create(shop=shop, file=uploaded.file.name, created_at=now)


def picture_names(shop: Shop, ids: set[int]) -> dict[int, str]:
    """The file names of pictures of this shop."""
    if not ids:
        return {}
    return dict(LooksPicture.objects.filter(shop=shop, pk__in=ids).values_list("pk", "file"))


def _keep_logo(looks: Looks, now: datetime) -> None:
    """A logo is a picture, too, so that its file is known while a version shows it."""
    if looks.logo:
        LooksPicture.objects.get_or_create(shop_id=looks.shop_id, file=looks.logo.name, defaults={"created_at": now})


def _drop_unused(looks: Looks, kept: list[LooksVersion]) -> None:
    states = [version.state for version in kept]
    ids = {id for state in states for id in sections.picture_ids(state["home"])}
    logos = {looks.logo.name, *(state["logo"] for state in states)}
    unused = LooksPicture.objects.filter(shop=looks.shop_id).exclude(pk__in=ids).exclude(file__in=logos)
    for picture in list(unused):
        picture.delete()
        transaction.on_commit(partial(_delete_file, looks.shop_id, picture))


def _delete_file(shop_id: int, picture: LooksPicture) -> None:
    name = str(picture.file.name)
    try:
        size = picture.file.size
        thumbnails.delete(name)
        picture.file.storage.delete(name)
        quotas.free("files", shop_id=shop_id, amount=size)
    except (OSError, StorageUnavailable) as error:
        log.warning("looks_picture_not_deleted", name=name, reason=str(error))

"""Tokens that stand for an app's installation. They are rows of ApiToken, so that all that holds for a shop's own token
holds for them; the installation itself lives in the room of apps."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from storefront.kit import tokens
from storefront.shops import changes
from storefront.shops.auth import Unauthenticated
from storefront.shops.models import ApiToken, Shop

# How long a replaced token is still good, so that an app can take the new one into use without a gap.
GRACE = timedelta(hours=24)


def issue_app_token(
    *, shop: Shop, installation_id: int, name: str, scopes: list[str], requests_per_minute: int, now: datetime
) -> str:
    """A new token of the installation, `app_...`: the secret itself, which is not kept."""
    secret = tokens.new_token("app")
    ApiToken.objects.create(
        shop=shop,
        name=name,
        digest=tokens.digest(secret),
        ending=secret[-4:],
        scopes=scopes,
        requests_per_minute=requests_per_minute,
        installation_id=installation_id,
        created_at=now,
    )
    return secret


def hold_installation(*, shop: Shop, installation_id: int) -> None:
    """Until the caller's transaction ends, the installation cannot be uninstalled, nor its tokens be changed.

    Whoever writes something down for an app calls this first, so that nothing is left behind by a call that meets the
    uninstall. Raises Unauthenticated where the installation has gone already.
    """
    # A statement of its own, since those after it must see what whoever held it before has done.
    standing = ApiToken.objects.select_for_update().filter(shop=shop, installation_id=installation_id, revoked_at=None)
    if standing.order_by("pk").values_list("pk").first() is None:
        raise Unauthenticated


@transaction.atomic
def end_app_tokens(*, shop: Shop, installation_id: int, now: datetime, at: datetime | None = None) -> None:
    """No token that the installation has now is good from `at` on; without it, from the next request on."""
    standing = ApiToken.objects.filter(shop=shop, installation_id=installation_id, revoked_at=None)
    if at is None:
        standing.update(revoked_at=now)
    else:
        standing.filter(Q(expires_at=None) | Q(expires_at__gt=at)).update(expires_at=at)
    changes.changed(shop.pk)


@transaction.atomic
def end_replaced_tokens(*, shop: Shop, installation_id: int, now: datetime) -> None:
    """End the grace of those that were replaced."""
    replaced = ApiToken.objects.filter(shop=shop, installation_id=installation_id, revoked_at=None)
    replaced.exclude(expires_at=None).update(revoked_at=now)
    changes.changed(shop.pk)


@transaction.atomic
def change_app_tokens(*, shop: Shop, installation_id: int, **given: Any) -> None:
    """What the installation's tokens may do (`scopes`) or how often (`requests_per_minute`), from now on."""
    ApiToken.objects.filter(shop=shop, installation_id=installation_id).update(**given)
    changes.changed(shop.pk)

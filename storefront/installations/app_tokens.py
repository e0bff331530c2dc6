"""Tokens of an app's installation: rows of ApiToken, so that the rules for a shop's own tokens apply to them."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from storefront.kit import tokens
from storefront.shops import changes
from storefront.shops.auth import TokenUnknown
from storefront.shops.models import ApiToken, Shop

# How long a replaced token stays valid, so that an app can switch to the new one without a gap.
TOKEN_GRACE = timedelta(hours=24)


def issue_app_token(
    *, shop: Shop, installation_id: int, name: str, scopes: list[str], requests_per_minute: int, now: datetime
) -> str:
    """Create a token of this installation in this shop (R-APP-5). Returns the secret, `app_...`, of which only the
    digest is stored."""
    secret = tokens.new_token("app", shop_id=shop.pk)
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


def lock_installation(*, shop: Shop, installation_id: int) -> None:
    """Lock the installation's tokens until the caller's transaction ends, so that it cannot be uninstalled meanwhile.

    Call it before writing rows for an app: a call that runs at the same time as the uninstall then leaves no rows
    behind. Raises TokenUnknown if the app has been uninstalled already.
    """
    # A statement of its own: later statements then see what the previous holder of the lock committed.
    unrevoked = ApiToken.objects.select_for_update().filter(shop=shop, installation_id=installation_id, revoked_at=None)
    if unrevoked.order_by("pk").values_list("pk").first() is None:
        raise TokenUnknown


@transaction.atomic
def end_app_tokens(*, shop: Shop, installation_id: int, now: datetime, at: datetime | None = None) -> None:
    """Make the installation's current tokens expire at `at`; without `at`, revoke them now."""
    unrevoked = ApiToken.objects.filter(shop=shop, installation_id=installation_id, revoked_at=None)
    if at is None:
        unrevoked.update(revoked_at=now)
    else:
        unrevoked.filter(Q(expires_at=None) | Q(expires_at__gt=at)).update(expires_at=at)
    changes.publish_change(shop.pk)


@transaction.atomic
def end_replaced_tokens(*, shop: Shop, installation_id: int, now: datetime) -> None:
    """Revoke replaced tokens before their grace period is over."""
    replaced = ApiToken.objects.filter(shop=shop, installation_id=installation_id, revoked_at=None)
    replaced.exclude(expires_at=None).update(revoked_at=now)
    changes.publish_change(shop.pk)


@transaction.atomic
def change_app_tokens(*, shop: Shop, installation_id: int, **given: Any) -> None:
    """Set the `scopes` or `requests_per_minute` of all tokens of the installation."""
    ApiToken.objects.filter(shop=shop, installation_id=installation_id).update(**given)
    changes.publish_change(shop.pk)

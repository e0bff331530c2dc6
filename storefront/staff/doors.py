"""A shop whose doors are closed shows a password page in place of its own pages, until its owner opens them.

Only the password's hash is stored, in `Shop.door_password`; empty, the shop is open. The session of a visitor who was
let in stores a mark of that hash, so a new password closes the doors for everybody again. The API, signed links and
pages that were mailed to a buyer stay open.
"""

import secrets
from datetime import datetime

from django.contrib.auth.hashers import check_password, make_password
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from storefront import audit
from storefront.kit import tokens
from storefront.kit.callers import client_network
from storefront.shops import throttle
from storefront.shops.models import Shop
from storefront.shops.request import Request

# Characters that are not mistaken for each other; 16 of them have more than 70 bits.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_LET_IN = "let_in"


def is_closed(shop: Shop) -> bool:
    return bool(shop.door_password)


@sensitive_variables()
@transaction.atomic
def close_doors(*, shop: Shop, now: datetime) -> str:
    """Close the shop, or give it another password. Returns the password, which is not stored."""
    password = "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(4))
    _save(shop, make_password(password), now)
    audit.record(shop=shop, action="shop.closed", object=shop, now=now)
    return password


@transaction.atomic
def open_doors(*, shop: Shop, now: datetime) -> bool:
    """Open the shop to everybody. Returns False if it was open."""
    was_closed = Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).exclude(door_password="").exists()
    if was_closed:
        _save(shop, "", now)
        audit.record(shop=shop, action="shop.opened", object=shop, now=now)
    return was_closed


def is_let_in(request: Request) -> bool:
    """Returns True if the visitor may see the shop's pages: its doors are open, or the session was let in. Nobody may
    see those of a shop that the operator closed (`closing.py`)."""
    shop = request.shop
    if not shop.is_active:
        return False
    return not is_closed(shop) or request.session.get(_LET_IN, {}).get(str(shop.pk)) == _mark(shop)


def let_in(request: Request) -> None:
    """Remember in the session that the visitor was let in. Does nothing for an open shop."""
    if not is_let_in(request):
        request.session[_LET_IN] = {**request.session.get(_LET_IN, {}), str(request.shop.pk): _mark(request.shop)}


@sensitive_variables()
def try_password(request: Request, password: str) -> bool:
    """Let the visitor in if this is the password. Raises TooManyTries without checking it."""
    shop, place = request.shop, client_network(request)
    tried = throttle.begin_try("door", account=f"door {shop.pk}", place=place, browser=None, now=request.now)
    if not check_password(password.strip().lower(), shop.door_password):
        return False
    tried.succeed()
    let_in(request)
    return True


def _mark(shop: Shop) -> str:
    return tokens.digest(shop.door_password)[:32]


def _save(shop: Shop, hashed: str, now: datetime) -> None:
    shop.door_password, shop.updated_at = hashed, now
    shop.save(update_fields=["door_password", "updated_at"])

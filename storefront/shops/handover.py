"""Codes that take a visitor from one of the shop's places to another (`shops/places.py`).

Threats. A code is part of a URL, so it is valid once, for a minute, for one purpose in one shop, and only its digest is
stored. An attacker must not get a visitor into the attacker's basket or account: the browser that asks for a code sends
a state, which only its session at the destination knows, and the code is valid only with it. The exception is the code
of a checkout link. It gives no more than the link does, which anybody who has it may follow.
"""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.views.decorators.debug import sensitive_variables

from storefront.kit import tokens
from storefront.pods.moves import NOT_MOVING
from storefront.shops.models import HandoverCode, Shop

LIFETIME = timedelta(seconds=60)
PREFIX = "code"

Purpose = HandoverCode.Purpose


def state_digest(state: str) -> str:
    """The digest of a state, as stored by the session that waits for it and with the code that answers it."""
    return hashlib.sha256(state.encode()).hexdigest()


@sensitive_variables()
def issue_code(*, shop: Shop, purpose: Purpose, payload: dict[str, Any], now: datetime, state: str = "") -> str:
    """Create a code, which `redeem_code` exchanges for the payload, once, within `LIFETIME`. `state` is the state that
    the receiving session waits for; a code without one is valid for anybody who has it."""
    code = tokens.new_token(PREFIX)
    HandoverCode.objects.create(
        shop=shop,
        digest=tokens.digest(code),
        purpose=purpose,
        payload=payload,
        state_digest=state_digest(state) if state else "",
        expires_at=now + LIFETIME,
    )
    return code


@sensitive_variables()
def redeem_code(
    *, shop: Shop, purpose: Purpose, code: str | None, now: datetime, states: Iterable[str] = ("",)
) -> HandoverCode | None:
    """Use up a code; returns its row, which has the payload and the state's digest. `states` are digests of the states
    that the session waits for. None if the code is unknown, used, expired, of another shop or purpose, or was issued
    for none of these states.

    If two requests redeem a code at once, only one of them deletes the row and gets it.
    """
    if not tokens.is_well_formed(code, PREFIX):
        return None
    valid = HandoverCode.objects.filter(
        shop=shop, digest=tokens.digest(code), purpose=purpose, state_digest__in=list(states), expires_at__gt=now
    )
    found = valid.first()
    return found if found and valid.filter(pk=found.pk).delete()[0] else None


def delete_expired_codes(*, now: datetime, limit: int) -> int:
    """Delete at most `limit` expired codes; returns the number. Two workers can run it at once."""
    expired = (
        HandoverCode.objects.filter(NOT_MOVING, expires_at__lte=now).order_by("expires_at").values_list("pk", flat=True)
    )
    return HandoverCode.objects.filter(pk__in=list(expired[:limit])).delete()[0]

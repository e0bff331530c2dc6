"""Checks customers' VAT IDs with VIES, the EU's register.

Tax is waived only for an ID that VIES has found valid a short time ago. Whatever else happens (no answer, an answer
that makes no sense, an old answer) leaves the order taxed.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
import structlog
from django.conf import settings
from django.utils.dateparse import parse_datetime

from storefront.checkout.models import Checkout
from storefront.customers import limits
from storefront.kit.clock import timestamp
from storefront.kit.outbound import Answer, Unreachable, open_session, post
from storefront.pricing.eu_vat import MEMBER_STATES, vat_id_country
from storefront.shops.models import Shop
from storefront.shops.request import Request

VALID, INVALID, UNAVAILABLE = "valid", "invalid", "unavailable"
# How long an answer is valid: longer than a checkout usually takes.
COUNTS_FOR = timedelta(hours=24)
CONNECT_SECONDS = 3.0
MAX_TEXT_LENGTH = 300
# VIES's placeholder for a name that the member state does not disclose.
_UNTOLD = "---"

log = structlog.get_logger()


def is_asked(shop: Shop) -> bool:
    """Returns True if the checkout asks for a VAT ID: only a shop in the EU needs it."""
    return shop.asks_vat_id and shop.country in MEMBER_STATES


def proven_country(shop: Shop, vat_id: str, check: Mapping[str, Any] | None, now: datetime) -> str:
    """The country of a VAT ID that counts as valid at this time; else empty."""
    if not (vat_id and is_asked(shop) and counts(check, now)):
        return ""
    return vat_id_country(vat_id)


def counts(check: Mapping[str, Any] | None, now: datetime) -> bool:
    """Returns True if this check found the ID valid less than COUNTS_FOR ago."""
    made = parse_datetime(check["checked_at"]) if check and check["result"] == VALID else None
    return made is not None and timedelta(0) <= now - made <= COUNTS_FOR


def check_vat_id(shop: Shop, vat_id: str, now: datetime) -> dict[str, Any]:
    """Ask VIES about a normalised ID. Returns the record that an order stores (`orders.schemas.VatCheck`); waits at
    most VIES_SECONDS."""
    try:
        answer = asyncio.run(_ask(shop, vat_id))
        found = _read(answer, vat_id)
    except (Unreachable, ValueError) as error:
        log.warning("vat_id_not_checked", shop=shop.pk, reason=str(error))
        found = {"result": UNAVAILABLE, "consultation_number": None, "name": None}
    return found | {"checked_at": timestamp(now)}


async def _ask(shop: Shop, vat_id: str) -> Answer:
    body = {"countryCode": vat_id[:2], "vatNumber": vat_id[2:]}
    if shop.vat_id:
        body |= {"requesterMemberStateCode": shop.vat_id[:2], "requesterNumber": shop.vat_id[2:]}
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    url = f"{settings.VIES_API}/check-vat-number"
    async with open_session() as session:
        return await post(
            session,
            url,
            body=orjson.dumps(body),
            headers=headers,
            connect=CONNECT_SECONDS,
            total=settings.VIES_SECONDS,
        )


def _read(answer: Answer, vat_id: str) -> dict[str, Any]:
    """Read the answer. Raises ValueError unless it clearly is about this ID."""
    if answer.status != 200 or answer.is_cut:
        raise ValueError(f"VIES answered with status {answer.status}.")
    members = orjson.loads(answer.body)
    if not isinstance(members, dict) or members.get("actionSucceed") is False or type(members.get("valid")) is not bool:
        raise ValueError("VIES had no result.")
    if (members.get("countryCode"), members.get("vatNumber")) != (vat_id[:2], vat_id[2:]):
        raise ValueError("VIES answered about another VAT ID.")
    return {
        "result": VALID if members["valid"] else INVALID,
        "consultation_number": _text(members.get("requestIdentifier")),
        "name": _text(members.get("name")),
    }


def _text(value: Any) -> str | None:
    if not isinstance(value, str) or value.strip() in ("", _UNTOLD):
        return None
    return " ".join(value.split())[:MAX_TEXT_LENGTH]


def checker_of(request: Request, checkout: Checkout | None) -> Callable[[str], dict[str, Any] | None]:
    """Return a function that checks a normalised VAT ID for this visitor. The function returns None for an ID of the
    shop's own country, which is taxed in any case."""

    def check(vat_id: str) -> dict[str, Any] | None:
        shop, now = request.shop, request.now
        if vat_id_country(vat_id) == shop.country:
            return None
        if checkout and checkout.vat_id == vat_id and counts(checkout.vat_check, now):
            return checkout.vat_check
        try:
            limits.count(request, "vat_checks")
        except limits.LimitReached:
            return {
                "result": UNAVAILABLE,
                "checked_at": timestamp(now),
                "consultation_number": None,
                "name": None,
            }
        return check_vat_id(shop, vat_id, now)

    return check

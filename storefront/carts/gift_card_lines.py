"""Checks what the buyer of a gift card enters: recipient, message and date. No database access."""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from storefront.catalogue.models import Product
from storefront.gift_cards.issuing import MAX_DAYS_AHEAD, MAX_MESSAGE
from storefront.kit.refusals import InvalidFields, problem

# The stored entry of a card that is sent to the buyer, without a message, at once.
PLAIN = {"recipient_email": "", "message": "", "send_on": ""}
# What a buyer can enter. A line stores the giver only if there is one.
ENTERED = (*PLAIN, "giver")
MAX_GIVER = 100
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def checked(product: Product, given: Mapping[str, Any] | None, today: date) -> dict[str, str] | None:
    """Check the entry. Returns what the line stores; None if the product is no gift card. `today` is the date in the
    shop's time zone.

    Raises InvalidFields, which names fields such as `gift_card.send_on` (R-CART-49).
    """
    if not product.is_gift_card:
        if given:
            raise InvalidFields(errors={"gift_card": [_("This product is not a gift card.")]})
        return None
    texts = {name: str((given or {}).get(name) or "") for name in ENTERED}
    texts = {name: text.replace("\r\n", "\n").strip() for name, text in texts.items()}
    wrong = {
        "recipient_email": _wrong_email(texts["recipient_email"]),
        "message": _wrong_message(texts["message"]),
        "send_on": _wrong_date(texts["send_on"], today),
        "giver": _wrong_giver(texts["giver"]),
    }
    problems = [problem(f"gift_card.{name}", "invalid", text) for name, text in wrong.items() if text]
    if problems:
        raise InvalidFields(problems=problems)
    return {name: text for name, text in texts.items() if text or name in PLAIN}


def _wrong_email(email: str) -> str:
    try:
        if email:
            validate_email(email)
    except ValidationError:
        return _("Enter an email address such as ada@example.com.")
    return _("Enter an email address of at most 254 characters.") if len(email) > 254 else ""


def _wrong_message(text: str) -> str:
    if len(text) > MAX_MESSAGE:
        return _("The message can have at most %(most)s characters.") % {"most": MAX_MESSAGE}
    return _("The message must not contain control characters.") if _CONTROL.search(text) else ""


def _wrong_giver(text: str) -> str:
    if len(text) > MAX_GIVER:
        return _("The name can have at most %(most)s characters.") % {"most": MAX_GIVER}
    is_odd = "\n" in text or _CONTROL.search(text)
    return _("The name must not contain line breaks or control characters.") if is_odd else ""


def _wrong_date(text: str, today: date) -> str:
    if not text:
        return ""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return _("Enter a date such as 2026-12-24.")
    if day < today:
        return _("Choose today or a later day.")
    return _("Choose a day within a year.") if day > today + timedelta(days=MAX_DAYS_AHEAD) else ""

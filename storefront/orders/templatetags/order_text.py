"""Filters that format an order's money, times and addresses in mails and on the checkout's pages."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.utils.translation import gettext as _

from storefront.gift_cards.models import GiftCard
from storefront.kit.countries import country_name
from storefront.kit.format import format_bytes, format_day, format_money, format_percent, format_time, quoted
from storefront.kit.names import has_address
from storefront.kit.translations import translated_text
from storefront.orders import sending
from storefront.orders.download_links import availability, download_token
from storefront.orders.gift_cards import sold_cards
from storefront.orders.models import Order
from storefront.pricing import taxes
from storefront.pricing.taxes import TaxLine
from storefront.shops.mail_html import TOTAL_RULE
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language

register = template.Library()
register.filter("quoted", quoted)


@register.filter
def money(amount: Decimal | str, currency: str) -> str:
    return format_money(Decimal(amount), currency)


@register.simple_tag
def total_rule() -> str:
    """The line of a mail between its sums and the total."""
    return TOTAL_RULE


@register.filter
def taken_off(amount: Decimal | str, currency: str) -> str:
    """The amount that a discount takes off. A discount without an amount makes delivery free."""
    return f"−{money(amount, currency)}" if Decimal(amount) else _("Free delivery")


@register.filter
def shop_time(moment: datetime, shop: Shop) -> str:
    return format_time(moment, shop.timezone)


@register.filter
def shop_day(moment: datetime, shop: Shop) -> str:
    return format_day(moment, shop.timezone)


@register.filter
def waits(line: Any, now: datetime) -> bool:
    """Returns True if a line is a pre-order whose date is still to come."""
    return not sending.is_due(line, now)


@register.simple_tag
def preorder_notice(lines: Iterable[Any], shop: Shop, now: datetime) -> str:
    """The sentence to the shopper about pre-orders among a cart's lines; empty without any."""
    return sending.explain(list(lines), shop, now)


@register.filter
def address_lines(address: dict[str, str] | None, is_whole: bool = True) -> list[str]:
    """The lines of an address, as on a parcel.

    With `is_whole` false: only postal code, town and country, without texts that could be abused as a message to the
    reader.
    """
    if not address:
        return []
    country = country_name(address.get("country", ""))
    if not is_whole:
        return [line for line in (" ".join(filter(None, [_postal_code(address), _town(address)])), country) if line]
    town = " ".join(part for part in (address.get("postal_code"), address.get("city")) if part)
    lines = [address.get(name, "") for name in ("name", "company", "line1", "line2")]
    return [line for line in (*lines, town, address.get("region", ""), country) if line]


def _postal_code(address: dict[str, str]) -> str:
    code = address.get("postal_code", "")
    return code if re.fullmatch(r"[A-Za-z0-9 -]{1,10}", code) else ""


def _town(address: dict[str, str]) -> str:
    town = address.get("city", "")
    words = [word for word in town.split() if len(word) > 2]
    is_plain = all(each.isalpha() or unicodedata.combining(each) or each in " '’.-/()" for each in town)
    return town if is_plain and len(town) <= 40 and len(words) <= 4 and not has_address(town) else ""


@register.simple_tag
def downloads_of(order: Order, now: datetime) -> list[dict[str, Any]]:
    """The files that were sold, for the order's page. Prefetch `lines__downloads__file`."""
    found = []
    for line in order.lines.all():
        for download in line.downloads.all():
            download.order = order
            found.append(
                {
                    "row": download,
                    "token": download_token(download),
                    "size": format_bytes(download.file.size),
                    "state": availability(download, now).value,
                }
            )
    return found


@register.simple_tag
def gift_cards_of(order: Order) -> list[GiftCard]:
    return sold_cards(order)


@register.filter
def tax_label(line: TaxLine | dict[str, str], is_included: bool = False) -> str:
    """The name and rate of a tax line of a quote or an order."""
    kept = line.record if isinstance(line, TaxLine) else line
    treatment = kept.get("treatment", taxes.TAXED)
    label = taxes.tax_label(kept["name"], kept["percent"], treatment)
    # Translators: A tax that is in the total already, such as "Includes VAT 19%". Germany: "Enthält MwSt. 19 %".
    return _("Includes %(tax)s") % {"tax": label} if is_included and treatment == taxes.TAXED else label


@register.filter
def percent(rate: Decimal | str) -> str:
    """`19.000` as `19%`."""
    return format_percent(Decimal(rate))


@register.filter
def card_number(digits: str) -> str:
    """Format the number in groups of four digits, as on the card."""
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))


@register.filter
def payment_words(shop: Shop, language: str) -> str:
    """The shop's payment instructions in this language, or else in its main one."""
    text, language = shop.manual_payment_instructions, further_language(shop, language)
    return translated_text(text, "manual_payment_instructions", shop.translations, language)

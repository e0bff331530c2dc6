"""How an order's money, times and addresses read, in its confirmation mail and on the checkout's pages."""

from datetime import datetime
from decimal import Decimal

from django import template

from storefront.kit.countries import country_name
from storefront.kit.format import format_money, format_time
from storefront.shops.models import Shop

register = template.Library()


@register.filter
def money(amount: Decimal | str, currency: str) -> str:
    return format_money(Decimal(amount), currency)


@register.filter
def shop_time(moment: datetime, shop: Shop) -> str:
    return format_time(moment, shop.timezone)


@register.filter
def address_lines(address: dict[str, str] | None) -> list[str]:
    """An address as it stands on a parcel, a line each."""
    if not address:
        return []
    town = " ".join(part for part in (address.get("postal_code"), address.get("city")) if part)
    parts = [address.get(name, "") for name in ("name", "company", "line1", "line2")]
    return [
        part for part in (*parts, town, address.get("region", ""), country_name(address.get("country", ""))) if part
    ]


@register.filter
def percent(rate: Decimal | str) -> str:
    """`19.000` as `19%`."""
    return f"{Decimal(rate).normalize():f}%"


@register.filter
def card_number(digits: str) -> str:
    """In groups of four, as it stands on the card."""
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))

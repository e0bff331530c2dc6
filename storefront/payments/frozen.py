"""A sale as JSON and back, without loss: what a draft keeps of it."""

from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from storefront.catalogue.stock import StockUse
from storefront.kit.clock import timestamp
from storefront.orders.rules import Sale, SaleLine

_MONEY = ("subtotal", "discount", "shipping", "tax", "total")
_LINE_MONEY = ("unit_price", "line_total", "tax", "discount")


def freeze_sale(sale: Sale) -> dict[str, Any]:
    frozen = asdict(sale) | {name: str(getattr(sale, name)) for name in _MONEY}
    frozen["checkout_link"] = str(sale.checkout_link) if sale.checkout_link else None
    frozen["redemption"] = str(sale.redemption) if sale.redemption else None
    frozen["lines"] = [asdict(line) | _line_values(line) for line in sale.lines]
    return frozen


def thaw_sale(frozen: dict[str, Any]) -> Sale:
    """The sale that `freeze_sale` wrote."""
    given = frozen | {name: Decimal(frozen[name]) for name in _MONEY}
    given["checkout_link"] = UUID(frozen["checkout_link"]) if frozen["checkout_link"] else None
    given["redemption"] = UUID(frozen["redemption"]) if frozen["redemption"] else None
    given["lines"] = [_line(line) for line in frozen["lines"]]
    return Sale(**given)


def freeze_stock(uses: list[StockUse]) -> list[dict[str, Any]]:
    return [{"stock": use.kind, "id": use.id, "qty": use.qty} for use in uses]


def thaw_stock(frozen: list[dict[str, Any]]) -> list[StockUse]:
    return [StockUse(each["stock"], each["id"], each["qty"]) for each in frozen]


def _line_values(line: SaleLine) -> dict[str, Any]:
    more = {"uses": freeze_stock(list(line.uses)), "available_from": timestamp(line.available_from)}
    return {name: str(getattr(line, name)) for name in _LINE_MONEY} | more


def _line(frozen: dict[str, Any]) -> SaleLine:
    money, day = {name: Decimal(frozen[name]) for name in _LINE_MONEY}, frozen["available_from"]
    more = {"uses": tuple(thaw_stock(frozen["uses"])), "available_from": datetime.fromisoformat(day) if day else None}
    return SaleLine(**frozen | money | more)

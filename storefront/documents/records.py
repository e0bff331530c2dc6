"""Builds the records of documents as JSON, frozen when an invoice or credit note is issued. Money is decimal strings,
days are in the shop's time zone. Drawing a document reads nothing but its record.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import wraps
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.content.brand import paper_brand
from storefront.documents.credited_taxes import credited_taxes, taxes_of_pieces
from storefront.documents.models import Document, InvoiceSettings
from storefront.documents.numbering import Number
from storefront.kit.format import format_percent
from storefront.kit.money import ZERO, quantize, to_wire
from storefront.kit.translations import spoken
from storefront.orders.models import Fulfilment, Order, OrderLine
from storefront.orders.templatetags.order_text import address_lines
from storefront.payments.models import Payment, Refund, RefundLine
from storefront.payments.providers.registry import PROVIDERS
from storefront.pricing.taxes import EXPORT, REVERSE_CHARGE, TAXED
from storefront.shops.languages import language_of_texts
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language, speaking, spoken_language

Record = dict[str, Any]

# The only line of a credit note that does not repeat lines of its invoice, by the reason for it.
PARTS = {
    "refund": gettext_lazy("Refund: part of invoice %(number)s"),
    "cancellation": gettext_lazy("Cancellation: part of invoice %(number)s"),
    "correction": gettext_lazy("Correction: part of invoice %(number)s"),
}
# Notes on documents with goods or services that are free of tax.
NOTES = {
    # Translators: The note that an invoice must have whose recipient owes the VAT, in the words of the law. Germany:
    # "Steuerschuldnerschaft des Leistungsempfängers". France: "Autoliquidation". Spain: "Inversión del sujeto pasivo".
    # Italy: "Inversione contabile". Netherlands: "Btw verlegd". Poland: "Odwrotne obciążenie".
    REVERSE_CHARGE: gettext_lazy(
        "Reverse charge: the recipient is liable for the VAT (Articles 138, 194 and 196 of Directive 2006/112/EC)."
    ),
    # Translators: The note on an invoice for goods that leave the European Union. Germany: "Steuerfreie
    # Ausfuhrlieferung (§ 4 Nr. 1a UStG)".
    EXPORT: gettext_lazy("Export outside the EU: no VAT is charged (Article 146 of Directive 2006/112/EC)."),
}
# Countries that use Letter paper; all others use A4.
LETTER = frozenset({"US", "CA", "MX", "PH", "CO", "CL", "VE"})


def in_language_of_order(build: Callable[..., Record]) -> Callable[..., Record]:
    """Builds a record in the language of its `order`."""

    @wraps(build)
    def built(*, order: Order, **given: Any) -> Record:
        with speaking(order.shop, order.language) as language:
            if given.get("seller"):
                spoken([given["seller"]], further_language(order.shop, language), "registration", "bank", "footer")
            return build(order=order, **given)

    return built


@in_language_of_order
def invoice_record(
    *, order: Order, number: Number, seller: InvoiceSettings, buyer: Sequence[str], replaces: str = "", now: datetime
) -> Record:
    """The invoice of a paid order. `buyer` is the billing address's lines; `replaces` is the number of the invoice that
    this one corrects."""
    return {
        **_frame(order, "invoice", seller, now),
        "number": str(number),
        "replaces": replaces,
        "buyer": list(buyer),
        "ship_to": address_lines(order.shipping_address),
        "lines": [_line(line) for line in order.lines.all()],
        "subtotal": to_wire(order.subtotal),
        "discounts": [_discount(each) for each in order.discount_lines],
        "delivery": {"name": order.shipping_method, "amount": to_wire(order.shipping)}
        if order.shipping_method
        else None,
        "taxes": [_tax(line, line["amount"], line.get("base")) for line in _tax_lines(order)],
        "buyer_vat_id": order.vat_id,
        "notes": _notes(order),
        "total": to_wire(order.total),
        "net": to_wire(order.total - order.tax),
        "payments": _payments(order),
        "footer": seller.footer,
    }


@in_language_of_order
def credit_note_record(
    *,
    order: Order,
    number: Number,
    seller: InvoiceSettings,
    invoice: Document,
    earlier: Iterable[Document],
    amount: Decimal,
    reason: str,
    refund: Refund | None = None,
    now: datetime,
) -> Record:
    """The credit note over this amount of an invoice, of which `earlier` ones have credited a part. One over all of it
    repeats its lines; one for a refund by line names what was refunded."""
    credited, earlier = invoice.record, list(earlier)
    is_all = amount == invoice.amount
    whole = {name: credited[name] for name in ("lines", "subtotal", "discounts", "delivery")}
    text = PARTS[reason] % {"number": invoice.number}
    lines = _refunded_lines(refund, amount) if refund else []
    taxes = credited_taxes(invoice, earlier, amount, taxes_of_pieces(order, refund, amount) if refund else None)
    part = {"lines": lines or [_plain_line(text, amount)], "subtotal": None, "discounts": [], "delivery": None}
    return {
        **_frame(order, "credit_note", seller, now),
        "number": str(number),
        "reason": reason,
        "invoice": {"number": invoice.number, "issued_on": credited["issued_on"]},
        "buyer": credited["buyer"],
        "buyer_vat_id": credited.get("buyer_vat_id", ""),
        "notes": credited.get("notes", []),
        "ship_to": [],
        **(whole if is_all else part),
        "tax_included": credited["tax_included"] or not is_all,
        "taxes": taxes,
        "total": to_wire(amount),
        "net": to_wire(amount - sum((Decimal(tax["amount"]) for tax in taxes), ZERO)),
        "payments": [],
        "footer": seller.footer,
    }


@in_language_of_order
def packing_slip_record(
    *,
    order: Order,
    seller: InvoiceSettings | None,
    fulfilment: Fulfilment | None = None,
    brand: Record | None = None,
    now: datetime,
) -> Record:
    """The packing slip of a fulfilment, without prices. Without a fulfilment, it has the pieces left to send or, once
    all were sent, all pieces. Without `brand`, the shop's looks are read."""
    lines = [line for line in order.lines.all() if line.needs_sending] or list(order.lines.all())
    packed = {line: line.left for line in lines if line.left} or {line: line.qty for line in lines}
    if fulfilment:
        packed = {part.line: part.qty for part in fulfilment.lines.all()}
    return {
        **_frame(order, "packing_slip", seller, now, brand),
        "number": f"{order.number}",
        "ship_to": address_lines(order.shipping_address or order.billing_address),
        "method": order.shipping_method,
        "phone": order.phone,
        "note": order.shopper_note,
        "is_cancelled": order.status == Order.Status.CANCELLED,
        "lines": [_line(line) | {"qty": qty, "ordered": line.qty} for line, qty in packed.items()],
    }


def _frame(
    order: Order, kind: str, seller: InvoiceSettings | None, now: datetime, brand: Record | None = None
) -> Record:
    shop = order.shop
    return {
        "kind": kind,
        "language": language_of_texts(spoken_language(shop)),
        "page": "letter" if shop.country in LETTER else "a4",
        "issued_on": _day(shop, now),
        "order_number": order.number,
        "ordered_on": _day(shop, order.placed_at),
        "currency": order.currency,
        "tax_included": order.prices_include_tax,
        "brand": brand or paper_brand(shop),
        "seller": {
            "name": (seller and seller.legal_name) or shop.name,
            "shop": shop.name,
            "address": _lines(seller.address if seller else ""),
            "vat_id": seller.vat_id if seller else "",
            "registration": _lines(seller.registration if seller else ""),
            "bank": _lines(seller.bank if seller else ""),
            "email": shop.email or "",
        },
    }


def _line(line: OrderLine) -> Record:
    chosen = [f"{each['name']}: {each['value']}" for each in [*line.options, *line.custom_fields]]
    contents = [f"{item['qty']} × {item['name']}" for item in line.bundle_items]
    return {
        "name": line.name,
        "sku": line.sku,
        "details": [*chosen, *contents, *([_("Damaged")] if line.is_damaged else [])],
        "qty": line.qty,
        "unit_price": to_wire(line.unit_price),
        "total": to_wire(line.line_total),
        "rates": [format_percent(Decimal(each["percent"])) for each in line.tax_lines],
    }


def _plain_line(text: str, amount: Decimal) -> Record:
    price = {"unit_price": to_wire(amount), "total": to_wire(amount)}
    return {"name": text, "sku": "", "details": [], "qty": 1, "rates": [], **price}


def _refunded_lines(refund: Refund, amount: Decimal) -> list[Record]:
    """The refunded lines, with tax and after discounts; empty for a refund of an amount. If the credited amount is
    less, an additional line has the difference."""
    pieces = [_refunded_line(part) for part in refund.lines.select_related("line")]
    delivery = [_plain_line(_("Delivery"), refund.shipping)] if refund.shipping else []
    if not pieces and not delivery:
        return []
    less = amount - sum((Decimal(line["total"]) for line in [*pieces, *delivery]), ZERO)
    return [*pieces, *delivery, *([_plain_line(_("Not refunded"), less)] if less else [])]


def _refunded_line(part: RefundLine) -> Record:
    each = quantize(part.amount / part.qty, part.refund.currency)
    if each * part.qty != part.amount:
        whole = _plain_line(f"{part.qty} × {part.line.name}", part.amount)
        return _line(part.line) | {name: whole[name] for name in ("name", "qty", "unit_price", "total")}
    figures = {"qty": part.qty, "unit_price": to_wire(each), "total": to_wire(part.amount)}
    return _line(part.line) | figures


def _discount(line: dict[str, Any]) -> Record:
    code = line.get("code")
    return {"name": f"{line['name']} ({code})" if code else line["name"], "amount": line["amount"]}


def _tax(line: dict[str, Any], amount: str | None, base: str | None) -> Record:
    """A tax, as it is printed. Older orders have no base."""
    kept = {"name": line["name"], "percent": line["percent"], "treatment": line.get("treatment", TAXED)}
    return kept | {"base": base, "amount": amount}


def _notes(order: Order) -> list[str]:
    """The notes that an invoice must have about goods and services without tax."""
    treatments = [line.get("treatment") for line in order.tax_lines]
    return [str(text) for treatment, text in NOTES.items() if treatment in treatments]


def _tax_lines(order: Order) -> list[dict[str, str]]:
    """The order's taxes by rate. One without rates, such as an imported order, has a single line without one."""
    if order.tax_lines or not order.tax:
        return order.tax_lines
    return [{"name": _("Tax"), "percent": "", "amount": f"{order.tax:.2f}"}]


def _payments(order: Order) -> list[Record]:
    """The payments: method and amount of each."""
    paid = [each for each in order.payments.all() if each.status == Payment.Status.PAID]
    return [{"name": _payment_name(each), "amount": to_wire(each.captured)} for each in paid]


def _payment_name(payment: Payment) -> str:
    provider = PROVIDERS.get(payment.gateway)
    return payment.method or (str(provider.label) if provider else payment.gateway)


def _day(shop: Shop, moment: datetime) -> str:
    return shop.local_time(moment).date().isoformat()


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]

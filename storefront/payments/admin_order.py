"""What an order's admin page shows of its payments and refunds."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.orders.admin_page import Row
from storefront.orders.models import Order
from storefront.orders.problems import Problem
from storefront.orders.timeline import Happening, Log
from storefront.payments.alerts import worded
from storefront.payments.models import Payment, PaymentEntry, Refund
from storefront.payments.providers.registry import PROVIDERS

Kind = PaymentEntry.Kind
# Disputes that nobody can change any more.
SETTLED = ("won", "lost", "warning_closed")
# What the entries of a payment's log mean to a merchant. Entries of other kinds are in the payment's own page.
TOLD = {
    Kind.CAPTURED: _lazy("Payment received"),
    Kind.RETURNED: _lazy("Money given back"),
    Kind.DISPUTED: _lazy("Payment disputed"),
}


def money_of(order: Order, log: Log, *, may_see: bool) -> dict[str, Any]:
    """The page's part about money. Sums are everybody's who sees the order; payments are theirs who may see these."""
    payments = list(order.payments.prefetch_related("entries"))
    refunds = list(order.refunds.prefetch_related("lines__line"))
    happened = [_refund_happened(row, log) for row in refunds if not row.is_foreign]
    happened += [shown for row in payments for entry in row.entries.all() if (shown := _entry(row, entry))]
    return {
        "sums": paid_sums(order, payments),
        "payments": [payment_text(row) for row in payments] if may_see else [],
        "refunds": [refund_text(row) for row in refunds] if may_see else [],
        "happened": happened if may_see else [],
        "problems": [problem for row in payments for problem in payment_problems(row)] if may_see else [],
    }


def payment_problems(row: Payment) -> Iterator[Problem]:
    texts = [worded(row.alert)]
    if row.dispute and row.dispute not in SETTLED:
        amount = format_money(row.disputed or row.amount, row.currency)
        how = f": {row.dispute}" if row.dispute else ""
        texts.append(_("The payment of %(amount)s is disputed") % {"amount": amount} + f"{how}.")
    for text in filter(None, texts):
        yield Problem(text, url=reverse("admin:payments_payment_change", args=[row.pk]), link=_("Payment"))


def paid_sums(order: Order, payments: Iterable[Payment]) -> list[Row]:
    """What was paid, by gift cards and otherwise, and given back."""
    cards = sum((Decimal(each["amount"]) for each in order.gift_cards), ZERO)
    paid = sum((row.captured for row in payments), ZERO)
    rows = []
    if cards:
        names = ", ".join(f"…{each['last_four']}" for each in order.gift_cards)
        rows.append(Row(_("Of which by gift card"), format_money(cards, order.currency), names))
    rows.append(Row(_("Paid"), format_money(paid, order.currency)))
    if order.refunded:
        rows.append(Row(_("Refunded"), f"−{format_money(order.refunded, order.currency)}"))
    return rows


def payment_text(row: Payment) -> str:
    what = f"{row.method or provider_name(row)}: {format_money(row.amount, row.currency)}"
    return " · ".join(filter(None, [what, payment_state(row), row.reference]))


def payment_state(row: Payment) -> str:
    """How the payment stands, with what the shop has to look at, why the last try failed, and how a dispute stands."""
    more = [
        worded(row.alert),
        worded(row.failure),
        _("dispute: %(dispute)s") % {"dispute": row.dispute} if row.dispute else "",
    ]
    return ", ".join([row.get_state_display(), *filter(None, more)])


def provider_name(row: Payment) -> str:
    provider = PROVIDERS.get(row.gateway)
    return provider.label_for_merchants if provider else row.gateway


def refund_text(row: Refund) -> str:
    facts = [
        _("Refund %(amount)s") % {"amount": format_money(row.amount, row.currency)},
        refund_state(row),
        pieces_of(row),
        worded(row.reason),
    ]
    facts += [_("restocked") if row.restocked else "", _("made at the provider") if row.is_foreign else ""]
    return " · ".join(filter(None, facts))


def refund_state(row: Refund) -> str:
    return f"{row.get_status_display()}: {worded(row.failure)}" if row.failure else row.get_status_display()


def pieces_of(row: Refund) -> str:
    delivery = [_("delivery %(amount)s") % {"amount": format_money(row.shipping, row.currency)}] if row.shipping else []
    return ", ".join([*map(str, row.lines.all()), *delivery])


def _refund_happened(row: Refund, log: Log) -> Happening:
    detail = " – ".join(filter(None, [pieces_of(row), worded(row.reason)]))
    text = _("Refund of %(amount)s started") % {"amount": format_money(row.amount, row.currency)}
    return Happening(row.created_at, text, detail, log.who("order.refunded", row.created_at), "currency_exchange", 3)


def _entry(row: Payment, entry: PaymentEntry) -> Happening | None:
    text = TOLD.get(Kind(entry.kind))
    if text is None:
        return None
    amount = format_money(abs(entry.amount), row.currency)
    detail = " · ".join(filter(None, [row.method or provider_name(row), worded(entry.detail)]))
    return Happening(entry.at, f"{text}: {amount}", detail, icon="payments", rank=1)

"""Builds the timeline of an order: the audit log names who acted, the rows have everything else."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.audit.text import action_text, actor_text
from storefront.kit.format import format_time
from storefront.orders.models import Fulfilment, Order, OrderMail
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import Shop

# Entries of the audit log that are read; an order has a few.
MAX_ENTRIES = 200
# Actions with a row of their own, which has more details. The log only names the actor.
SHOWN_BY_ROWS = (
    "order.placed",
    "order.fulfilled",
    "order.fulfilment_cancelled",
    "order.refunded",
    "order.mail_written",
)
MAILS = {
    "order_confirmation": _lazy("Order confirmation"),
    "order_paid": _lazy("Payment email"),
    "order_cancelled": _lazy("Cancellation email"),
    "order_refunded": _lazy("Refund email"),
    "fulfilment": _lazy("Delivery email"),
    "downloads": _lazy("Download email"),
    "invoice": _lazy("Invoice email"),
    "credit_note": _lazy("Credit note email"),
}


@dataclass(frozen=True)
class Happening:
    """One entry of the timeline. `icon` is a name in the admin's icon font; `rank` sorts entries of the same moment."""

    at: datetime
    text: str
    detail: str = ""
    who: str = ""
    icon: str = "circle"
    rank: int = 5


@dataclass(frozen=True)
class Log:
    """The order's entries of the audit log."""

    entries: list[AuditEntry]

    def who(self, action: str, at: datetime) -> str:
        """The person who carried out this action at this moment; empty if the log has no such entry."""
        return next((actor_text(each) for each in self.entries if each.action == action and each.at == at), "")


def log_of(shop: Shop, order: Order) -> Log:
    found = AuditEntry.objects.filter(shop=shop, object_type="order", object_id=order.pk).order_by("at", "id")
    return Log(list(found[:MAX_ENTRIES]))


def happenings(
    order: Order, fulfilments: Iterable[Fulfilment], mails: Iterable[OrderMail], log: Log
) -> list[Happening]:
    """The entries of this room. Higher rooms add payments, refunds and documents."""
    found = [Happening(order.placed_at, _("Order placed"), icon="shopping_bag", rank=0)]
    found += [_deed(entry) for entry in log.entries if entry.action not in SHOWN_BY_ROWS]
    for fulfilment in fulfilments:
        found += _of_fulfilment(fulfilment, log)
    found += [each for mail in mails for each in _of_mail(mail)]
    return found


def as_shown(found: Iterable[Happening], shop: Shop) -> list[dict[str, Any]]:
    """The timeline as the page shows it, newest first."""
    newest = sorted(found, key=lambda each: (each.at, each.rank), reverse=True)
    return [vars(each) | {"when": format_time(each.at, shop.timezone)} for each in newest]


def _deed(entry: AuditEntry) -> Happening:
    icons = {
        "order.marked_paid": "payments",
        "order.cancelled": "cancel",
        "order.updated": "edit_note",
        "order.closed": "block",
        "order.printed": "print",
    }
    detail = str((entry.after or {}).get("reason") or "")
    if entry.action == "order.updated":
        detail = _annotation(entry.after or {})
    return Happening(entry.at, action_text(entry), detail, actor_text(entry), icons.get(entry.action, "circle"), 2)


def _annotation(after: dict[str, Any]) -> str:
    """The changed note and tags."""
    tags = after.get("tags")
    shown = [
        str(after.get("note") or ""),
        _("Tags: %(tags)s") % {"tags": ", ".join(map(str, tags))} if isinstance(tags, list) else "",
    ]
    return " – ".join(filter(None, shown))[:300]


def _of_fulfilment(row: Fulfilment, log: Log) -> list[Happening]:
    pieces = ", ".join(str(line) for line in row.lines.all())
    tracking = " ".join(filter(None, [row.carrier, row.tracking_number]))
    detail = f"{pieces} ({tracking})" if tracking else pieces
    found = [
        Happening(
            row.created_at, _("Items fulfilled"), detail, log.who("order.fulfilled", row.created_at), "local_shipping"
        )
    ]
    if row.cancelled_at:
        who = log.who("order.fulfilment_cancelled", row.cancelled_at)
        found.append(Happening(row.cancelled_at, _("Fulfilment cancelled"), pieces, who, "undo"))
    return found


def _of_mail(row: OrderMail) -> list[Happening]:
    what = MAILS.get(row.kind, _("Email"))
    if row.text:
        detail = f"{row.subject}\n{row.text}"
        written = Happening(
            row.created_at, _("Email written to %(email)s") % {"email": row.email}, detail, row.written_by, "mail", 6
        )
        ended = (
            [Happening(row.sent_at, _("This email was sent"), row.subject, icon="outgoing_mail", rank=7)]
            if row.sent_at
            else []
        )
        return [written, *ended, *_failed(row, _("This email could not be sent"))]
    sent = (
        [
            Happening(
                row.sent_at,
                _("%(what)s sent to %(email)s") % {"what": what, "email": row.email},
                icon="outgoing_mail",
                rank=7,
            )
        ]
        if row.sent_at
        else []
    )
    return [*sent, *_failed(row, _("%(what)s could not be sent to %(email)s") % {"what": what, "email": row.email})]


def _failed(row: OrderMail, text: str) -> list[Happening]:
    return [Happening(row.failed_at, text, row.subject, icon="error", rank=7)] if row.failed_at else []

"""The admin's form for a refund: of items, of the delivery, of an amount, or of everything that is left."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanWidget,
)

from storefront.kit.format import format_money
from storefront.kit.ids import as_id
from storefront.kit.money import CENT, ZERO, quantize
from storefront.kit.refusals import Refusal
from storefront.kit.text import Text
from storefront.orders.models import Order, OrderLine
from storefront.payments.line_refunds import Pieces, delivery_left, paid_for_line
from storefront.payments.refunds import refund_total
from storefront.staff.admin_base import sentence_of

NOTHING_CHOSEN = _lazy("Choose items, delivery, an amount or everything.")


@dataclass(frozen=True)
class Summary:
    """The label of the dialog's button, with the sum; and the reason why it is disabled, or was refused. The label
    comes back with the form as `pressed`, so that nobody refunds another sum than the button showed."""

    text: str
    is_ready: bool
    problem: Text


class RefundForm(BaseDialogForm):
    """Pieces that were not sent and pieces that were stand apart, as the one are not sent any more."""

    everything = forms.BooleanField(label=_lazy("Everything"), required=False, initial=True, widget=UnfoldBooleanWidget)
    shipping = forms.DecimalField(
        label=_lazy("Delivery"),
        max_digits=14,
        decimal_places=2,
        min_value=ZERO,
        required=False,
        widget=UnfoldAdminDecimalFieldWidget,
    )
    amount = forms.DecimalField(
        label=_lazy("Amount"),
        max_digits=14,
        decimal_places=2,
        min_value=CENT,
        required=False,
        widget=UnfoldAdminDecimalFieldWidget,
        help_text=_lazy("Leave empty to refund what the chosen items and delivery come to."),
    )
    reason = forms.CharField(
        label=_lazy("Reason"), max_length=10_000, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2})
    )
    restock = forms.BooleanField(label=_lazy("Restock all items"), required=False, widget=UnfoldBooleanWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        self.rows: dict[str, tuple[int, bool | None]] = {}
        self.total: Decimal | None = None
        self.order = order = Order.objects.filter(shop=request.shop, pk=as_id(str(object_id or "")) or 0).first()
        left = ZERO
        if order:
            everything = _everything(order)
            self.fields["everything"].label = _label_of(everything, order)
            # As it opens, the dialog refunds everything.
            self.total = None if self.is_bound else everything
            left = delivery_left(order)
            for line in order.lines.all():
                self._add_line(order, line)
        if order and left:
            self.fields["shipping"].help_text = _("At most %(left)s") % {"left": format_money(left, order.currency)}
        else:
            del self.fields["shipping"]
        if order is None or order.restocked_at or order.status == Order.Status.OPEN:
            del self.fields["restock"]
        self.order_fields(["everything", *(each for name in self.rows for each in (name, _restock(name)))])

    def clean(self) -> dict[str, Any]:
        data = self.cleaned_data
        if self.order is None or set(self.errors) - {"_form_submitted"}:
            return data
        if not (data["everything"] or any(self._chosen.values())):
            raise forms.ValidationError(NOTHING_CHOSEN)
        try:
            self.total = refund_total(order=self.order, **({} if data["everything"] else self._chosen))
        except Refusal as refusal:
            raise forms.ValidationError(sentence_of(refusal)) from None
        if not self.errors and self.data.get("pressed", self._text) != self._text:
            raise forms.ValidationError(_("The sum has changed. Please look at it, and press the button again."))
        return data

    @property
    def is_ready(self) -> bool:
        return self.total is not None

    @property
    def summary(self) -> Summary:
        wrong = {name: errors[0] for name, errors in self.errors.items() if name != "_form_submitted"}
        name, problem = next(iter(wrong.items()), ("__all__", "" if self.is_ready else NOTHING_CHOSEN))
        return Summary(
            text=self._text,
            is_ready=self.is_ready,
            problem=problem if name == "__all__" else f"{self[name].label}: {problem}",
        )

    @property
    def _text(self) -> str:
        return (
            _("Refund %(amount)s") % {"amount": format_money(self.total, self.order.currency)}
            if self.order and self.total
            else _("Refund")
        )

    @property
    def given(self) -> dict[str, Any]:
        data = self.cleaned_data
        # "Everything" is the sum that the button showed, without payments since then.
        chosen = {"amount": self.total} if data["everything"] else self._chosen
        return chosen | {"reason": data["reason"], "restock": data.get("restock", False)}

    @property
    def _chosen(self) -> dict[str, Any]:
        data = self.cleaned_data
        lines = [
            Pieces(line_id, data[name], restock=data[_restock(name)], sent=sent)
            for name, (line_id, sent) in self.rows.items()
            if data.get(name)
        ]
        return {"lines": lines, "shipping": data.get("shipping") or None, "amount": data.get("amount")}

    def _add_line(self, order: Order, line: OrderLine) -> None:
        """A quantity for the pieces that were not sent, and one for those that were, each with what to do with them."""
        unsent = line.left + line.closed_qty
        sent = line.qty - line.refunded_qty - unsent
        if not line.needs_sending:
            self._add_row(order, line, None, unsent + sent)
            return
        self._add_row(order, line, False, unsent)
        self._add_row(order, line, True, sent)

    def _add_row(self, order: Order, line: OrderLine, sent: bool | None, left: int) -> None:
        name = f"{'sent' if sent else 'unsent'}_{line.pk}"
        # What was refunded meanwhile is still read from the form, so that it is refused and not passed over.
        if not left and name not in self.data:
            return
        self.rows[name] = line.pk, sent
        parts = {None: "%(item)s", False: _("%(item)s, not sent"), True: _("%(item)s, sent")}
        label = parts[sent] % {"item": line.name}
        paid = format_money(quantize(paid_for_line(order, line) / line.qty, order.currency), order.currency)
        self.fields[name] = forms.IntegerField(
            label=label,
            min_value=0,
            max_value=line.qty,
            required=False,
            initial=0,
            widget=UnfoldAdminIntegerFieldWidget,
            help_text=_("At most %(left)s, %(paid)s each") % {"left": left, "paid": paid},
        )
        self.fields[_restock(name)] = forms.BooleanField(
            label=_("Restock %(item)s") % {"item": label},
            required=False,
            initial=sent is False,
            widget=UnfoldBooleanWidget,
        )


def _everything(order: Order) -> Decimal | None:
    """What can still be refunded; None if that is nothing. Sending the form shows the refusal."""
    try:
        return refund_total(order=order)
    except Refusal:
        return None


def _label_of(everything: Decimal | None, order: Order) -> str:
    if everything is None:
        return _("Everything that is left")
    return _("Everything that is left: %(amount)s") % {"amount": format_money(everything, order.currency)}


def _restock(name: str) -> str:
    return f"restock_{name}"

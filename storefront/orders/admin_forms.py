"""The admin's forms for an order: note and tags, cancellation, fulfilment, downloads."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
)

from storefront.kit import markup
from storefront.kit.format import format_day
from storefront.kit.ids import as_id
from storefront.orders.fulfilling import Tracking
from storefront.orders.models import Download, Fulfilment, Order, OrderLine
from storefront.orders.rules import MAX_TAGS, check_tag
from storefront.orders.sending import is_due, waiting
from storefront.staff.admin_forms import ShopScopedForm, WordsField

_QTY = re.compile(r"qty_(\d+)\Z")


class OrderForm(ShopScopedForm):
    tags = WordsField(label=_lazy("Tags"))

    def clean_tags(self) -> list[str]:
        tags = self.cleaned_data["tags"]
        if len(tags) > MAX_TAGS:
            raise ValidationError(_("At most %(most)s tags.") % {"most": MAX_TAGS})
        try:
            return [check_tag(tag) for tag in tags]
        except ValueError as error:
            raise ValidationError(_("Each tag %(error)s.") % {"error": error}) from None


class CancelForm(BaseDialogForm):
    reason = forms.CharField(
        label=_lazy("Reason"), max_length=10_000, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2})
    )

    @property
    def given(self) -> dict[str, Any]:
        return {"reason": self.cleaned_data["reason"]}


class WriteForm(BaseDialogForm):
    """A mail to the customer."""

    subject = forms.CharField(label=_lazy("Subject"), max_length=150, widget=UnfoldAdminTextInputWidget)
    text = forms.CharField(
        label=_lazy("Message"), max_length=10_000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 8})
    )

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        order = Order.objects.filter(shop=request.shop, pk=as_id(str(object_id or "")) or 0).first()
        if order:
            self.fields["subject"].initial = (
                _("Your order %(number)s at %(shop)s") % {"number": order.number, "shop": request.shop.name}
            )[:150]
            self.fields["text"].help_text = _("To %(email)s") % {"email": order.email}

    def clean_text(self) -> str:
        text = self.cleaned_data["text"]
        if problem := markup.problem_of_change(text, ""):
            raise ValidationError(_("This text %(problem)s.") % {"problem": problem})
        return text

    @property
    def given(self) -> dict[str, Any]:
        return {"subject": self.cleaned_data["subject"], "body": self.cleaned_data["text"]}


class DownloadsForm(BaseDialogForm):
    """Selects the order's downloads to allow again; by default all of them."""

    files = forms.TypedMultipleChoiceField(
        label=_lazy("Files"), coerce=int, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        rows = Download.objects.filter(shop=request.shop, order_id=object_id or 0).select_related("line")
        choices = [(row.pk, f"{row.name} ({row.line.name})") for row in rows]
        field: Any = self.fields["files"]
        field.choices, field.initial = choices, [pk for pk, _name in choices]


class FulfilForm(BaseDialogForm):
    """The number of pieces of each line to send, by default all that are left and due, and the parcel's tracking
    data."""

    carrier = forms.CharField(label=_lazy("Carrier"), max_length=100, required=False, widget=UnfoldAdminTextInputWidget)
    tracking_number = forms.CharField(
        label=_lazy("Tracking number"), max_length=100, required=False, widget=UnfoldAdminTextInputWidget
    )
    tracking_url = forms.URLField(
        label=_lazy("Tracking URL"),
        max_length=2048,
        required=False,
        assume_scheme="https",
        widget=UnfoldAdminURLInputWidget,
        help_text=_lazy("Where the customer can track the parcel."),
    )

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        lines = list(OrderLine.objects.filter(shop=request.shop, order_id=as_id(str(object_id or "")) or 0))
        # Also reads lines that were sent meanwhile, so that they are refused and not ignored.
        named = {int(match[1]) for match in map(_QTY.match, self.data) if match}
        shown = [line for line in lines if line.pk in named or line in waiting(lines)]
        self.quantities = {line.pk: f"qty_{line.pk}" for line in shown}
        for line in shown:
            self.fields[self.quantities[line.pk]] = forms.IntegerField(
                label=line.name,
                min_value=0,
                max_value=line.qty,
                required=False,
                initial=line.left if is_due(line, request.now) else 0,
                widget=UnfoldAdminIntegerFieldWidget,
                help_text=_("%(left)s of %(qty)s left%(later)s")
                % {"left": line.left, "qty": line.qty, "later": _later(line, request)},
            )
        self.order_fields([*self.quantities.values(), "carrier", "tracking_number", "tracking_url"])

    def clean_tracking_url(self) -> str:
        url = self.cleaned_data["tracking_url"]
        # The link is shown to shoppers, so other schemes such as ftp: are refused.
        if url and not url.startswith(("https://", "http://")):
            raise ValidationError(_("Enter a URL that begins with http:// or https://."))
        return url

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.chosen == [] and not self.errors:
            self.add_error(next(iter(self.quantities.values())), _("Choose at least one item."))
        return cleaned

    @property
    def chosen(self) -> list[tuple[int, int]] | None:
        """Pairs of a line's id and a quantity. None if the form has no quantities: everything that is left."""
        if not any(name in self.data for name in self.quantities.values()):
            return None
        read = ((pk, self.cleaned_data.get(name)) for pk, name in self.quantities.items())
        return [(pk, qty) for pk, qty in read if qty]

    @property
    def given(self) -> dict[str, Any]:
        tracking = {name: self.cleaned_data[name] for name in ("carrier", "tracking_number", "tracking_url")}
        return {"pieces": self.chosen, "tracking": Tracking(**tracking)}


def _later(line: OrderLine, request: Any) -> str:
    if is_due(line, request.now):
        return ""
    return _("; a pre-order, to be sent from %(day)s on") % {
        "day": format_day(line.available_from, request.shop.timezone)
    }


class CancelFulfilmentForm(BaseDialogForm):
    """Selects the fulfilment to cancel; by default the newest."""

    fulfilment = forms.TypedChoiceField(label=_lazy("Fulfilment"), coerce=int, widget=UnfoldAdminSelectWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        order_id = as_id(str(object_id or "")) or 0
        rows = Fulfilment.objects.filter(shop=request.shop, order_id=order_id, cancelled_at=None)
        field: Any = self.fields["fulfilment"]
        field.choices = [
            (row.pk, f"{row}: {', '.join(str(line) for line in row.lines.all())}")
            for row in rows.order_by("-pk").prefetch_related("lines__line")
        ]

"""The admin's forms for an order: note and tags, tracking data, cancellation, refund, downloads."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminURLInputWidget,
    UnfoldBooleanWidget,
)

from storefront.kit.money import CENT
from storefront.orders.fulfilling import Tracking
from storefront.orders.models import Download, Order
from storefront.orders.rules import MOST_TAGS, check_tag
from storefront.shops.admin_forms import ShopScopedForm, WordsField


def confirm(title: str, description: str, submit: str, form: type[BaseDialogForm] | None = None) -> Any:
    """A dialog that asks before an action; its form is posted separately."""
    return {"title": title, "description": description, "form_class": form, "form_submit_text": submit}


class OrderForm(ShopScopedForm):
    tags = WordsField()

    def clean_tags(self) -> list[str]:
        tags = self.cleaned_data["tags"]
        if len(tags) > MOST_TAGS:
            raise ValidationError(f"At most {MOST_TAGS} tags.")
        try:
            return [check_tag(tag) for tag in tags]
        except ValueError as error:
            raise ValidationError(f"Each tag {error}.") from None


class TrackingForm(BaseDialogForm):
    carrier = forms.CharField(max_length=100, required=False, widget=UnfoldAdminTextInputWidget)
    tracking_number = forms.CharField(max_length=100, required=False, widget=UnfoldAdminTextInputWidget)
    tracking_url = forms.URLField(
        label="Tracking URL",
        max_length=2048,
        required=False,
        assume_scheme="https",
        widget=UnfoldAdminURLInputWidget,
        help_text="Where the customer can track the parcel.",
    )

    def clean_tracking_url(self) -> str:
        url = self.cleaned_data["tracking_url"]
        # The link is shown to shoppers, so other schemes such as ftp: are refused.
        if url and not url.startswith(("https://", "http://")):
            raise ValidationError("Enter a URL that begins with http:// or https://.")
        return url

    @property
    def tracking(self) -> Tracking:
        return Tracking(**{name: self.cleaned_data[name] for name in ("carrier", "tracking_number", "tracking_url")})


class CancelForm(BaseDialogForm):
    reason = forms.CharField(max_length=10_000, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}))

    @property
    def given(self) -> dict[str, Any]:
        return {"reason": self.cleaned_data["reason"]}


class RefundForm(BaseDialogForm):
    amount = forms.DecimalField(
        max_digits=14,
        decimal_places=2,
        min_value=CENT,
        required=False,
        widget=UnfoldAdminDecimalFieldWidget,
        help_text="Leave empty to refund the full remaining amount.",
    )
    reason = forms.CharField(max_length=10_000, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}))
    restock = forms.BooleanField(label="Restock items", required=False, widget=UnfoldBooleanWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        restockable = Order.objects.filter(shop=request.shop, pk=object_id or 0, restocked_at=None)
        if not restockable.exclude(status=Order.Status.OPEN).exists():
            del self.fields["restock"]

    @property
    def given(self) -> dict[str, Any]:
        return {"restock": False} | {name: self.cleaned_data[name] for name in self.fields if name[0] != "_"}


class DownloadsForm(BaseDialogForm):
    """Which of the order's downloads to allow again; at first all of them."""

    files = forms.TypedMultipleChoiceField(coerce=int, widget=UnfoldAdminCheckboxSelectMultipleWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        rows = Download.objects.filter(shop=request.shop, order_id=object_id or 0).select_related("line")
        choices = [(row.pk, f"{row.name} ({row.line.name})") for row in rows]
        field: Any = self.fields["files"]
        field.choices, field.initial = choices, [pk for pk, _ in choices]

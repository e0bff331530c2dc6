"""The admin's forms for an order: note and tags, cancellation, downloads."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from storefront.kit import markup
from storefront.kit.ids import as_id
from storefront.orders.models import Download, Order
from storefront.orders.rules import MAX_TAGS, check_tag
from storefront.staff.admin_forms import ShopScopedForm, WordsField


def confirm(title: str, description: str, submit: str, form: type[BaseDialogForm] | None = None) -> Any:
    """A dialog that asks before an action; its form is posted separately."""
    return {"title": title, "description": description, "form_class": form, "form_submit_text": submit}


class OrderForm(ShopScopedForm):
    tags = WordsField()

    def clean_tags(self) -> list[str]:
        tags = self.cleaned_data["tags"]
        if len(tags) > MAX_TAGS:
            raise ValidationError(f"At most {MAX_TAGS} tags.")
        try:
            return [check_tag(tag) for tag in tags]
        except ValueError as error:
            raise ValidationError(f"Each tag {error}.") from None


class CancelForm(BaseDialogForm):
    reason = forms.CharField(max_length=10_000, required=False, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}))

    @property
    def given(self) -> dict[str, Any]:
        return {"reason": self.cleaned_data["reason"]}


class WriteForm(BaseDialogForm):
    """A mail to the customer."""

    subject = forms.CharField(max_length=150, widget=UnfoldAdminTextInputWidget)
    text = forms.CharField(label="Message", max_length=10_000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 8}))

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        order = Order.objects.filter(shop=request.shop, pk=as_id(str(object_id or "")) or 0).first()
        if order:
            self.fields["subject"].initial = f"Your order {order.number} at {request.shop.name}"[:150]
            self.fields["text"].help_text = f"To {order.email}"

    def clean_text(self) -> str:
        text = self.cleaned_data["text"]
        if problem := markup.problem_of_change(text, ""):
            raise ValidationError(f"This text {problem}.")
        return text

    @property
    def given(self) -> dict[str, Any]:
        return {"subject": self.cleaned_data["subject"], "body": self.cleaned_data["text"]}


class DownloadsForm(BaseDialogForm):
    """Selects the order's downloads to allow again; by default all of them."""

    files = forms.TypedMultipleChoiceField(coerce=int, widget=UnfoldAdminCheckboxSelectMultipleWidget)

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        rows = Download.objects.filter(shop=request.shop, order_id=object_id or 0).select_related("line")
        choices = [(row.pk, f"{row.name} ({row.line.name})") for row in rows]
        field: Any = self.fields["files"]
        field.choices, field.initial = choices, [pk for pk, _ in choices]

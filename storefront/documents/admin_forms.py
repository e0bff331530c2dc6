"""The admin's forms for documents: the settings, and the correction of an invoice."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from storefront.documents.models import InvoiceSettings
from storefront.documents.numbering import MAX_NUMBER, SeriesInUse, check_begin, check_prefix, next_number
from storefront.documents.queries import current_invoice
from storefront.orders.queries import order_by_id
from storefront.staff.admin_forms import ShopScopedForm

# The space for an address: lines, and characters of each.
MAX_LINES, MAX_LINE_LENGTH = 8, 200
MAX_FOOT_LINES = 8


def lines_of(text: str, most: int) -> list[str]:
    """The lines of a text, without empty ones. Raises ValidationError for too many or too long ones."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > most:
        raise ValidationError(_("At most %(most)s lines.") % {"most": most})
    if any(len(line) > MAX_LINE_LENGTH for line in lines):
        raise ValidationError(_("At most %(most)s characters a line.") % {"most": MAX_LINE_LENGTH})
    return lines


def number_field(label: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        min_value=1,
        max_value=MAX_NUMBER,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_lazy("Can be set until the first number of this prefix is given."),
    )


class InvoiceSettingsForm(ShopScopedForm):
    next_invoice = number_field(_lazy("Next invoice number"))
    next_credit_note = number_field(_lazy("Next credit note number"))
    constraint_errors = {
        "invoice_seller_is_named": ("is_on", _lazy("Fill in the legal name and the address of the seller first."))
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row = self.instance
        self.initial["next_invoice"] = next_number(self.shop, row.invoice_prefix, self.now)
        self.initial["next_credit_note"] = next_number(self.shop, row.credit_note_prefix, self.now)

    def clean_invoice_prefix(self) -> str:
        return self._prefix("invoice_prefix")

    def clean_credit_note_prefix(self) -> str:
        return self._prefix("credit_note_prefix")

    def clean_address(self) -> str:
        return self._lines("address")

    def clean_registration(self) -> str:
        return self._lines("registration")

    def clean_bank(self) -> str:
        return self._lines("bank")

    def clean(self) -> Any:
        cleaned = super().clean()
        for field, prefix in self.chosen_numbers():
            try:
                check_begin(shop=self.shop, prefix=prefix, at=cleaned[field], now=self.now)
            except SeriesInUse as refusal:
                self.add_error(field, refusal.text)
        return cleaned

    def chosen_numbers(self) -> list[tuple[str, str]]:
        """The changed fields of next numbers, each with its prefix."""
        given = self.cleaned_data
        prefixes = {"next_invoice": given.get("invoice_prefix"), "next_credit_note": given.get("credit_note_prefix")}
        return [
            (field, prefix)
            for field, prefix in prefixes.items()
            if field in self.changed_data and given.get(field) is not None and prefix is not None
        ]

    def _prefix(self, name: str) -> str:
        try:
            return check_prefix(self.cleaned_data[name])
        except ValueError as error:
            raise ValidationError(str(error)) from None

    def _lines(self, name: str) -> str:
        return "\n".join(lines_of(self.cleaned_data[name], MAX_FOOT_LINES))

    class Meta:
        model = InvoiceSettings
        exclude = ("shop",)


class CorrectionForm(BaseDialogForm):
    buyer = forms.CharField(
        label=_lazy("Bill to"),
        max_length=MAX_LINES * MAX_LINE_LENGTH,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}),
        help_text=_lazy("Name and address of the buyer, on several lines, with the VAT ID if there is one."),
    )

    def __init__(self, request: Any, object_id: int | str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, object_id, *args, **kwargs)
        order = order_by_id(request.shop, int(object_id or 0))
        invoice = current_invoice(request.shop, order) if order else None
        if invoice:
            self.fields["buyer"].initial = "\n".join(invoice.record["buyer"])

    def clean_buyer(self) -> list[str]:
        return lines_of(self.cleaned_data["buyer"], MAX_LINES)

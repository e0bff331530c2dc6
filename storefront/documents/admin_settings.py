"""The admin page of invoice settings. Each shop has one row, so the menu leads to its form."""

from typing import Any

from django.contrib import admin

from storefront.documents.admin_forms import InvoiceSettingsForm
from storefront.documents.models import InvoiceSettings
from storefront.documents.numbering import begin_series
from storefront.shops.rights import Right
from storefront.staff.admin_base import OneRowAdmin
from storefront.staff.admin_parts import Moves, layout


@admin.register(InvoiceSettings)
class InvoiceSettingsAdmin(OneRowAdmin):
    menu_title = "Invoices"
    form = InvoiceSettingsForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    moves = Moves.MONEY
    fieldsets: Any = layout(
        "is_on",
        "Seller: legal_name address vat_id registration bank footer",
        "Numbers: invoice_prefix next_invoice credit_note_prefix next_credit_note",
    )

    def the_row(self, request: Any) -> InvoiceSettings:
        """Redirect to the form of the shop's settings, which the first visit creates."""
        return InvoiceSettings.objects.get_or_create(shop=request.shop)[0]

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for field, prefix in form.chosen_numbers():
            begin_series(shop=request.shop, prefix=prefix, at=form.cleaned_data[field], now=request.now)

"""The admin page of invoice settings. Each shop has one row, so the menu leads to its form."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse

from storefront.documents.admin_forms import InvoiceSettingsForm
from storefront.documents.models import InvoiceSettings
from storefront.documents.numbering import begin_series
from storefront.shops.admin_base import ShopScopedAdmin
from storefront.shops.rights import Right


@admin.register(InvoiceSettings)
class InvoiceSettingsAdmin(ShopScopedAdmin):
    form = InvoiceSettingsForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    fieldsets: Any = [
        (None, {"fields": ["is_on"]}),
        ("Seller", {"fields": ["legal_name", "address", "vat_id", "registration", "bank", "footer"]}),
        ("Numbers", {"fields": ["invoice_prefix", "next_invoice", "credit_note_prefix", "next_credit_note"]}),
    ]

    def changelist_view(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Redirect to the form of the shop's settings, which the first visit creates."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row, _ = InvoiceSettings.objects.get_or_create(shop=request.shop)
        return HttpResponseRedirect(reverse("admin:documents_invoicesettings_change", args=[row.pk]))

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for field, prefix in form.chosen_numbers():
            begin_series(shop=request.shop, prefix=prefix, at=form.cleaned_data[field], now=request.now)

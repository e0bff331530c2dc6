from django.contrib import admin

from storefront.customers.models import Address, Customer
from storefront.shops.admin_base import ShopRelatedFilter, ShopScopedAdmin, ShopScopedStackedInline, moment
from storefront.shops.admin_forms import ShopScopedForm


class CustomerForm(ShopScopedForm):
    def clean_email(self) -> str:
        return self.cleaned_data["email"].lower()


class AddressForm(ShopScopedForm):
    def clean_country(self) -> str:
        return self.cleaned_data["country"].upper()


class AddressInline(ShopScopedStackedInline):
    model = Address
    form = AddressForm
    tab = True
    exclude = ["shop"]


@admin.register(Customer)
class CustomerAdmin(ShopScopedAdmin):
    form = CustomerForm
    list_display = ["name_or_email", "email", "group", "since"]
    list_select_related = ["shop", "group"]
    list_filter = [("group", ShopRelatedFilter)]
    search_fields = ["email", "name", "phone"]
    ordering = ["-created_at", "-id"]
    fields = ["email", "name", "phone", "group", "note"]
    inlines = [AddressInline]

    since = moment("created_at", "since")

    @admin.display(description="name", ordering="name")
    def name_or_email(self, row: Customer) -> str:
        return str(row)

import re
from typing import Any

from django import forms
from django.contrib import admin
from unfold.decorators import display

from storefront.customers.models import CustomerGroup
from storefront.pricing import admin_discounts  # noqa: F401, registers its pages
from storefront.pricing.models import GroupPrice, ShippingRate, TaxRate
from storefront.shops.admin_base import (
    ShopRelatedFilter,
    ShopScopedAdmin,
    ShopScopedTabularInline,
    money,
    view_and_edit,
)
from storefront.shops.admin_forms import ShopScopedForm, WordsField
from storefront.shops.rights import Right


class GroupPriceForm(ShopScopedForm):
    constraint_errors = {
        "group_price_product_once": ("product", "This product already has a price for this group."),
        "group_price_variant_once": ("variant", "This variant already has a price for this group."),
    }

    def clean(self) -> None:
        super().clean()
        product, variant = self.cleaned_data.get("product"), self.cleaned_data.get("variant")
        if product and variant and variant.product_id != product.pk:
            self.add_error("variant", f"This variant does not belong to {product}.")


class GroupPriceInline(ShopScopedTabularInline):
    model = GroupPrice
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
    form = GroupPriceForm
    fields = ["product", "variant", "price"]
    autocomplete_fields = ["product", "variant"]
    ordering = ["id"]
    per_page = 50


@admin.register(CustomerGroup)
class CustomerGroupAdmin(ShopScopedAdmin):
    """Registered in this room because the page includes the group's prices."""

    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
    list_display = ["name", "discount"]
    search_fields = ["name"]
    ordering = ["name"]
    fields = ["name", "discount_percent"]
    inlines = [GroupPriceInline]

    @display(description="discount", ordering="discount_percent")
    def discount(self, row: CustomerGroup) -> str:
        return percent(row.discount_percent)


class CountryForm(ShopScopedForm):
    def clean_country(self) -> str:
        country = self.cleaned_data["country"].upper()
        if not is_country(country):
            raise forms.ValidationError("Enter a two-letter country code, such as DE.")
        return country


@admin.register(TaxRate)
class TaxRateAdmin(ShopScopedAdmin):
    form = CountryForm
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
    list_display = ["name", "country", "region", "tax_class", "rate", "applies_to_shipping"]
    list_select_related = ["shop", "tax_class"]
    list_filter = [("tax_class", ShopRelatedFilter)]
    search_fields = ["name", "country", "region"]
    ordering = ["country", "region", "id"]
    fields = ["name", "country", "region", "tax_class", "percent", "applies_to_shipping"]

    @display(description="rate", ordering="percent")
    def rate(self, row: TaxRate) -> str:
        return percent(row.percent)


class ShippingRateForm(ShopScopedForm):
    countries = WordsField(
        help_text="Two-letter country codes separated by commas, such as DE, AT. Leave empty for all countries."
    )
    constraint_errors = {
        "shipping_rate_weight_range": ("maximum_weight", "The maximum weight must not be below the minimum weight.")
    }

    def clean_countries(self) -> list[str]:
        countries = [country.upper() for country in self.cleaned_data["countries"]]
        if wrong := [country for country in countries if not is_country(country)]:
            raise forms.ValidationError(f"Not a two-letter country code: {', '.join(wrong)}.")
        return countries


@admin.register(ShippingRate)
class ShippingRateAdmin(ShopScopedAdmin):
    form = ShippingRateForm
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
    list_display = ["name", "price_shown", "free_from_shown", "countries_shown", "is_active", "sort_order"]
    search_fields = ["name"]
    ordering = ["sort_order", "id"]
    fieldsets: Any = [
        (None, {"fields": ["name", "price", "free_from", "is_active", "sort_order"]}),
        ("Availability", {"fields": ["countries", "minimum_weight", "maximum_weight"]}),
    ]

    price_shown = money("price")
    free_from_shown = money("free_from", "free from")

    @display(description="countries")
    def countries_shown(self, row: ShippingRate) -> str:
        return ", ".join(row.countries) or "everywhere"


def percent(value: Any) -> str:
    """`Decimal("19.000")` as `19%`."""
    return f"{value.normalize():f}%"


def is_country(code: str) -> bool:
    return re.fullmatch("[A-Z]{2}", code) is not None

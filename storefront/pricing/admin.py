import re
from typing import Any

from django import forms
from django.contrib import admin
from unfold.decorators import display

from storefront.customers.models import CustomerGroup
from storefront.kit.format import format_money
from storefront.pricing.models import Discount, GroupPrice, ShippingRate, TaxRate
from storefront.shops.admin_base import (
    ShopRelatedFilter,
    ShopScopedAdmin,
    ShopScopedTabularInline,
    moment,
    money,
)
from storefront.shops.admin_forms import ShopScopedForm, WordsField


class GroupPriceForm(ShopScopedForm):
    constraint_errors = {
        "group_price_product_once": ("product", "This product has a price for the group already."),
        "group_price_variant_once": ("variant", "This variant has a price for the group already."),
    }

    def clean(self) -> None:
        super().clean()
        product, variant = self.cleaned_data.get("product"), self.cleaned_data.get("variant")
        if product and variant and variant.product_id != product.pk:
            self.add_error("variant", f"This is not a variant of {product}.")


class GroupPriceInline(ShopScopedTabularInline):
    model = GroupPrice
    form = GroupPriceForm
    fields = ["product", "variant", "price"]
    autocomplete_fields = ["product", "variant"]
    ordering = ["id"]
    per_page = 50


@admin.register(CustomerGroup)
class CustomerGroupAdmin(ShopScopedAdmin):
    """Registered here, beside the prices that a group has."""

    list_display = ["name", "discount"]
    search_fields = ["name"]
    ordering = ["name"]
    fields = ["name", "discount_percent"]
    inlines = [GroupPriceInline]

    @display(description="discount", ordering="discount_percent")
    def discount(self, row: CustomerGroup) -> str:
        return percent(row.discount_percent)


class DiscountForm(ShopScopedForm):
    constraint_errors = {"discount_value_range": ("value", "A percentage is between 0 and 100.")}

    def clean(self) -> None:
        super().clean()
        starts, ends = self.cleaned_data.get("starts_at"), self.cleaned_data.get("ends_at")
        if starts and ends and ends <= starts:
            self.add_error("ends_at", "The end is before the start.")


@admin.register(Discount)
class DiscountAdmin(ShopScopedAdmin):
    form = DiscountForm
    list_display = ["name", "reduction", "category", "from_subtotal", "starts", "ends", "is_active"]
    list_select_related = ["shop", "category"]
    list_filter = ["is_active", ("category", ShopRelatedFilter)]
    search_fields = ["name"]
    ordering = ["name", "id"]
    autocomplete_fields = ["category"]
    fields = ["name", "is_active", "kind", "value", "minimum_subtotal", "category", "starts_at", "ends_at"]

    from_subtotal = money("minimum_subtotal", "from")
    starts = moment("starts_at")
    ends = moment("ends_at")

    @display(description="reduction", ordering="value")
    def reduction(self, row: Discount) -> str:
        return percent(row.value) if row.kind == Discount.Kind.PERCENT else format_money(row.value, row.shop.currency)


class CountryForm(ShopScopedForm):
    def clean_country(self) -> str:
        country = self.cleaned_data["country"].upper()
        if not is_country(country):
            raise forms.ValidationError("Expected a code of two letters such as DE.")
        return country


@admin.register(TaxRate)
class TaxRateAdmin(ShopScopedAdmin):
    form = CountryForm
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
        help_text="Codes of two letters with commas between them, such as DE, AT. Empty: everywhere."
    )
    constraint_errors = {"shipping_rate_weight_range": ("maximum_weight", "Less than the smallest weight.")}

    def clean_countries(self) -> list[str]:
        countries = [country.upper() for country in self.cleaned_data["countries"]]
        if wrong := [country for country in countries if not is_country(country)]:
            raise forms.ValidationError(f"Not a code of two letters: {', '.join(wrong)}.")
        return countries


@admin.register(ShippingRate)
class ShippingRateAdmin(ShopScopedAdmin):
    form = ShippingRateForm
    list_display = ["name", "price_shown", "free", "goes_to", "is_active", "sort_order"]
    search_fields = ["name"]
    ordering = ["sort_order", "id"]
    fieldsets: Any = [
        (None, {"fields": ["name", "price", "free_from", "is_active", "sort_order"]}),
        ("Where it is offered", {"fields": ["countries", "minimum_weight", "maximum_weight"]}),
    ]

    price_shown = money("price")
    free = money("free_from", "free from")

    @display(description="countries")
    def goes_to(self, row: ShippingRate) -> str:
        return ", ".join(row.countries) or "everywhere"


def percent(value: Any) -> str:
    """`Decimal("19.000")` as `19%`."""
    return f"{value.normalize():f}%"


def is_country(code: str) -> bool:
    return re.fullmatch("[A-Z]{2}", code) is not None

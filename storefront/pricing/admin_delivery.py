"""The admin's pages for delivery: zones, rates with their tables, pick-up places."""

import csv
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminSelect2Widget,
    UnfoldAdminTextareaWidget,
)

from storefront.kit.countries import country_name
from storefront.kit.format import format_money
from storefront.pricing import queries, zones
from storefront.pricing.admin_fields import country_choices, normal_patterns
from storefront.pricing.models import DeliveryZone, PickupPlace, ShippingRate, ShippingRateStep
from storefront.pricing.rate_tables import COLUMNS, export_rates, import_rates
from storefront.pricing.tables import UnusableTable
from storefront.shops.admin_base import (
    PagedFormSet,
    ShopRelatedFilter,
    ShopScopedAdmin,
    ShopScopedTabularInline,
    money,
    view_and_edit,
)
from storefront.shops.admin_forms import ShopScopedForm, WordsField
from storefront.shops.rights import Right

RIGHTS = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)


class ZoneForm(ShopScopedForm):
    countries = forms.MultipleChoiceField(
        required=False,
        choices=country_choices,
        widget=UnfoldAdminSelect2MultipleWidget,
        help_text=DeliveryZone._meta.get_field("countries").help_text,
    )
    regions = WordsField(help_text=DeliveryZone._meta.get_field("regions").help_text, label="Only these regions")
    postcodes = WordsField(
        help_text=DeliveryZone._meta.get_field("postcodes").help_text,
        label="Only these postal codes",
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
    )
    constraint_errors = {"delivery_zone_name_once": ("name", "Another zone of this shop already has this name.")}

    def clean_postcodes(self) -> list[str]:
        return normal_patterns(self.cleaned_data["postcodes"])

    def clean(self) -> None:
        super().clean()
        given = self.cleaned_data
        for name in ("regions", "postcodes"):
            if given.get(name) and len(given.get("countries", ())) != 1:
                self.add_error(name, "Choose one country for them. Make a zone for each country.")
        if not self.errors:
            zone = DeliveryZone(pk=self.instance.pk, **{name: given[name] for name in ("countries", *PARTS)})
            if problem := zones.overlap(zone, queries.delivery_zones(self.shop)):
                self.add_error(*problem)


PARTS = ("regions", "postcodes")


@admin.register(DeliveryZone)
class DeliveryZoneAdmin(ShopScopedAdmin):
    empty_text = "A zone is where the same delivery costs the same: countries, regions or postal codes."
    form = ZoneForm
    rights = RIGHTS
    list_display = ["name", "where", "methods"]
    search_fields = ["name"]
    ordering = ["name", "id"]
    fields = ["name", "countries", "regions", "postcodes"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("rates")

    @display(description="addresses")
    def where(self, row: DeliveryZone) -> str:
        named = [country_name(code) for code in row.countries]
        shown = ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")
        parts = [*row.regions, *row.postcodes]
        more = f" and {len(parts) - 5} more" if len(parts) > 5 else ""
        return (shown or "All other countries") + (f": {', '.join(parts[:5])}{more}" if parts else "")

    @display(description="delivery methods")
    def methods(self, row: DeliveryZone) -> str:
        return ", ".join(rate.name for rate in row.rates.all() if rate.is_active) or "None: no delivery"


class StepForm(ShopScopedForm):
    constraint_errors = {
        "shipping_rate_step_once": ("up_to", "The table already has this row."),
        "shipping_rate_last_step_once": ("up_to", "Only one row can be for everything above."),
    }


class StepFormSet(PagedFormSet):
    def clean(self) -> None:
        super().clean()
        rows = [form.cleaned_data for form in self.forms if getattr(form, "cleaned_data", None)]
        kept = [row for row in rows if not row.get("DELETE")]
        has_table = self.instance.basis != ShippingRate.Basis.ORDER
        if has_table and not kept:
            raise forms.ValidationError("Enter at least one price, or choose one price for every order.")
        if kept and not has_table:
            raise forms.ValidationError("With one price for every order there is no table. Remove its rows.")


class StepInline(ShopScopedTabularInline):
    model = ShippingRateStep
    rights = RIGHTS
    form = StepForm
    formset = StepFormSet
    verbose_name_plural = "prices"
    fields = ["up_to", "price"]
    per_page = 1000


class ShippingRateForm(ShopScopedForm):
    constraint_errors = {
        "shipping_rate_weight_range": ("maximum_weight", "The maximum weight must not be below the minimum weight.")
    }

    class Meta:
        # A new shop has no zone yet.
        help_texts = {"zone": "Where it delivers to. The button beside it adds a zone."}


EXPLANATION = (
    f"A CSV file with the columns {', '.join(COLUMNS)}. Export the prices, change them in a spreadsheet, and import the"
    " file here. It replaces the prices of the rates that it names. Other rates stay as they are."
)


class ImportForm(forms.Form):
    file = forms.FileField(label="CSV file", widget=UnfoldAdminFileFieldWidget)


@admin.register(ShippingRate)
class ShippingRateAdmin(ShopScopedAdmin):
    empty_text = (
        "Say what delivery costs, by weight, price or number of items. Without rates, delivery is free everywhere."
    )
    form = ShippingRateForm
    rights = RIGHTS | {"export_prices": Right.VIEW_PRICES, "import_prices": Right.CHANGE_PRICES}
    list_display = ["name", "zone", "price_shown", "free_from_shown", "delivery_time", "is_active", "sort_order"]
    list_filter = [("zone", ShopRelatedFilter), "is_active"]
    list_select_related = ["shop", "zone"]
    search_fields = ["name", "zone__name"]
    ordering = ["zone__name", "sort_order", "id"]
    autocomplete_fields = ["zone"]
    inlines = [StepInline]
    actions_list = ["export_prices", "import_prices"]
    fieldsets: Any = [
        (None, {"fields": ["name", "zone", "delivery_time", "is_active", "sort_order"]}),
        ("Price", {"fields": ["basis", "price", "free_from", "free_with_discount"]}),
        ("Only for", {"fields": ["minimum_weight", "maximum_weight", "is_media_mail", "shipping_origin"]}),
    ]
    # Unfold evaluates this in the browser; without scripts the field is shown.
    conditional_fields = {"price": "basis == 'order'"}

    free_from_shown = money("free_from", "free from")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("steps")

    def get_changeform_initial_data(self, request: Any) -> dict[str, Any]:
        """Preselects the zone if there is only one."""
        zones = DeliveryZone.objects.filter(shop=request.shop).order_by("id").values_list("pk", flat=True)[:2]
        given = super().get_changeform_initial_data(request)
        return {"zone": zones[0]} | given if len(zones) == 1 else given

    @display(description="price")
    def price_shown(self, row: ShippingRate) -> str:
        prices = [step.price for step in row.steps.all()]
        if row.basis == ShippingRate.Basis.ORDER or not prices:
            return format_money(row.price, row.shop.currency)
        low, high = (format_money(price, row.shop.currency) for price in (min(prices), max(prices)))
        return f"{low} to {high}, {row.get_basis_display()}"

    def changelist_view(self, request: Any, extra_context: Any = None) -> HttpResponse:
        if request.method == "GET" and (count := queries.products_without_weight(request.shop)):
            products = reverse("admin:catalogue_product_changelist") + "?weight=none"
            text = "{} to send {} no weight, so rates by weight count 0 for {}. <a href='{}'>Show them</a>"
            some = (f"{count:,} products", "have", "them") if count > 1 else ("1 product", "has", "it")
            messages.warning(request, format_html(text, *some, products))
        return super().changelist_view(request, extra_context)

    @action(description="Export prices", icon="download", url_path="prices.csv")
    def export_prices(self, request: Any) -> HttpResponse:
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="delivery-prices.csv"'
        csv.writer(response).writerows(export_rates(request.shop))
        return response

    @action(description="Import prices", icon="upload", url_path="import")
    def import_prices(self, request: Any) -> HttpResponse:
        form = ImportForm(*(request.POST, request.FILES) if request.method == "POST" else ())
        back = reverse("admin:pricing_shippingrate_changelist")
        problems: list[str] = []
        if form.is_bound and form.is_valid():
            try:
                content = form.cleaned_data["file"].read()
                count = import_rates(shop=request.shop, content=content, now=request.now)
            except UnusableTable as unusable:
                problems = unusable.sentences
            else:
                self.message_user(request, f"Prices of {count:,} rate{'s' * (count != 1)} imported.", messages.SUCCESS)
                return HttpResponseRedirect(back)
        context = {"title": "Import delivery prices", "form": form, "problems": problems, "explanation": EXPLANATION}
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "back": back}
        return TemplateResponse(request, "pricing/admin/import_table.html", shared | context)


class PickupPlaceForm(ShopScopedForm):
    country = forms.ChoiceField(choices=country_choices, widget=UnfoldAdminSelect2Widget)
    constraint_errors = {"pickup_place_name_once": ("name", "Another place of this shop already has this name.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "country" in self.fields:
            self.fields["country"].initial = self.shop.country


@admin.register(PickupPlace)
class PickupPlaceAdmin(ShopScopedAdmin):
    empty_text = "Shoppers can collect their orders at the places that you list here."
    form = PickupPlaceForm
    rights = RIGHTS
    list_display = ["name", "city", "price_shown", "is_active", "sort_order"]
    search_fields = ["name", "city"]
    ordering = ["sort_order", "id"]
    fieldsets: Any = [
        (None, {"fields": ["name", "hours", "ready", "price", "is_active", "sort_order"]}),
        ("Address", {"fields": ["line1", "line2", "postal_code", "city", "region", "country"]}),
    ]

    price_shown = money("price")

"""The admin's pages for delivery: zones, rates with their tables, pick-up places."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from unfold.decorators import display
from unfold.widgets import (
    UnfoldAdminSelect2MultipleWidget,
    UnfoldAdminSelect2Widget,
    UnfoldAdminSelectWidget,
)

from storefront import audit
from storefront.kit.countries import country_name
from storefront.kit.format import format_count, format_money
from storefront.pricing import queries, zones
from storefront.pricing.admin_fields import PatternsField, country_choices, shortened
from storefront.pricing.models import DeliveryZone, PickupPlace, ShippingRate, ShippingRateStep
from storefront.pricing.rate_tables import COLUMNS, export_rates, import_rates
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm, WordsField
from storefront.staff.admin_parts import Moves, column, layout, list_deed, money, view_and_edit
from storefront.staff.admin_scope import PagedFormSet, ShopRelatedFilter, ShopScopedTabularInline
from storefront.staff.table_files import csv_download, import_page

RIGHTS = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)


class ZoneForm(ShopScopedForm):
    countries = forms.MultipleChoiceField(
        label=_lazy("Countries"),
        required=False,
        choices=country_choices,
        widget=UnfoldAdminSelect2MultipleWidget,
        help_text=DeliveryZone._meta.get_field("countries").help_text,
    )
    regions = WordsField(help_text=DeliveryZone._meta.get_field("regions").help_text, label=_lazy("Only these regions"))
    postcodes = PatternsField(help_text=DeliveryZone._meta.get_field("postcodes").help_text)
    constraint_errors = {"delivery_zone_name_once": ("name", _lazy("Another zone of this shop already has this name."))}

    def clean(self) -> None:
        super().clean()
        given = self.cleaned_data
        for name in ("regions", "postcodes"):
            if given.get(name) and len(given.get("countries", ())) != 1:
                self.add_error(name, _("Choose one country for them. Make a zone for each country."))
        if not self.errors:
            zone = DeliveryZone(pk=self.instance.pk, **{name: given[name] for name in ("countries", *PARTS)})
            if problem := zones.overlap(zone, queries.delivery_zones(self.shop)):
                self.add_error(*problem)


PARTS = ("regions", "postcodes")


def where_of(zone: DeliveryZone) -> str:
    named = shortened([country_name(code) for code in zone.countries]) or _("All other countries")
    parts = [*zone.regions, *zone.postcodes]
    return f"{named}: {shortened(parts)}" if parts else named


@admin.register(DeliveryZone)
class DeliveryZoneAdmin(ShopScopedAdmin):
    empty_text = _lazy("A zone is where the same delivery costs the same: countries, regions or postal codes.")
    form = ZoneForm
    rights = RIGHTS
    moves = Moves.NOTHING
    list_display = ["name", "where", "methods"]
    search_fields = ["name"]
    ordering = ["name", "id"]
    fields = ["name", "countries", "regions", "postcodes"]
    prefetched = ("rates",)

    where = column(_lazy("addresses"), where_of)
    methods = column(
        _lazy("delivery methods"),
        lambda row: ", ".join(rate.name for rate in row.rates.all() if rate.is_active) or _("None: no delivery"),
    )


class StepForm(ShopScopedForm):
    constraint_errors = {
        "shipping_rate_step_once": ("up_to", _lazy("The table already has this row.")),
        "shipping_rate_last_step_once": ("up_to", _lazy("Only one row can be for everything above.")),
    }


class StepFormSet(PagedFormSet):
    def clean(self) -> None:
        super().clean()
        rows = [form.cleaned_data for form in self.forms if getattr(form, "cleaned_data", None)]
        kept = [row for row in rows if not row.get("DELETE")]
        has_table = self.instance.basis != ShippingRate.Basis.ORDER
        if has_table and not kept:
            raise forms.ValidationError(_("Enter at least one price, or choose one price for every order."))
        if kept and not has_table:
            raise forms.ValidationError(_("With one price for every order there is no table. Remove its rows."))


class StepInline(ShopScopedTabularInline):
    model = ShippingRateStep
    form = StepForm
    formset = StepFormSet
    verbose_name_plural = _lazy("prices")
    fields = ["up_to", "price"]
    per_page = 1000


ALL_OTHERS = "*"


class ShippingRateForm(ShopScopedForm):
    """A rate with its zone: one that the shop has, or a new one of the countries that are chosen here."""

    constraint_errors = {
        "shipping_rate_weight_range": (
            "maximum_weight",
            _lazy("The maximum weight must not be below the minimum weight."),
        )
    }

    zone = forms.ModelChoiceField(
        queryset=DeliveryZone.objects.none(),
        required=False,
        label=_lazy("Delivers to"),
        empty_label=_lazy("Countries chosen here"),
        widget=UnfoldAdminSelectWidget,
        help_text=_lazy("Or a zone that the shop has already."),
    )
    countries = forms.MultipleChoiceField(
        label=_lazy("Countries"),
        required=False,
        choices=lambda: [(ALL_OTHERS, _("All other countries")), *country_choices()],
        widget=UnfoldAdminSelect2MultipleWidget,
    )
    # The zone that is made of the countries, when the rate is saved.
    new_zone: DeliveryZone | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in {"minimum_weight", "maximum_weight"} & set(self.fields):
            self.fields[name].label = f"{self.fields[name].label} (kg)"
        if "zone" in self.fields:
            zones_of_shop = DeliveryZone.objects.filter(shop=self.shop).order_by("name", "id")
            self.fields["zone"].queryset = zones_of_shop  # type: ignore[attr-defined]

    def clean(self) -> None:
        super().clean()
        if not self.cleaned_data.get("zone") and not {"zone", "countries"} & set(self.errors):
            self._find_or_make_zone(self.cleaned_data["countries"])

    def _find_or_make_zone(self, given: list[str]) -> None:
        """If two choose the same countries at once, the second gets the zone of the first."""
        Shop.objects.select_for_update(no_key=True).get(pk=self.shop.pk)
        existing = queries.delivery_zones(self.shop)
        zone = DeliveryZone(shop=self.shop, countries=[] if given == [ALL_OTHERS] else given)
        same = [each for each in existing if not zones.is_narrow(each) and set(each.countries) == set(zone.countries)]
        if not given:
            self.add_error("countries", _("Choose the countries to which it delivers, or a zone."))
        elif ALL_OTHERS in zone.countries:
            self.add_error("countries", _("Choose either all other countries, or countries."))
        elif same:
            self.cleaned_data["zone"] = same[0]
        elif problem := zones.overlap(zone, existing):
            self.add_error("countries", problem[1])
        else:
            zone.name = zones.free_name(where_of(zone), existing)
            self.new_zone = zone


EXPLANATION = format_lazy(
    _lazy(
        "A CSV file with the columns {columns}. Export the prices, change them in a spreadsheet, and import the file"
        " here. It replaces the prices of the rates that it names. Other rates stay as they are."
    ),
    columns=", ".join(COLUMNS),
)


@admin.register(ShippingRate)
class ShippingRateAdmin(ShopScopedAdmin):
    empty_text = _lazy(
        "Set what delivery costs, by weight, price or number of items. Without rates, delivery is free everywhere."
    )
    form = ShippingRateForm
    rights = RIGHTS
    moves = Moves.NOTHING
    list_display = ["name", "zone", "price_shown", "free_from_shown", "delivery_time", "is_active", "sort_order"]
    list_filter = [("zone", ShopRelatedFilter), "is_active"]
    list_select_related = ["shop", "zone"]
    search_fields = ["name", "zone__name"]
    ordering = ["zone__name", "sort_order", "id"]
    inlines = [StepInline]
    translated = ("name", "delivery_time")
    prefetched = ("steps",)
    fieldsets: Any = layout(
        "name basis price zone countries delivery_time is_active sort_order",
        "Free delivery: free_from free_with_discount",
        "Only for: minimum_weight maximum_weight is_media_mail shipping_origin",
    )
    # Unfold evaluates these in the browser; without scripts the fields are shown.
    conditional_fields = {"price": "basis == 'order'", "countries": "zone == ''"}

    free_from_shown = money("free_from", _lazy("free from"))

    def get_changeform_initial_data(self, request: Any) -> dict[str, Any]:
        """Preselects the zone if there is only one, and the shop's country for its first zone."""
        found = DeliveryZone.objects.filter(shop=request.shop).values_list("pk", flat=True)[:2]
        first = {"zone": found[0]} if len(found) == 1 else {} if found else {"countries": [request.shop.country]}
        return first | super().get_changeform_initial_data(request)

    def get_fieldsets(self, request: Any, obj: Any = None) -> Any:
        """Leaves out the choice of countries for users who may only view."""
        groups = super().get_fieldsets(request, obj)
        if self.has_change_permission(request):
            return groups
        (title, first), *others = groups
        return [(title, {"fields": [name for name in first["fields"] if name != "countries"]}), *others]

    def save_model(self, request: Any, obj: ShippingRate, form: Any, change: bool) -> None:
        if zone := form.new_zone:
            zone.save()
            audit.record_created(shop=request.shop, object=zone, now=request.now)
            obj.zone = zone
        super().save_model(request, obj, form, change)

    @display(description=_lazy("price"))
    def price_shown(self, row: ShippingRate) -> str:
        prices = [step.price for step in row.steps.all()]
        if row.basis == ShippingRate.Basis.ORDER or not prices:
            return format_money(row.price, row.shop.currency)
        low, high = (format_money(price, row.shop.currency) for price in (min(prices), max(prices)))
        return _("%(low)s to %(high)s, %(basis)s") % {
            "low": low,
            "high": high,
            "basis": row.get_basis_display(),
        }

    def changelist_view(self, request: Any, extra_context: Any = None) -> HttpResponse:
        if request.method == "GET" and (count := queries.products_without_weight(request.shop)):
            products = reverse("admin:catalogue_product_changelist") + "?weight=none"
            text = ngettext(
                "{count} product to send has no weight, so rates by weight count 0 for it. "
                "<a href='{url}'>Show them</a>",
                "{count} products to send have no weight, so rates by weight count 0 for them. "
                "<a href='{url}'>Show them</a>",
                count,
            )
            messages.warning(request, format_html(text, count=format_count(count), url=products))
        return super().changelist_view(request, extra_context)

    @list_deed(_lazy("Export prices"), Right.VIEW_PRICES, Moves.NOTHING, icon="download", url_path="prices.csv")
    def export_prices(self, request: Any) -> Any:
        return csv_download("delivery-prices.csv", export_rates(request.shop))

    @list_deed(_lazy("Import prices"), Right.CHANGE_PRICES, Moves.NOTHING, icon="upload", url_path="import")
    def import_prices(self, request: Any) -> Any:
        def load(content: bytes) -> str:
            count = import_rates(shop=request.shop, content=content, now=request.now)
            text = ngettext("Prices of %(count)s rate imported.", "Prices of %(count)s rates imported.", count)
            return text % {"count": format_count(count)}

        back = reverse("admin:pricing_shippingrate_changelist")
        return import_page(self, request, load, title=_("Import delivery prices"), explanation=EXPLANATION, back=back)


class PickupPlaceForm(ShopScopedForm):
    country = forms.ChoiceField(label=_lazy("Country"), choices=country_choices, widget=UnfoldAdminSelect2Widget)
    constraint_errors = {"pickup_place_name_once": ("name", _lazy("Another place of this shop already has this name."))}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "country" in self.fields:
            self.fields["country"].initial = self.shop.country


@admin.register(PickupPlace)
class PickupPlaceAdmin(ShopScopedAdmin):
    empty_text = _lazy("Shoppers can collect their orders at the places that you list here.")
    form = PickupPlaceForm
    rights = RIGHTS
    moves = Moves.NOTHING
    list_display = ["name", "city", "price_shown", "is_active", "sort_order"]
    translated = ("name", "hours", "ready")
    search_fields = ["name", "city"]
    ordering = ["sort_order", "id"]
    fieldsets: Any = layout(
        "name hours ready price is_active sort_order",
        "Address: line1 line2 postal_code city region country",
    )

    price_shown = money("price", _lazy("price"))

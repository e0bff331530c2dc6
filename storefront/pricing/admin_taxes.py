"""The admin's pages for taxes: the rates, and how a shop taxes its orders."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelect2Widget, UnfoldAdminTextareaWidget

from storefront.kit.countries import country_name
from storefront.kit.postal import region_key
from storefront.pricing.admin_fields import country_choices, normal_patterns, percent
from storefront.pricing.eu_rates import AS_OF, load_eu_rates, plan_eu_rates
from storefront.pricing.eu_vat import MEMBER_STATES, normal_vat_id
from storefront.pricing.models import TaxRate, TaxSettings
from storefront.shops.admin_base import ShopRelatedFilter, ShopScopedAdmin, view_and_edit
from storefront.shops.admin_forms import ShopScopedForm, WordsField
from storefront.shops.rights import Right

STANDARD = "Standard"


class TaxRateForm(ShopScopedForm):
    country = forms.ChoiceField(choices=country_choices, widget=UnfoldAdminSelect2Widget)
    postcodes = WordsField(
        help_text=TaxRate._meta.get_field("postcodes").help_text,
        label="Only these postal codes",
        widget=UnfoldAdminTextareaWidget({"rows": 3}),
    )
    constraint_errors = {
        "tax_rate_class_once": ("country", "This class already has a rate there. Change that one."),
        "tax_rate_once": ("country", "The standard class already has a rate there. Change that one."),
        "tax_rate_step_range": ("step", "Enter a number from 1 to 9."),
    }

    def clean_postcodes(self) -> list[str]:
        return normal_patterns(self.cleaned_data["postcodes"])

    def clean(self) -> None:
        super().clean()
        given = self.cleaned_data
        if given.get("is_compound") and given.get("step") == 1:
            self.add_error("is_compound", "There is no earlier step to be on top of. Give this rate step 2 or more.")
        if given.get("postcodes") and not self.errors:
            self._check_overlap(given)

    def _check_overlap(self, given: dict[str, Any]) -> None:
        """Refuse a second rate of the same step for the same addresses: neither would be more specific."""
        rows = TaxRate.objects.filter(
            shop=self.shop, tax_class=given["tax_class"], country=given["country"], step=given["step"]
        )
        for other in rows.exclude(pk=self.instance.pk):
            shared = [each for each in given["postcodes"] if each in other.postcodes]
            if shared and region_key(other.country, other.region) == region_key(other.country, given["region"]):
                self.add_error("postcodes", f"{other} has {shared[0]} already.")


@admin.register(TaxRate)
class TaxRateAdmin(ShopScopedAdmin):
    empty_text = "Without rates, no tax is charged. “Load EU rates” adds those of the EU."
    form = TaxRateForm
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES) | {"load_eu_rates": Right.CHANGE_PRICES}
    list_display = ["name", "where", "of_class", "rate", "step", "is_compound", "applies_to_shipping"]
    list_select_related = ["shop", "tax_class"]
    list_filter = [("tax_class", ShopRelatedFilter)]
    search_fields = ["name", "country", "region", "tax_class__name"]
    actions_list = ["load_eu_rates"]
    ordering = ["country", "region", "step", "id"]
    fieldsets: Any = [
        (None, {"fields": ["name", "percent", "tax_class", "applies_to_shipping"]}),
        ("Where", {"fields": ["country", "region", "postcodes"]}),
        ("Several taxes at one place", {"fields": ["step", "is_compound"]}),
    ]

    @display(description="where", ordering="country")
    def where(self, row: TaxRate) -> str:
        more = f" and {len(row.postcodes) - 5} more" if len(row.postcodes) > 5 else ""
        parts = ", ".join(filter(None, [row.region, *row.postcodes[:5]])) + more
        return country_name(row.country) + (f": {parts}" if parts else "")

    @display(description="tax class", ordering="tax_class__name")
    def of_class(self, row: TaxRate) -> str:
        return str(row.tax_class or STANDARD)

    @display(description="rate", ordering="percent")
    def rate(self, row: TaxRate) -> str:
        return percent(row.percent)

    @action(description="Load EU rates", icon="download", url_path="eu-rates")
    def load_eu_rates(self, request: Any) -> HttpResponse:
        back = reverse("admin:pricing_taxrate_changelist")
        if request.method == "POST":
            replaces = request.POST.get("replaces") == "on"
            done = load_eu_rates(shop=request.shop, replaces=replaces, now=request.now)
            self.message_user(request, done.summary, messages.SUCCESS)
            return HttpResponseRedirect(back)
        context = {
            "title": "Load the EU's VAT rates",
            "plan": plan_eu_rates(request.shop),
            "as_of": f"{AS_OF.day} {AS_OF:%b %Y}",
        }
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "back": back}
        return TemplateResponse(request, "pricing/admin/load_eu_rates.html", shared | context)


class TaxSettingsForm(ShopScopedForm):
    def clean_vat_id(self) -> str:
        given = self.cleaned_data["vat_id"].strip()
        try:
            return normal_vat_id(given) if given else ""
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None

    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("asks_vat_id") and self.instance.country not in MEMBER_STATES:
            where = country_name(self.instance.country)
            self.add_error("asks_vat_id", f"Only shops in the EU need VAT IDs. This shop sells from {where}.")


@admin.register(TaxSettings)
class TaxSettingsAdmin(ShopScopedAdmin):
    """The tax settings of the session's shop."""

    form = TaxSettingsForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    shop_lookup = "pk"
    list_select_related = False
    fieldsets: Any = [
        (None, {"fields": ["prices_include_tax", "tax_rounding"]}),
        ("Delivery", {"fields": ["delivery_tax", "delivery_tax_class"]}),
        ("Other countries", {"fields": ["eu_tax", "exports_at_net_price"]}),
        ("Businesses", {"fields": ["asks_vat_id", "vat_id"]}),
    ]
    # Unfold evaluates this in the browser; without scripts the field is shown.
    conditional_fields = {"delivery_tax_class": "delivery_tax == 'class'"}

    def changelist_view(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(reverse("admin:pricing_taxsettings_change", args=[request.shop.pk]))

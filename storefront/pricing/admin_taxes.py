"""The admin's pages for taxes: the rates, and how a shop taxes its orders."""

from typing import Any

from django import forms
from django.contrib import admin
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminSelect2Widget

from storefront.kit.countries import country_name
from storefront.kit.postal import region_key
from storefront.pricing.admin_fields import PatternsField, country_choices, percent, shortened
from storefront.pricing.eu_rates import AS_OF, load_eu_rates, plan_eu_rates
from storefront.pricing.eu_vat import MEMBER_STATES, normal_vat_id
from storefront.pricing.models import TaxRate, TaxSettings
from storefront.shops.rights import Right
from storefront.staff.admin_base import OneRowAdmin, ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, column, layout, list_deed, view_and_edit
from storefront.staff.admin_scope import ShopRelatedFilter

STANDARD = _lazy("Standard")


class TaxRateForm(ShopScopedForm):
    country = forms.ChoiceField(choices=country_choices, widget=UnfoldAdminSelect2Widget)
    postcodes = PatternsField(help_text=TaxRate._meta.get_field("postcodes").help_text)
    constraint_errors = {
        "tax_rate_class_once": ("country", _lazy("This class already has a rate there. Change that one.")),
        "tax_rate_once": ("country", _lazy("The standard class already has a rate there. Change that one.")),
        "tax_rate_step_range": ("step", _lazy("Enter a number from 1 to 9.")),
    }

    def clean(self) -> None:
        super().clean()
        given = self.cleaned_data
        if given.get("is_compound") and given.get("step") == 1:
            self.add_error("is_compound", _("There is no earlier step to be on top of. Give this rate step 2 or more."))
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
                self.add_error("postcodes", _("%(name)s has %(part)s already.") % {"name": other, "part": shared[0]})


def where_of(rate: TaxRate) -> str:
    parts = ", ".join(filter(None, [rate.region, shortened(rate.postcodes)]))
    return country_name(rate.country) + (f": {parts}" if parts else "")


@admin.register(TaxRate)
class TaxRateAdmin(ShopScopedAdmin):
    empty_text = _lazy("Without rates, no tax is charged. “Load EU rates” adds those of the EU.")
    form = TaxRateForm
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
    moves = Moves.NOTHING
    list_display = ["name", "where", "of_class", "rate", "step", "is_compound", "applies_to_shipping"]
    list_select_related = ["shop", "tax_class"]
    list_filter = [("tax_class", ShopRelatedFilter)]
    search_fields = ["name", "country", "region", "tax_class__name"]
    ordering = ["country", "region", "step", "id"]
    translated = ("name",)
    fieldsets: Any = layout(
        "name percent tax_class applies_to_shipping",
        "Where: country region postcodes",
        "Several taxes at one place: step is_compound",
    )

    where = column(_lazy("where"), where_of, by="country")
    of_class = column(_lazy("tax class"), lambda row: str(row.tax_class or STANDARD), by="tax_class__name")
    rate = column(_lazy("rate"), lambda row: percent(row.percent), by="percent")

    @list_deed(_lazy("Load EU rates"), Right.CHANGE_PRICES, Moves.NOTHING, icon="download", url_path="eu-rates")
    def load_eu_rates(self, request: Any) -> Any:
        if request.method == "POST":
            replaces = request.POST.get("replaces") == "on"
            done = load_eu_rates(shop=request.shop, replaces=replaces, now=request.now)
            return done.summary
        return self.page(
            request,
            "pricing/admin/load_eu_rates.html",
            title=_("Load the EU's VAT rates"),
            plan=plan_eu_rates(request.shop),
            as_of=f"{AS_OF.day} {AS_OF:%b %Y}",
            back=reverse("admin:pricing_taxrate_changelist"),
        )


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
            self.add_error(
                "asks_vat_id",
                _("Only shops in the EU need VAT IDs. This shop sells from %(where)s.") % {"where": where},
            )


@admin.register(TaxSettings)
class TaxSettingsAdmin(OneRowAdmin):
    """The tax settings of the session's shop."""

    menu_title = _lazy("Taxes")
    form = TaxSettingsForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    moves = Moves.NOTHING
    shop_lookup = "pk"
    list_select_related = False
    fieldsets: Any = layout(
        "prices_include_tax tax_rounding",
        "Delivery: delivery_tax delivery_tax_class",
        "Other countries: eu_tax exports_at_net_price",
        "Businesses: asks_vat_id vat_id",
    )
    # Unfold evaluates this in the browser; without scripts the field is shown.
    conditional_fields = {"delivery_tax_class": "delivery_tax == 'class'"}

    def the_row(self, request: Any) -> Any:
        return TaxSettings.objects.get(pk=request.shop.pk)

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from storefront.catalogue.jobs import rewrite_search_texts
from storefront.catalogue.models import OptionValue, PastPrice, Product, Variant
from storefront.checkout.first_steps import before_opening
from storefront.deployment.usage import Usage, usage_of
from storefront.kit import clock
from storefront.kit.currencies import decimals, problem_of
from storefront.kit.format import format_count
from storefront.kit.money import problem_of as problem_of_amount
from storefront.kit.money_field import MoneyField
from storefront.payments.accounts import available_providers
from storefront.pricing.discount_kinds import MONEY_KINDS
from storefront.pricing.models import Discount, GroupPrice, PickupPlace, ShippingRate, ShippingRateStep
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff import doors
from storefront.staff.admin import ShopAdmin, ShopForm
from storefront.staff.admin_forms import FurtherLanguagesField, check_further_languages
from storefront.staff.admin_parts import Moves, column, deed, layout, sure

# Tables with amounts in the shop's currency. Orders, payments and gift cards have a currency of their own.
ENTERED = (Product, Variant, OptionValue, GroupPrice, ShippingRate, ShippingRateStep, PickupPlace, Discount)


class ShopWithPaymentsForm(ShopForm):
    payment_methods = forms.MultipleChoiceField(
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        required=False,
        label=_lazy("Payment methods"),
        help_text=_lazy("Payment methods that shoppers can choose. Without any, shoppers can place only free orders."),
    )
    further_languages = FurtherLanguagesField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        available = available_providers(self.shop).values()
        self.fields["payment_methods"].choices = [(each.name, each.label_for_merchants) for each in available]  # type: ignore[attr-defined]

    def clean_currency(self) -> str:
        currency = self.cleaned_data["currency"].strip().upper()
        if currency != self.instance.currency and (problem := problem_of_change(self.shop, currency)):
            raise forms.ValidationError(problem)
        return currency

    def clean(self) -> Any:
        cleaned = super().clean()
        check_further_languages(self)
        return cleaned


@admin.register(Shop)
class ShopWithPaymentsAdmin(ShopAdmin):
    form = ShopWithPaymentsForm
    translated = ("manual_payment_instructions",)
    fieldsets: Any = layout(
        "name email sender country timezone language further_languages currency",
        "Payment: payment_methods manual_payment_instructions gift_card_expiry_days",
        "New orders: tells_of_orders order_emails",
        "Web address: domain base_url",
        "Quotas of this deployment: quotas",
    )
    quotas = column(_lazy("used"), lambda shop: format_html_join(" ", "<p>{}</p>", _limited(shop)))

    def get_readonly_fields(self, request: Any, obj: Any = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "quotas"]

    @deed(_lazy("Open the doors"), Right.MANAGE_SETTINGS, Moves.NOTHING, icon="door_open")
    @sure(
        _lazy("Open the doors?"),
        _lazy("Open the doors"),
        _lazy("Everybody can then see the shop and order."),
        more=before_opening,
    )
    def open_doors(self, request: Any, shop: Any) -> str:
        doors.open_doors(shop=shop, now=request.now)
        return _("The doors are open.")

    def save_model(self, request: Any, obj: Shop, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "currency" in form.changed_data:
            # Past prices are in the previous currency.
            PastPrice.objects.filter(shop=obj).delete()
        if {"language", "further_languages"} & set(form.changed_data):
            rewrite_search_texts.enqueue(obj.pk)


def _limited(shop: Shop) -> list[tuple[Usage]]:
    return [(usage,) for usage in usage_of(shop, now=clock.now()) if usage.most]


def problem_of_change(shop: Shop, currency: str) -> str:
    """Why the shop cannot change to this currency, as a sentence; empty if it can."""
    if problem := problem_of(currency):
        return problem
    amounts = 0 if decimals(currency) else _amounts_without(shop, currency)
    if not amounts:
        return ""
    return ngettext(
        "1 price or amount of the shop has decimals, and %(currency)s has none. Make them whole numbers first.",
        "%(count)s prices and amounts of the shop have decimals, and %(currency)s has none. Make them whole numbers "
        "first.",
        amounts,
    ) % {"count": format_count(amounts), "currency": currency}


def _amounts_without(shop: Shop, currency: str) -> int:
    """Count the entered amounts that cannot be expressed in the currency."""
    found = 0
    for model in ENTERED:
        rows = model._default_manager.filter(shop=shop)
        for field in model._meta.concrete_fields:
            if isinstance(field, MoneyField):
                found += _count(rows, field.name, currency)
    amounts_off = Discount.objects.filter(shop=shop, kind__in=MONEY_KINDS)
    return found + _count(amounts_off, "value", currency)


def _count(rows: Any, column: str, currency: str) -> int:
    counted = rows.exclude(**{column: None}).order_by().values_list(column).annotate(Count("pk"))
    return sum(count for amount, count in counted if problem_of_amount(amount, currency))

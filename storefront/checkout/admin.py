from collections.abc import Iterator
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.utils.html import format_html_join
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from storefront.catalogue.jobs import rewrite_search_texts
from storefront.catalogue.models import PastPrice
from storefront.catalogue.product_quota import product_count
from storefront.kit import clock
from storefront.payments.accounts import available_providers
from storefront.pricing.currency_changes import problem_of_change
from storefront.shops import quotas
from storefront.shops.models import Shop
from storefront.shops.task_quota import unfinished_tasks
from storefront.staff.admin import ShopAdmin, ShopForm
from storefront.staff.admin_parts import column, layout

QUOTA_TITLES = {
    "files": "Files",
    "products": "Products",
    "orders": "Orders today",
    "mails": "Mails this hour",
    "tasks": "Imports and exports that are not finished",
}


class ShopWithPaymentsForm(ShopForm):
    payment_methods = forms.MultipleChoiceField(
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        required=False,
        label="Payment methods",
        help_text="Payment methods that shoppers can choose. Without any, shoppers can place only free orders.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        available = available_providers(self.shop).values()
        self.fields["payment_methods"].choices = [(each.name, each.label_for_merchants) for each in available]  # type: ignore[attr-defined]

    def clean_currency(self) -> str:
        currency = self.cleaned_data["currency"].strip().upper()
        if currency != self.instance.currency and (problem := problem_of_change(self.shop, currency)):
            raise forms.ValidationError(problem)
        return currency


@admin.register(Shop)
class ShopWithPaymentsAdmin(ShopAdmin):
    form = ShopWithPaymentsForm
    fieldsets: Any = layout(
        "name email sender country timezone language currency",
        "Payment: payment_methods manual_payment_instructions gift_card_expiry_days",
        "New orders: tells_of_orders order_emails",
        "Web address: domain base_url is_active",
        "Quotas of this deployment: quotas",
    )
    quotas = column("used", lambda shop: format_html_join(" ", "<p>{}</p>", ((text,) for text in _quotas(shop))))

    def get_readonly_fields(self, request: Any, obj: Any = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "quotas"]

    def save_model(self, request: Any, obj: Shop, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "currency" in form.changed_data:
            # Past prices are in the previous currency.
            PastPrice.objects.filter(shop=obj).delete()
        if "language" in form.changed_data:
            rewrite_search_texts.enqueue(obj.pk)


def _quotas(shop: Shop) -> Iterator[str]:
    """How much of each quota the shop has used, for people."""
    now = clock.now()
    counts = {"products": lambda: product_count(shop), "tasks": lambda: unfinished_tasks(shop)}
    for kind, title in QUOTA_TITLES.items():
        if most := settings.QUOTAS[kind]:
            used = counts[kind]() if kind in counts else quotas.used(kind, shop_id=shop.pk, now=now)
            yield f"{title}: {quotas.shown(kind, used)} of {quotas.shown(kind, most)}"

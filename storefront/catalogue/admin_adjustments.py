from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget

from storefront.catalogue.inventory_actions import AdjustBy, Author, adjust_stock
from storefront.catalogue.models import Product, StockAdjustment, Variant
from storefront.catalogue.parsing import LARGEST_INTEGER
from storefront.catalogue.rules import full_name
from storefront.shops.admin_base import EndlessAdmin, ReadOnlyInline, ShopScopedAdmin, moment
from storefront.shops.rights import Right

WITH = ["shop", "product", "variant", "installation__app", "token", "user"]


class AdjustForm(BaseDialogForm):
    delta = forms.IntegerField(
        label="Change",
        min_value=-LARGEST_INTEGER,
        max_value=LARGEST_INTEGER,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Units to add to the stock. Use a negative number to remove units: -3 removes three.",
    )
    reason = forms.CharField(max_length=255, widget=UnfoldAdminTextInputWidget)


class StockAdjustingAdmin(ShopScopedAdmin):
    """A product's or variant's page with the action *Adjust stock*, also for staff who cannot change the row."""

    @action(
        description="Adjust stock",
        icon="inventory",
        dialog={
            "title": "Adjust stock",
            "description": "The change is applied to the current stock and recorded with its reason.",
            "form_class": AdjustForm,
            "form_submit_text": "Adjust",
        },
    )
    def adjust(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        row: Product | Variant = self.row_or_404(request, object_id)
        product_id, variant_id = (row.product_id, row.pk) if isinstance(row, Variant) else (row.pk, None)
        adjust_stock(
            shop=request.shop,
            product_id=product_id,
            variant_id=variant_id,
            change=AdjustBy(form.cleaned_data["delta"]),
            reason=form.cleaned_data["reason"],
            author=Author(user=request.user),
            now=request.now,
        )
        return self.done(request, row, "Stock adjusted.")


class AdjustmentColumns:
    """The columns that the list of adjustments and a product's page share."""

    made = moment("made_at", "when")

    @display(description="change", ordering="delta")
    def change(self, row: StockAdjustment) -> str:
        return f"{row.delta:+,}"

    @display(description="by")
    def who(self, row: StockAdjustment) -> str:
        return row.made_by


class StockAdjustmentInline(AdjustmentColumns, ReadOnlyInline):
    model = StockAdjustment
    rights = {"view": Right.VIEW_PRODUCTS}
    tab = True
    per_page = 20
    verbose_name = "stock adjustment"
    verbose_name_plural = "stock adjustments"
    fields = readonly_fields = ["made", "variant", "change", "stock_after", "reason", "who"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related(*WITH)


@admin.register(StockAdjustment)
class StockAdjustmentAdmin(AdjustmentColumns, EndlessAdmin):
    rights = {"view": Right.VIEW_PRODUCTS}
    list_display = ["made", "item", "change", "stock_after", "reason", "who"]
    list_select_related = WITH
    search_fields = ["product__sort_name", "product__sku", "variant__sku", "reason"]
    ordering = ["-id"]
    fields = readonly_fields = ["made", "product", "variant", "change", "stock_after", "reason", "who"]

    @display(description="product")
    def item(self, row: StockAdjustment) -> str:
        return full_name(row.product.name, row.variant.name if row.variant else None)

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from storefront.catalogue.models import StockAdjustment
from storefront.catalogue.rules import full_name
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, moment

WITH = ["shop", "product", "variant", "installation__app", "token", "user"]


class Shown:
    """The columns that both the list and a product's page show."""

    made = moment("made_at", "when")

    @display(description="change", ordering="delta")
    def change(self, row: StockAdjustment) -> str:
        return f"{row.delta:+,}"

    @display(description="by")
    def who(self, row: StockAdjustment) -> str:
        return row.made_by


class StockAdjustmentInline(Shown, ReadOnlyInline):
    model = StockAdjustment
    tab = True
    per_page = 20
    verbose_name = "stock put right"
    verbose_name_plural = "stock put right"
    fields = readonly_fields = ["made", "variant", "change", "stock_after", "reason", "who"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related(*WITH)


@admin.register(StockAdjustment)
class StockAdjustmentAdmin(Shown, ReadOnlyAdmin):
    paginator = InfinitePaginator
    list_display = ["made", "goods", "change", "stock_after", "reason", "who"]
    list_select_related = WITH
    search_fields = ["product__sort_name", "product__sku", "variant__sku", "reason"]
    ordering = ["-id"]
    fields = readonly_fields = ["made", "product", "variant", "change", "stock_after", "reason", "who"]

    @display(description="goods")
    def goods(self, row: StockAdjustment) -> str:
        return full_name(row.product.name, row.variant.name if row.variant else None)

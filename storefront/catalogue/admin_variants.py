from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from storefront.catalogue import actions, events
from storefront.catalogue.admin_forms import StockForm, VariantForm
from storefront.catalogue.inventory_actions import note_adjustments
from storefront.catalogue.models import Media, Product, Variant
from storefront.shops.admin_base import ShopScopedAdmin, money


@admin.register(Variant)
class VariantAdmin(ShopScopedAdmin):
    """All of one variant; variants are made and deleted with their product."""

    form = VariantForm
    can_add = can_delete_rows = False
    list_display = ["product", "name", "sku", "price_shown", "stock_qty", "is_active"]
    list_display_links = ["product", "name"]
    list_select_related = ["shop", "product"]
    list_filter = ["is_active"]
    search_fields = ["name", "sku", "product__sort_name"]
    ordering = ["product__sort_name", "sort_order", "id"]
    readonly_fields = ["product"]
    fieldsets: Any = [
        (None, {"fields": ["product", "name", "option_values", "sku", "barcode", "is_active", "image", "sort_order"]}),
        ("Price", {"fields": ["price", "compare_price", "cost_price"]}),
        ("Stock", {"fields": ["stock_qty", "track_inventory", "allow_backorders", "weight"]}),
    ]

    price_shown = money("price")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).filter(product__deleted_at=None)

    def choice_label(self, row: Variant) -> str:
        return f"{row.product.name}, {row.name}"

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        if "image" in form.base_fields:
            form.base_fields["image"].queryset = Media.objects.filter(shop=request.shop, product=obj.product)  # type: ignore[attr-defined]
        return form

    def save_model(self, request: Any, obj: Variant, form: StockForm, change: bool) -> None:
        # The product before its variant, as all who lock both.
        product = Product.objects.select_for_update(no_key=True).get(shop=request.shop, pk=obj.product_id)
        before = events.known(request.shop, [product.pk])
        form.stock_as_difference()
        super().save_model(request, obj, form, change)
        # Whoever reads what changed since a moment reads products.
        actions.settle_product(product=product, before=before, now=request.now)
        note_adjustments(shop=request.shop, before=before, user=request.user, now=request.now)

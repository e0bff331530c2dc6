from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.catalogue import actions, events
from storefront.catalogue.admin_pages.adjustments import WAITING, StockAdjustingAdmin
from storefront.catalogue.admin_pages.forms import StockForm
from storefront.catalogue.admin_pages.rows import choice_names
from storefront.catalogue.admin_pages.variant_forms import VariantForm
from storefront.catalogue.models import Media, Product, Variant
from storefront.shops.rights import Right
from storefront.staff.admin_parts import Moves, layout, money


@admin.register(Variant)
class VariantAdmin(StockAdjustingAdmin):
    """All fields of a variant. Variants are created and deleted on their product's page."""

    form = VariantForm
    rights = {"view": Right.VIEW_PRODUCTS, "change": Right.CHANGE_PRODUCTS}
    moves = Moves.NOTHING
    list_display = ["product", "name", "sku", "price_shown", "stock_qty", "is_active"]
    list_display_links = ["product", "name"]
    list_select_related = ["shop", "product"]
    list_filter = ["is_active"]
    search_fields = ["name", "sku", "product__sort_name"]
    ordering = ["product__sort_name", "sort_order", "id"]
    readonly_fields = ["product", "waiting"]
    fieldsets: Any = layout(
        "product name option_values sku barcode is_active image sort_order",
        "Price: price compare_price sale_price sale_from sale_until cost_price",
        "Stock: stock_qty track_inventory allow_backorders weight waiting",
    )

    price_shown = money("price", _lazy("price"))

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).filter(product__deleted_at=None)

    waiting = WAITING

    def history_of(self, row: Variant) -> audit.Object:
        """The product's history, which includes changes of its variants."""
        return audit.object_of(row.product)

    def choice_label(self, row: Variant) -> str:
        return f"{row.product.name}, {row.name}"

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        if obj is not None:
            form.choice_names = choice_names(obj.product, [obj.option_values])
        if "image" in form.base_fields:
            form.base_fields["image"].queryset = Media.objects.filter(shop=request.shop, product=obj.product)  # type: ignore[attr-defined]
        return form

    def save_model(self, request: Any, obj: Variant, form: StockForm, change: bool) -> None:
        # The product is locked before its variant, as everywhere that locks both.
        product = Product.objects.select_for_update(no_key=True).get(shop=request.shop, pk=obj.product_id)
        before = events.take_snapshot(request.shop, [product.pk])
        form.set_stock_difference()
        super().save_model(request, obj, form, change)
        # The product's `updated_at` changes too, since `updated_since` filters by it.
        actions.finish_product_update(product=product, before=before, now=request.now)

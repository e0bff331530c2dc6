"""Tables within the admin's page of a product: options, items of a bundle, related products."""

from storefront.catalogue.admin_forms import BundleItemForm, OptionForm, RelatedProductForm
from storefront.catalogue.models import BundleItem, Option, OptionValue, RelatedProduct
from storefront.shops.admin_base import ShopScopedTabularInline, view_and_edit
from storefront.shops.rights import Right


class OptionValueInline(ShopScopedTabularInline):
    model = OptionValue
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    fields = ["label", "price", "sort_order"]
    ordering_field = "sort_order"
    hide_ordering_field = True


class OptionInline(ShopScopedTabularInline):
    model = Option
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    form = OptionForm
    tab = True
    fields = ["name", "type", "required", "sort_order"]
    inlines = [OptionValueInline]


class BundleItemInline(ShopScopedTabularInline):
    model = BundleItem
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    form = BundleItemForm
    fk_name = "bundle"
    tab = True
    verbose_name = "bundle item"
    verbose_name_plural = "bundle items"
    fields = ["product", "variant", "qty", "sort_order"]
    autocomplete_fields = ["product", "variant"]


class RelatedProductInline(ShopScopedTabularInline):
    model = RelatedProduct
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    form = RelatedProductForm
    fk_name = "product"
    tab = True
    verbose_name = "related product"
    verbose_name_plural = "related products"
    fields = ["related_product", "kind", "sort_order"]
    autocomplete_fields = ["related_product"]

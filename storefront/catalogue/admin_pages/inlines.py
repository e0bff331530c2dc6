"""Tables within the admin's page of a product: variants, options, items of a bundle, related products."""

from typing import Any

from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.admin_pages.forms import BundleItemForm, OptionForm, RelatedProductForm
from storefront.catalogue.admin_pages.rows import choice_names
from storefront.catalogue.admin_pages.variant_forms import VariantFormSet, VariantRowForm
from storefront.catalogue.models import BundleItem, Option, OptionValue, Product, RelatedProduct, Variant
from storefront.staff.admin_scope import ShopScopedTabularInline
from storefront.staff.form_rows import MAX_ROWS_OF_FIELD


class VariantInline(ShopScopedTabularInline):
    """The columns that merchants change often. The others are on the variant's own page, to which each row links."""

    model = Variant
    form = VariantRowForm
    formset = VariantFormSet
    slot = "variants"
    template = "catalogue/admin/variants.html"
    per_page = 100
    # As many as `variants.js` makes of the choices.
    max_new_rows = 250
    related = ("image",)
    fields = ["name", "option_values", "sku", "price", "compare_price", "stock_qty", "allow_backorders", "is_active"]

    def get_formset(self, request: Any, obj: Product | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        formset.form.choice_names = names_of_form(request, obj)
        return formset


class OptionValueInline(ShopScopedTabularInline):
    model = OptionValue
    fields = ["label", "price", "sort_order"]
    ordering_field = "sort_order"
    hide_ordering_field = True


class OptionInline(ShopScopedTabularInline):
    model = Option
    form = OptionForm
    verbose_name = _lazy("extra")
    verbose_name_plural = _lazy("extras, such as an engraving")
    slot = "more"
    classes = ("collapse",)
    fields = ["name", "type", "required", "max_length", "sort_order"]
    inlines = [OptionValueInline]


class BundleItemInline(ShopScopedTabularInline):
    model = BundleItem
    form = BundleItemForm
    fk_name = "bundle"
    slot = "more"
    classes = ("collapse",)
    verbose_name = _lazy("part of the bundle")
    verbose_name_plural = _lazy("parts of the bundle")
    fields = ["product", "variant", "qty", "sort_order"]
    autocomplete_fields = ["product", "variant"]


class RelatedProductInline(ShopScopedTabularInline):
    model = RelatedProduct
    form = RelatedProductForm
    fk_name = "product"
    slot = "more"
    classes = ("collapse",)
    verbose_name = _lazy("related product")
    verbose_name_plural = _lazy("related products")
    fields = ["related_product", "kind", "sort_order"]
    autocomplete_fields = ["related_product"]


def names_of_form(request: Any, product: Product | None) -> list[str]:
    """The names of the choices in the form that was sent, else those of the product."""
    rows = str(request.POST.get("choices-rows", ""))
    if rows.isascii() and rows.isdigit():
        numbers = range(min(int(rows), MAX_ROWS_OF_FIELD))
        return [request.POST.get(f"choices-{number}-name", "").strip() for number in numbers]
    return choice_names(product, option_values_of(product)) if product else []


def option_values_of(product: Product) -> list[dict[str, str]]:
    """The values of the product's choices, for each of its variants."""
    rows = Variant.objects.filter(shop=product.shop_id, product=product.pk).order_by("sort_order", "id")
    return list(rows.values_list("option_values", flat=True))

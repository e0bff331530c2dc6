from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from storefront.catalogue import actions, rules
from storefront.catalogue.admin_pages.adjustments import WAITING, StockAdjustingAdmin, StockAdjustmentInline
from storefront.catalogue.admin_pages.bulk import BulkEditAdmin
from storefront.catalogue.admin_pages.files import DigitalFileInline, UploadsAdmin
from storefront.catalogue.admin_pages.forms import ProductForm
from storefront.catalogue.admin_pages.imported import ImportFilter
from storefront.catalogue.admin_pages.inlines import BundleItemInline, OptionInline, RelatedProductInline, VariantInline
from storefront.catalogue.admin_pages.layout import FIELDSETS
from storefront.catalogue.admin_pages.pictures import MediaInline, thumbnail
from storefront.catalogue.admin_pages.row_values import RowValuesAdmin
from storefront.catalogue.admin_pages.saving import SavingAdmin
from storefront.catalogue.admin_pages.translations import form_with_parts
from storefront.catalogue.digital_files import without_file
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.translating import TEXTS
from storefront.catalogue.weights import without_weight
from storefront.kit.format import format_count, format_money
from storefront.kit.refusals import Refusal
from storefront.shops.places import page_address
from storefront.shops.rights import Right
from storefront.staff.admin_editor import WithEditor
from storefront.staff.admin_parts import (
    PRIMARY,
    Moves,
    asks,
    choice_filter,
    chosen_deed,
    column,
    deed,
    moment,
    view_and_edit,
)
from storefront.staff.admin_saved_views import WithSavedViews
from storefront.staff.admin_scope import ShopRelatedFilter
from storefront.staff.admin_translations import missing_filter

NO_PICTURE = '<span class="thumbnail" role="img" aria-label="{}"></span>'
STATUS_COLOURS = {"active": "success", "draft": "info", "archived": "warning"}


def low_stock() -> Q:
    """The condition for tracked stock at or below the low stock threshold."""
    return Q(track_inventory=True, stock_qty__lte=F("low_stock_threshold"))


STOCK = {
    "low": (_lazy("Low"), lambda rows, request: rows.filter(low_stock(), deleted_at=None)),
    "out": (_lazy("Sold out"), lambda rows, request: rows.filter(track_inventory=True, stock_qty__lte=0)),
}
WEIGHT = {
    "none": (_lazy("To send, without a weight"), lambda rows, request: rows.filter(without_weight(), status="active")),
}
# Deleted products are listed only with this filter, to restore them.
DELETED = {"yes": (_lazy("Deleted products"), lambda rows, request: rows.exclude(deleted_at=None))}


def price_of(row: Product) -> str:
    prices = [variant.price for variant in row.variants.all() if variant.is_active]
    if row.type != Product.Type.VARIABLE or not prices:
        return format_money(row.price, row.shop.currency)
    return _("from %(price)s") % {"price": format_money(min(prices), row.shop.currency)}


def stock_of(row: Product) -> str:
    if row.type == Product.Type.VARIABLE:
        variants = row.variants.all()
        counted = [variant.stock_qty for variant in variants if variant.track_inventory]
        return ngettext("%(pieces)s in %(count)d variant", "%(pieces)s in %(count)d variants", len(variants)) % {
            "pieces": format_count(sum(counted)),
            "count": len(variants),
        }
    return format_count(row.stock_qty) if row.track_inventory else _("not tracked")


def picture_of(row: Product) -> str:
    first = next(iter(row.media.all()), None)
    return thumbnail(first, row.name) if first else format_html(NO_PICTURE, row.name)


@admin.register(Product)
class ProductAdmin(
    RowValuesAdmin, BulkEditAdmin, UploadsAdmin, SavingAdmin, WithEditor, StockAdjustingAdmin, WithSavedViews
):
    icon = "sell"
    empty_text = _lazy("Add your first product here, or import all of them from a file.")
    form = ProductForm
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    moves = Moves.NOTHING
    saves_views = Right.CHANGE_PRODUCTS
    list_display = ["picture", "name", "sku", "state", "price_shown", "stock", "changed"]
    list_display_links = ["name"]
    on_phone = ("name", "state", "price_shown", "stock")
    named_on_phone = ("stock",)
    list_filter = [
        *("status", ("categories", ShopRelatedFilter), choice_filter(_lazy("stock"), "stock", STOCK), "type"),
        *(("brand", ShopRelatedFilter), choice_filter(_lazy("weight"), "weight", WEIGHT)),
        *(missing_filter(*TEXTS), ImportFilter),
        choice_filter(_lazy("deleted"), "deleted", DELETED, lambda rows, request: rows.filter(deleted_at=None)),
    ]
    search_fields = ["sort_name", "sku", "variants__sku"]
    ordering = ["-last_change__updated_at", "-id"]
    autocomplete_fields = ["brand", "vendor"]
    inlines = [
        *(MediaInline, VariantInline, OptionInline, DigitalFileInline),
        *(BundleItemInline, RelatedProductInline, StockAdjustmentInline),
    ]
    fieldsets: Any = FIELDSETS
    readonly_fields = ["waiting"]
    prefetched = ("media", "variants")
    reads_ids_first = True
    rich_texts = ("description", "short_description")
    translated = (*TEXTS, "slug")
    change_form_template = "catalogue/admin/product.html"

    changed = moment("updated_at", _lazy("last change"), by="last_change__updated_at")

    class Media:
        js = ["shops/uploads.js", *(f"catalogue/{name}.js" for name in ("rows", "pictures", "variants", "product"))]
        css = {"all": ["catalogue/product.css"]}

    picture = column(_lazy("picture"), picture_of)
    state = column(
        _lazy("status"),
        lambda row: ("deleted", _("Deleted")) if row.deleted_at else (row.status, row.get_status_display()),
        by="status",
        label={**STATUS_COLOURS, "deleted": "danger"},
    )

    price_shown = column(_lazy("price"), price_of, by="price")
    stock = column(_lazy("stock"), stock_of, by="stock_qty")
    waiting = WAITING
    choices = column(_lazy("choices"), lambda row: _as_lines(each for each in row.attributes if each.get("variation")))
    details = column(
        _lazy("details"), lambda row: _as_lines(each for each in row.attributes if not each.get("variation"))
    )

    # In place of the form's field, for staff who can only view products.
    in_categories = column(_lazy("categories"), lambda row: ", ".join(map(str, row.categories.all())) or "–")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Nobody can wait for a product that is still to be added, or that has no stock of its own. Only a product that
        is stored has parts to translate."""
        waits = obj is not None and obj.type in (Product.Type.SIMPLE, Product.Type.VARIABLE)
        left_out = {*(() if waits else ["waiting"]), *(() if obj and self.languages(request, obj) else ["parts"])}
        groups = [
            (title, options | {"fields": [name for name in options["fields"] if name not in left_out]})
            for title, options in super().get_fieldsets(request, obj)
        ]
        return [(title, options) for title, options in groups if options["fields"]]

    def form_in_languages(self, request: Any, codes: Iterable[str]) -> Any:
        codes = list(codes)
        return form_with_parts(super().form_in_languages(request, codes), codes)

    def get_paginator(self, request: Any, queryset: QuerySet, *args: Any, **kwargs: Any) -> Any:
        # With the condition of the indexes that count.
        paginator = super().get_paginator(request, queryset.filter(pk__gt=0), *args, **kwargs)
        if paginator.count and "deleted" not in request.GET:
            # The database goes by the index of last changes if only products with one are asked for: all that are not
            # deleted.
            of_status = {"last_change__status": status} if (status := request.GET.get("status__exact")) else {}
            paginator.object_list = queryset.filter(last_change__shop=request.shop.pk, **of_status)
        return paginator

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> Any:
        # `sort_name` has no case and no accents. The databases differ in how they compare these.
        by_name = Q()
        for word in search_term.split():
            by_name &= Q(sort_name__contains=rules.sort_name(word))
        variants = Variant.objects.filter(shop=request.shop, sku__icontains=search_term)  # type: ignore[attr-defined]
        found = by_name | Q(sku__icontains=search_term) | Q(pk__in=variants.values("product"))
        return (queryset.filter(found) if search_term.strip() else queryset), False

    def view_on_site(self, obj: Product) -> str | None:
        # The slug is empty while an invalid form is shown again.
        return obj.slug and page_address("website:product", obj.slug, shop=obj.shop)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A deleted product can be looked at and restored, not changed."""
        return super().has_change_permission(request, obj) and getattr(obj, "deleted_at", None) is None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and getattr(obj, "deleted_at", None) is None

    def offers(self, row: Product, name: str) -> bool:
        """A variable product has no stock of its own."""
        if name == "restore":
            return row.deleted_at is not None
        return row.deleted_at is None and row.type != Product.Type.VARIABLE

    def offers_chosen(self, request: Any, name: str) -> bool:
        """Deleted products can be restored, and nothing else."""
        return (name == "restore_chosen") == (request.GET.get("deleted") == "yes")

    def delete_model(self, request: Any, obj: Product) -> None:
        actions.delete_product(shop=request.shop, product=obj, now=request.now)

    def delete_queryset(self, request: Any, queryset: QuerySet) -> None:
        refused = []
        for product in queryset.filter(deleted_at=None):
            try:
                actions.delete_product(shop=request.shop, product=product, now=request.now)
            except Refusal as refusal:
                refused.append(refusal.text)
        if refused:
            self.message_user(request, " ".join(refused), messages.WARNING)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """Only the product: deleting marks it as deleted, and its children stay."""
        return [str(product) for product in objs], {"products": len(objs)}, set(), []

    @chosen_deed(_lazy("Publish"), Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def publish(self, request: Any, queryset: QuerySet) -> str:
        lacking = without_file(request.shop, list(queryset.values_list("pk", flat=True)))
        if lacking:
            names = ", ".join(product.name for product in lacking)
            self.message_user(
                request,
                _("Not published, because buyers would not get a file: %(names)s.") % {"names": names},
                messages.WARNING,
            )
        return self._set_status(request, queryset.exclude(pk__in=[each.pk for each in lacking]), Product.Status.ACTIVE)

    @chosen_deed(_lazy("Unpublish (back to draft)"), Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def unpublish(self, request: Any, queryset: QuerySet) -> str:
        return self._set_status(request, queryset, Product.Status.DRAFT)

    @chosen_deed(_lazy("Archive"), Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def archive(self, request: Any, queryset: QuerySet) -> str:
        return self._set_status(request, queryset, Product.Status.ARCHIVED)

    def _set_status(self, request: Any, queryset: QuerySet, status: str) -> str:
        count = actions.set_status(shop=request.shop, products=queryset, status=status, now=request.now)
        return _("%(count)s updated.") % {"count": format_count(count)}

    @chosen_deed(_lazy("Restore deleted"), Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def restore_chosen(self, request: Any, queryset: QuerySet) -> str:
        deleted = list(queryset.exclude(deleted_at=None))
        for product in deleted:
            actions.restore_product(shop=request.shop, product=product, now=request.now)
        return _("%(count)s restored as drafts.") % {"count": format_count(len(deleted))}

    @deed(_lazy("Restore"), Right.CHANGE_PRODUCTS, Moves.NOTHING, icon="restore_from_trash", variant=PRIMARY)
    @asks(_lazy("Restore this product?"), _lazy("It will be restored as a draft."), _lazy("Restore"))
    def restore(self, request: Any, product: Any, form: Any) -> str:
        actions.restore_product(shop=request.shop, product=product, now=request.now)
        return _("Restored as a draft.")


def _as_lines(attributes: Iterable[dict[str, Any]]) -> str:
    """Attributes as staff see them who cannot change the product."""
    lines = ((each["name"], ", ".join(each.get("values", []))) for each in attributes)
    return format_html_join(mark_safe("<br>"), "{}: {}", lines) or "–"

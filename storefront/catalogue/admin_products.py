from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import display
from unfold.enums import ActionVariant

from storefront.catalogue import actions, rules
from storefront.catalogue.admin_adjustments import StockAdjustingAdmin, StockAdjustmentInline
from storefront.catalogue.admin_bulk import BulkEditAdmin
from storefront.catalogue.admin_files import DigitalFileInline, DigitalFilesAdmin
from storefront.catalogue.admin_forms import ProductForm
from storefront.catalogue.admin_inlines import BundleItemInline, OptionInline, RelatedProductInline, VariantInline
from storefront.catalogue.admin_layout import FIELDSETS
from storefront.catalogue.admin_pictures import MediaInline, PicturesAdmin, thumbnail
from storefront.catalogue.admin_saving import SavingAdmin
from storefront.catalogue.digital_files import without_file
from storefront.catalogue.models import Product, Variant
from storefront.catalogue.weights import without_weight
from storefront.kit.format import format_count, format_money
from storefront.kit.refusals import Refusal
from storefront.shops.admin_editor import WithEditor
from storefront.shops.admin_parts import Moves, asks, chosen_deed, column, deed, moment, view_and_edit
from storefront.shops.admin_saved_views import WithSavedViews
from storefront.shops.admin_scope import ShopRelatedFilter
from storefront.shops.places import page_address
from storefront.shops.rights import Right

NO_PICTURE = '<span class="thumbnail" role="img" aria-label="{}"></span>'
STATUS_COLOURS = {"active": "success", "draft": "info", "archived": "warning"}


class StockFilter(admin.SimpleListFilter):
    title = "stock"
    parameter_name = "stock"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("low", "Low"), ("out", "Sold out")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        counted = queryset.filter(track_inventory=True)
        if self.value() == "low":
            return counted.filter(low_stock(), deleted_at=None)
        return counted.filter(stock_qty__lte=0) if self.value() == "out" else queryset


class WeightFilter(admin.SimpleListFilter):
    title = "weight"
    parameter_name = "weight"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("none", "To send, without a weight")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.filter(without_weight(), status="active") if self.value() == "none" else queryset


class DeletedFilter(admin.SimpleListFilter):
    """Deleted products are listed only with this filter, to restore them."""

    title = "deleted"
    parameter_name = "deleted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Deleted products")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.exclude(deleted_at=None) if self.value() == "yes" else queryset.filter(deleted_at=None)


@admin.register(Product)
class ProductAdmin(
    BulkEditAdmin, PicturesAdmin, DigitalFilesAdmin, SavingAdmin, WithEditor, StockAdjustingAdmin, WithSavedViews
):
    empty_text = "Add your first product here, or import all of them from a file."
    form = ProductForm
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    saves_views = Right.CHANGE_PRODUCTS
    list_display = ["picture", "name", "sku", "state", "price_shown", "stock", "changed"]
    list_display_links = ["picture", "name"]
    list_filter = [
        "status",
        ("categories", ShopRelatedFilter),
        StockFilter,
        "type",
        ("brand", ShopRelatedFilter),
        WeightFilter,
        DeletedFilter,
    ]
    search_fields = ["sort_name", "sku", "variants__sku"]
    ordering = ["-updated_at", "-id"]
    autocomplete_fields = ["brand", "vendor"]
    inlines = [
        MediaInline,
        VariantInline,
        OptionInline,
        DigitalFileInline,
        BundleItemInline,
        RelatedProductInline,
        StockAdjustmentInline,
    ]
    fieldsets: Any = FIELDSETS
    readonly_fields = ["waiting"]
    rich_texts = ("description", "short_description")
    change_form_template = "catalogue/admin/product.html"

    changed = moment("updated_at", "last change")

    class Media:
        js = [
            "shops/uploads.js",
            *(f"catalogue/{name}.js" for name in ("rows", "pictures", "variants", "product")),
        ]
        css = {"all": ["catalogue/product.css"]}

    @display(description="picture")
    def picture(self, row: Product) -> str:
        first = next(iter(row.media.all()), None)
        return thumbnail(first, row.name) if first else format_html(NO_PICTURE, row.name)

    state = column(
        "status",
        lambda row: ("deleted", "Deleted") if row.deleted_at else (row.status, row.get_status_display()),
        by="status",
        label={**STATUS_COLOURS, "deleted": "danger"},
    )

    @display(description="price", ordering="price")
    def price_shown(self, row: Product) -> str:
        prices = [variant.price for variant in row.variants.all() if variant.is_active]
        if row.type != Product.Type.VARIABLE or not prices:
            return format_money(row.price, row.shop.currency)
        return f"from {format_money(min(prices), row.shop.currency)}"

    @display(description="stock", ordering="stock_qty")
    def stock(self, row: Product) -> str:
        if row.type == Product.Type.VARIABLE:
            variants = row.variants.all()
            counted = [variant.stock_qty for variant in variants if variant.track_inventory]
            of = "1 variant" if len(variants) == 1 else f"{len(variants)} variants"
            return f"{format_count(sum(counted))} in {of}"
        return format_count(row.stock_qty) if row.track_inventory else "not tracked"

    @display(description="shoppers waiting for it")
    def waiting(self, row: Product) -> str:
        """How many asked for a mail when it, or a variant, is back in stock, and confirmed their address."""
        return format_count(row.stock_alerts.filter(confirmed_at__isnull=False).count())

    choices = column("choices", lambda row: _as_lines(each for each in row.attributes if each.get("variation")))
    details = column("details", lambda row: _as_lines(each for each in row.attributes if not each.get("variation")))

    @display(description="categories")
    def in_categories(self, row: Product) -> str:
        """Replaces the form's field for staff who can only view products."""
        return ", ".join(str(category) for category in row.categories.all()) or "–"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Nobody can wait for a product that is still to be added, or that has no stock of its own."""
        if obj is not None and obj.type in (Product.Type.SIMPLE, Product.Type.VARIABLE):
            return self.fieldsets
        return [
            (title, options | {"fields": [name for name in options["fields"] if name != "waiting"]})
            for title, options in self.fieldsets
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).prefetch_related("media", "variants")

    def get_search_results(self, request: HttpRequest, queryset: QuerySet, search_term: str) -> Any:
        # `sort_name` has no case and no accents. The databases differ in how they compare these.
        by_name = Q()
        for word in search_term.split():
            by_name &= Q(sort_name__contains=rules.sort_name(word))
        of_variant = Exists(Variant.objects.filter(product=OuterRef("pk"), sku__icontains=search_term))
        found = by_name | Q(sku__icontains=search_term) | Q(of_variant)
        return (queryset.filter(found) if search_term.strip() else queryset), False

    def view_on_site(self, obj: Product) -> str | None:
        # The slug is empty while an invalid form is shown again.
        return obj.slug and page_address("website:product", obj.slug, shop=obj.shop)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A deleted product can be looked at and restored, not changed."""
        return super().has_change_permission(request, obj) and getattr(obj, "deleted_at", None) is None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and getattr(obj, "deleted_at", None) is None

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        product = self.get_object(request, str(object_id))
        if product is None:
            return []
        # A variable product has no stock of its own.
        of_existing = {"adjust"} if product.type != Product.Type.VARIABLE else set()
        names = {"restore"} if product.deleted_at else of_existing
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if each.action_name.removeprefix("catalogue_product_") in names]

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

    @chosen_deed("Publish", Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def publish(self, request: Any, queryset: QuerySet) -> Any:
        lacking = without_file(request.shop, list(queryset.values_list("pk", flat=True)))
        if lacking:
            names = ", ".join(product.name for product in lacking)
            self.message_user(request, f"Not published, because buyers would get no file: {names}.", messages.WARNING)
        self._set_status(request, queryset.exclude(pk__in=[each.pk for each in lacking]), Product.Status.ACTIVE)

    @chosen_deed("Unpublish (back to draft)", Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def unpublish(self, request: Any, queryset: QuerySet) -> Any:
        self._set_status(request, queryset, Product.Status.DRAFT)

    @chosen_deed("Archive", Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def archive(self, request: Any, queryset: QuerySet) -> Any:
        self._set_status(request, queryset, Product.Status.ARCHIVED)

    def _set_status(self, request: Any, queryset: QuerySet, status: str) -> None:
        count = actions.set_status(shop=request.shop, products=queryset, status=status, now=request.now)
        self.message_user(request, f"{format_count(count)} updated.", messages.SUCCESS)

    @chosen_deed("Restore deleted", Right.CHANGE_PRODUCTS, Moves.NOTHING)
    def restore_chosen(self, request: Any, queryset: QuerySet) -> Any:
        deleted = list(queryset.exclude(deleted_at=None))
        for product in deleted:
            actions.restore_product(shop=request.shop, product=product, now=request.now)
        self.message_user(request, f"{format_count(len(deleted))} restored as drafts.", messages.SUCCESS)

    @deed("Restore", Right.CHANGE_PRODUCTS, Moves.NOTHING, icon="restore_from_trash", variant=ActionVariant.PRIMARY)
    @asks("Restore this product?", "It will be restored as a draft.", "Restore")
    def restore(self, request: Any, product: Any, form: Any) -> str:
        actions.restore_product(shop=request.shop, product=product, now=request.now)
        return "Restored as a draft."


def _as_lines(attributes: Iterable[dict[str, Any]]) -> str:
    """Attributes as staff see them who cannot change the product."""
    lines = ((each["name"], ", ".join(each.get("values", []))) for each in attributes)
    return format_html_join(mark_safe("<br>"), "{}: {}", lines) or "–"


def low_stock() -> Q:
    """The condition for tracked stock at or below the low stock threshold."""
    return Q(track_inventory=True, stock_qty__lte=F("low_stock_threshold"))

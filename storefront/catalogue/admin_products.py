from typing import Any

from django.contrib import admin, messages
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.catalogue import actions, events, rules, thumbnails
from storefront.catalogue.admin_adjustments import StockAdjustingAdmin, StockAdjustmentInline
from storefront.catalogue.admin_files import DigitalFileInline, DigitalFilesAdmin
from storefront.catalogue.admin_forms import (
    MediaForm,
    ProductForm,
    VariantForm,
)
from storefront.catalogue.admin_inlines import BundleItemInline, OptionInline, RelatedProductInline
from storefront.catalogue.inventory_actions import record_adjustments
from storefront.catalogue.models import Media, Product, Variant, WantedThumbnails
from storefront.kit.format import format_count, format_money
from storefront.kit.refusals import Refusal
from storefront.shops.admin_base import (
    ShopRelatedFilter,
    ShopScopedTabularInline,
    moment,
    plain_dialog,
    view_and_edit,
)
from storefront.shops.places import page_address
from storefront.shops.rights import Right

NO_PICTURE = mark_safe('<span class="thumbnail" aria-hidden="true"></span>')
# Shown beside a picture of which the worker could not make thumbnails, with the reason from `kit/pictures.py`.
BROKEN = (
    '<p class="errorlist">Pages show this picture in full size or not at all: the file {}. Open it in a picture '
    "editor, save it anew as JPEG, PNG or WebP, and upload that in its place.</p>"
)
STATUS_COLOURS = {"active": "success", "draft": "info", "archived": "warning"}


class VariantInline(ShopScopedTabularInline):
    """The columns that merchants change often. The others are on the variant's own page, to which each row links."""

    model = Variant
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    form = VariantForm
    tab = True
    per_page = 50
    show_change_link = True
    fields = ["name", "option_values", "sku", "price", "compare_price", "stock_qty", "allow_backorders", "is_active"]


class MediaInline(ShopScopedTabularInline):
    model = Media
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    form = MediaForm
    tab = True
    verbose_name = "picture"
    verbose_name_plural = "pictures"
    fields = ["preview", "file", "source_url", "alt", "sort_order"]
    readonly_fields = ["preview"]

    @display(description="picture")
    def preview(self, row: Media) -> str:
        if not row.pk:
            return ""
        problem = getattr(row, "problem", None)
        return format_html("{}{}", thumbnail(row), format_html(BROKEN, problem) if problem else "")

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        problem = WantedThumbnails.objects.filter(shop=OuterRef("shop"), file=OuterRef("file")).exclude(file="")
        return super().get_queryset(request).annotate(problem=Subquery(problem.values("problem")[:1]))


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


class DeletedFilter(admin.SimpleListFilter):
    """Deleted products are listed only with this filter, to restore them."""

    title = "deleted"
    parameter_name = "deleted"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "Deleted products")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return queryset.exclude(deleted_at=None) if self.value() == "yes" else queryset.filter(deleted_at=None)


@admin.register(Product)
class ProductAdmin(DigitalFilesAdmin, StockAdjustingAdmin):
    form = ProductForm
    rights = {
        **view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS),
        "adjust": Right.ADJUST_STOCK,
        "publish": Right.CHANGE_PRODUCTS,
        "unpublish": Right.CHANGE_PRODUCTS,
        "archive": Right.CHANGE_PRODUCTS,
        "restore": Right.CHANGE_PRODUCTS,
        "restore_chosen": Right.CHANGE_PRODUCTS,
    }
    list_display = ["picture", "name", "sku", "state", "price_shown", "stock", "changed"]
    list_display_links = ["picture", "name"]
    list_filter = [
        "status",
        ("categories", ShopRelatedFilter),
        StockFilter,
        "type",
        ("brand", ShopRelatedFilter),
        DeletedFilter,
    ]
    search_fields = ["sort_name", "sku", "variants__sku"]
    ordering = ["-updated_at", "-id"]
    actions = ["publish", "unpublish", "archive", "restore_chosen"]
    actions_detail = ["adjust", "restore"]
    autocomplete_fields = ["brand", "vendor"]
    inlines = [
        VariantInline,
        OptionInline,
        MediaInline,
        DigitalFileInline,
        BundleItemInline,
        RelatedProductInline,
        StockAdjustmentInline,
    ]
    fieldsets: Any = [
        (None, {"fields": ["name", "status", "price", "stock_qty", "sku", "in_categories", "short_description"]}),
        (
            "Description",
            {"classes": ["tab"], "fields": ["description", "brand", "tags", "attributes", "translations"]},
        ),
        (
            "Prices",
            {
                "classes": ["tab"],
                "fields": [
                    "compare_price",
                    "cost_price",
                    "allow_custom_price",
                    "min_custom_price",
                    "is_taxable",
                    "tax_class",
                    "tic_code",
                    "show_lowest_price",
                    "exclude_from_group_discounts",
                    "setup_fee",
                    "billing_interval",
                    "billing_interval_count",
                    "free_trial_days",
                ],
            },
        ),
        (
            "Stock",
            {
                "classes": ["tab"],
                "fields": [
                    "track_inventory",
                    "allow_backorders",
                    "low_stock_threshold",
                    "damaged_qty",
                    "damaged_price",
                    "barcode",
                    "vendor",
                ],
            },
        ),
        (
            "Delivery",
            {
                "classes": ["tab"],
                "fields": [
                    "requires_shipping",
                    "media_mail_eligible",
                    "weight",
                    "length",
                    "width",
                    "height",
                    "dimension_unit",
                    "shipping_origin",
                    "max_downloads",
                    "download_expiry_days",
                ],
            },
        ),
        (
            "Visibility",
            {
                "classes": ["tab"],
                "fields": [
                    "slug",
                    "type",
                    "default_variant",
                    "publish_at",
                    "unpublish_at",
                    "is_featured",
                    "is_new",
                    "is_preorder",
                    "is_pinned",
                    "exclude_from_catalog",
                    "is_gift_card",
                    "sort_order",
                ],
            },
        ),
        (
            "Search engines",
            {
                "classes": ["tab"],
                "fields": ["meta_title", "meta_description", "canonical_url", "og_image_url", "noindex"],
            },
        ),
    ]

    changed = moment("updated_at", "last change")

    class Media:
        js = ["shops/uploads.js"]

    @display(description="")
    def picture(self, row: Product) -> str:
        first = next(iter(row.media.all()), None)
        return thumbnail(first) if first else NO_PICTURE

    @display(description="status", ordering="status", label={**STATUS_COLOURS, "deleted": "danger"})
    def state(self, row: Product) -> tuple[str, str]:
        return ("deleted", "Deleted") if row.deleted_at else (row.status, row.get_status_display())

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
            return f"{format_count(sum(counted))} in {len(variants)} variants"
        return format_count(row.stock_qty) if row.track_inventory else "not tracked"

    @display(description="categories")
    def in_categories(self, row: Product) -> str:
        """Replaces the form's field for staff who can only view products."""
        return ", ".join(str(category) for category in row.categories.all()) or "–"

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

    def save_model(self, request: Any, obj: Product, form: ProductForm, change: bool) -> None:
        """Write the changed fields, stock as a difference. `save_related` updates what is derived from them."""
        if change:
            # Locked from here on. Changes that others made before to other fields stay.
            Product.objects.select_for_update(no_key=True).get(shop=request.shop, pk=obj.pk)
            form.before = events.take_snapshot(request.shop, [obj.pk])
            form.set_stock_difference()
        super().save_model(request, obj, form, change)

    def save_related(self, request: Any, form: ProductForm, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        chosen = form.cleaned_data["in_categories"] if "in_categories" in form.changed_data else None
        # This also updates what is derived from the other fields: search text, sort name, type, first publication.
        actions.update_product(
            shop=request.shop, product=form.instance, now=request.now, categories=chosen, before=form.before
        )
        record_adjustments(shop=request.shop, before=form.before, user=request.user, now=request.now)

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

    @admin.action(description="Publish")
    def publish(self, request: Any, queryset: QuerySet) -> None:
        self._set_status(request, queryset, Product.Status.ACTIVE)

    @admin.action(description="Unpublish (back to draft)")
    def unpublish(self, request: Any, queryset: QuerySet) -> None:
        self._set_status(request, queryset, Product.Status.DRAFT)

    @admin.action(description="Archive")
    def archive(self, request: Any, queryset: QuerySet) -> None:
        self._set_status(request, queryset, Product.Status.ARCHIVED)

    def _set_status(self, request: Any, queryset: QuerySet, status: str) -> None:
        count = actions.set_status(shop=request.shop, products=queryset, status=status, now=request.now)
        self.message_user(request, f"{format_count(count)} updated.", messages.SUCCESS)

    @admin.action(description="Restore deleted")
    def restore_chosen(self, request: Any, queryset: QuerySet) -> None:
        deleted = list(queryset.exclude(deleted_at=None))
        for product in deleted:
            actions.restore_product(shop=request.shop, product=product, now=request.now)
        self.message_user(request, f"{format_count(len(deleted))} restored as drafts.", messages.SUCCESS)

    @action(
        description="Restore",
        icon="restore_from_trash",
        variant=ActionVariant.PRIMARY,
        dialog=plain_dialog("Restore this product?", "It will be restored as a draft.", submit="Restore"),
    )
    def restore(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        product = self.row_or_404(request, object_id)
        actions.restore_product(shop=request.shop, product=product, now=request.now)
        return self.done(request, product, "Restored as a draft.")


def low_stock() -> Q:
    """The condition for tracked stock at or below the low stock threshold."""
    return Q(track_inventory=True, stock_qty__lte=F("low_stock_threshold"))


def thumbnail(picture: Media) -> str:
    url = picture.source_url
    if picture.file.name:
        url = thumbnails.url_of(picture.file.name, thumbnails.SMALL) or picture.file.url
    return format_html('<img src="{}" alt="{}" class="thumbnail" loading="lazy">', url, picture.alt)

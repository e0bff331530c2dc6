from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.catalogue import actions, jobs, rules, tree
from storefront.catalogue.admin_pages.adjustments import StockAdjustmentAdmin as StockAdjustmentAdmin
from storefront.catalogue.admin_pages.forms import check_picture, check_slug, check_translated_slugs
from storefront.catalogue.admin_pages.products import ProductAdmin as ProductAdmin
from storefront.catalogue.admin_pages.variants import VariantAdmin as VariantAdmin
from storefront.catalogue.models import Brand, Category, ShippingOrigin, TaxClass, Vendor
from storefront.catalogue.translating import CATEGORY_TEXTS
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin, count_files
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, column, layout, view_and_edit
from storefront.staff.admin_translations import missing_filter


class NamedAdmin(ShopScopedAdmin):
    """Rows that have only a name."""

    moves = Moves.NOTHING
    list_display = fields = ["name"]
    search_fields = ["name"]
    ordering = ["name", "id"]


@admin.register(Brand)
class BrandAdmin(NamedAdmin):
    """Brands. Searches find their names, so the texts of their products are written again after a change."""

    empty_text = _lazy("Products can name their brand. Shoppers filter by it.")
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)

    def save_model(self, request: Any, obj: Brand, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change:
            jobs.rewrite_search_texts.enqueue(request.shop.pk)

    def delete_model(self, request: Any, obj: Brand) -> None:
        super().delete_model(request, obj)
        jobs.rewrite_search_texts.enqueue(request.shop.pk)

    def delete_queryset(self, request: Any, queryset: QuerySet) -> None:
        super().delete_queryset(request, queryset)
        jobs.rewrite_search_texts.enqueue(request.shop.pk)


@admin.register(Vendor)
class VendorAdmin(NamedAdmin):
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)


@admin.register(ShippingOrigin, TaxClass)
class OriginOrTaxClassAdmin(NamedAdmin):
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)


class CategoryForm(ShopScopedForm):
    constraint_errors = {"category_slug_once": ("slug", _lazy("Another category of this shop already has this slug."))}

    slug = forms.CharField(
        label=_lazy("Slug"),
        required=False,
        max_length=rules.MAX_SLUG_LENGTH,
        validators=[check_slug],
        widget=UnfoldAdminTextInputWidget,
        help_text=_lazy("Last part of the category's web address. Leave empty to create it from the name."),
    )

    def clean_image(self) -> Any:
        return self._checked("image")

    def clean_banner(self) -> Any:
        return self._checked("banner")

    def _checked(self, name: str) -> Any:
        file = self.cleaned_data.get(name)
        if file and name in self.changed_data:
            check_picture(file)
        return file

    def clean_parent(self) -> Category | None:
        parent = self.cleaned_data["parent"]
        if parent and self.instance.pk and tree.is_within(parent, self.instance):
            raise forms.ValidationError(_("A category cannot be moved under itself or one of its subcategories."))
        return parent

    def clean(self) -> None:
        super().clean()
        if not self.cleaned_data.get("slug") and "name" in self.cleaned_data and "slug" not in self.errors:
            self.cleaned_data["slug"] = actions.unique_slug(self.shop, self.cleaned_data["name"], model=Category)
        check_translated_slugs(self)


@admin.register(Category)
class CategoryAdmin(ShopScopedAdmin):
    """The shop's tree, each category under its parent."""

    icon = "account_tree"
    empty_text = _lazy("Categories are the menu of your shop. A product can be in several.")
    form = CategoryForm
    rights = view_and_edit(Right.VIEW_PRODUCTS, Right.CHANGE_PRODUCTS)
    moves = Moves.NOTHING
    list_display = ["in_tree", "slug", "product_count", "sort_order", "is_active"]
    on_phone = ("in_tree", "product_count", "slug")
    named_on_phone = ("product_count",)
    list_filter = ["is_active", missing_filter(*CATEGORY_TEXTS)]
    list_per_page = 200
    reads_ids_first = True
    search_fields = ["name", "slug"]
    ordering = ["lft"]
    sortable_by: list[str] = []
    autocomplete_fields = ["parent"]
    translated = (*CATEGORY_TEXTS, "slug")
    fieldsets: Any = layout(
        "name parent sort_order is_active description image banner",
        "More: slug exclude_from_group_discounts",
        "Search engines: meta_title meta_description canonical_url og_image_url noindex",
    )

    @display(description=_lazy("category"))
    def in_tree(self, row: Category) -> str:
        depth = row.depth  # type: ignore[attr-defined]
        return format_html(
            '<span style="padding-left: {}rem">{}{}</span>', depth * 1.5, "└ " if depth else "", row.name
        )

    def choice_label(self, row: Category) -> str:
        """The path from the top level, since many branches have a category of the same name, such as Accessories."""
        above = Category.objects.filter(shop=row.shop_id, lft__lt=row.lft, rgt__gt=row.rgt).order_by("lft")
        return " › ".join([*above.values_list("name", flat=True), row.name])

    product_count = column(_lazy("products"), lambda row: row.product_count)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        above = Category.objects.filter(shop=OuterRef("shop"), lft__lt=OuterRef("lft"), rgt__gt=OuterRef("rgt"))
        depth = Subquery(above.order_by().values("shop").annotate(count=Count("pk")).values("count"))
        links = Category.products.through.objects.filter(category=OuterRef("pk"), product__deleted_at=None)
        existing = Subquery(links.order_by().values("category").annotate(count=Count("pk")).values("count"))
        counted = {"depth": Coalesce(depth, 0), "product_count": Coalesce(existing, 0)}
        return super().get_queryset(request).annotate(**counted)

    def save_model(self, request: Any, obj: Category, form: CategoryForm, change: bool) -> None:
        count_files(request, form)
        names = [name for name in form.changed_data if name in form.cleaned_data and hasattr(obj, name)]
        fields = {name: getattr(obj, name) for name in names}
        # The form's slug, or the one that `clean` made from the name.
        if "translations" in form.changed_columns():
            fields["translations"] = obj.translations
        slug = fields.pop("slug", None) or (obj.slug if "slug" in form.cleaned_data else None)
        if change:
            actions.update_category(shop=request.shop, category=obj, now=request.now, slug=slug, **fields)
        else:
            created = actions.create_category(shop=request.shop, now=request.now, slug=slug, **fields)
            obj.pk, obj._state.adding = created.pk, False

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """Products stay. The action refuses categories that cannot be deleted."""
        return [str(category) for category in objs], {"categories": len(objs)}, set(), []

    def delete_model(self, request: Any, obj: Category) -> None:
        actions.delete_category(shop=request.shop, category=obj, now=request.now)

    def delete_queryset(self, request: Any, queryset: QuerySet) -> None:
        # Subcategories first, so that a selected branch can be deleted as a whole.
        for category in queryset.order_by("-lft"):
            actions.delete_category(shop=request.shop, category=category, now=request.now)

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.catalogue import actions, rules, tree
from storefront.catalogue.admin_adjustments import StockAdjustmentAdmin as StockAdjustmentAdmin
from storefront.catalogue.admin_imports import ProductImportAdmin as ProductImportAdmin
from storefront.catalogue.admin_products import ProductAdmin as ProductAdmin
from storefront.catalogue.admin_variants import VariantAdmin as VariantAdmin
from storefront.catalogue.models import Brand, Category, ShippingOrigin, TaxClass, Vendor
from storefront.shops.admin_base import ShopScopedAdmin
from storefront.shops.admin_forms import ShopScopedForm


@admin.register(Brand, Vendor, ShippingOrigin, TaxClass)
class NamedAdmin(ShopScopedAdmin):
    list_display = fields = ["name"]
    search_fields = ["name"]
    ordering = ["name", "id"]


class CategoryForm(ShopScopedForm):
    constraint_errors = {"category_slug_once": ("slug", "Another category of this shop has this slug.")}

    slug = forms.CharField(
        required=False,
        max_length=rules.LONGEST_SLUG,
        widget=UnfoldAdminTextInputWidget,
        help_text="The category's place in the shop's addresses. Empty: made of the name.",
    )

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"].strip()
        if slug and not rules.is_slug(slug):
            raise forms.ValidationError("A slug has no spaces and none of the characters / ? # % and \\.")
        return slug

    def clean_parent(self) -> Category | None:
        parent = self.cleaned_data["parent"]
        if parent and self.instance.pk and tree.is_within(parent, self.instance):
            raise forms.ValidationError("A category cannot be moved under itself or under one below it.")
        return parent

    def clean(self) -> None:
        super().clean()
        if not self.cleaned_data.get("slug") and "name" in self.cleaned_data and "slug" not in self.errors:
            self.cleaned_data["slug"] = actions.unique_slug(self.shop, self.cleaned_data["name"], model=Category)


@admin.register(Category)
class CategoryAdmin(ShopScopedAdmin):
    """The shop's tree, each category under its parent."""

    form = CategoryForm
    list_display = ["in_tree", "slug", "goods", "sort_order", "is_active"]
    list_filter = ["is_active"]
    list_per_page = 200
    search_fields = ["name", "slug"]
    ordering = ["lft"]
    sortable_by: list[str] = []
    autocomplete_fields = ["parent"]
    fieldsets: Any = [
        (None, {"fields": ["name", "parent", "sort_order", "is_active", "description", "image", "banner"]}),
        ("More", {"fields": ["slug", "exclude_from_group_discounts"]}),
        (
            "Search engines",
            {"fields": ["meta_title", "meta_description", "canonical_url", "og_image_url", "noindex"]},
        ),
    ]

    @display(description="category")
    def in_tree(self, row: Category) -> str:
        depth = row.depth  # type: ignore[attr-defined]
        return format_html(
            '<span style="padding-left: {}rem">{}{}</span>', depth * 1.5, "└ " if depth else "", row.name
        )

    def choice_label(self, row: Category) -> str:
        """The way down to it, since half of a shop's branches end in Accessories."""
        above = Category.objects.filter(shop=row.shop_id, lft__lt=row.lft, rgt__gt=row.rgt).order_by("lft")
        return " › ".join([*above.values_list("name", flat=True), row.name])

    @display(description="products")
    def goods(self, row: Category) -> int:
        return row.goods  # type: ignore[attr-defined]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        above = Category.objects.filter(shop=OuterRef("shop"), lft__lt=OuterRef("lft"), rgt__gt=OuterRef("rgt"))
        depth = Subquery(above.order_by().values("shop").annotate(count=Count("pk")).values("count"))
        standing = Count("product_links", filter=Q(product_links__product__deleted_at=None))
        return super().get_queryset(request).annotate(depth=Coalesce(depth, 0), goods=standing)

    def save_model(self, request: Any, obj: Category, form: CategoryForm, change: bool) -> None:
        names = [name for name in form.changed_data if name in form.cleaned_data]
        fields = {name: getattr(obj, name) for name in names}
        # A slug that was made of the name, since the form was left without one.
        slug = fields.pop("slug", None) or (obj.slug if "slug" in form.cleaned_data else None)
        if change:
            actions.update_category(shop=request.shop, category=obj, now=request.now, slug=slug, **fields)
        else:
            made = actions.create_category(shop=request.shop, now=request.now, slug=slug, **fields)
            obj.pk, obj._state.adding = made.pk, False

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> tuple[Any, Any, Any, Any]:
        """Products stay; whether a category may go is for the action to say."""
        return [str(category) for category in objs], {"categories": len(objs)}, set(), []

    def delete_model(self, request: Any, obj: Category) -> None:
        actions.delete_category(shop=request.shop, category=obj)

    def delete_queryset(self, request: Any, queryset: QuerySet) -> None:
        # From the leaves up, so that a branch chosen as a whole can go.
        for category in queryset.order_by("-lft"):
            actions.delete_category(shop=request.shop, category=category)

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import BigIntegerField, Case, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Cast, Substr
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget

from storefront.catalogue.inventory.actions import adjust_stock
from storefront.catalogue.inventory.ledger import Author, Kind, stock_changes
from storefront.catalogue.models import StockAdjustment, Variant
from storefront.catalogue.parsing import MAX_INTEGER
from storefront.catalogue.rules import full_name
from storefront.kit.format import format_count
from storefront.kit.ids import as_id
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff.admin_base import EndlessAdmin, ShopScopedAdmin
from storefront.staff.admin_parts import Moves, asks, column, deed, link, moment, names
from storefront.staff.admin_scope import ReadOnlyInline

# How the references of sales begin (payments.drafts).
DRAFT = "draft "
WITH = ["shop", "product", "variant", "installation__app", "token", "user"]


class AdjustForm(BaseDialogForm):
    delta = forms.IntegerField(
        label=_lazy("Change"),
        min_value=-MAX_INTEGER,
        max_value=MAX_INTEGER,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=_lazy("Units to add to the stock. Use a negative number to remove units: -3 removes three."),
    )
    reason = forms.CharField(label=_lazy("Reason"), max_length=255, widget=UnfoldAdminTextInputWidget)


def _waiting_for(row: Any) -> str:
    """How many asked for a mail when the product, or a variant, is back in stock, and confirmed their address. Counted
    once for a page, which asks for the column's value several times."""
    if not hasattr(row, "waiting_count"):
        row.waiting_count = row.stock_alerts.filter(confirmed_at__isnull=False).count()
    return format_count(row.waiting_count)


WAITING = column(_lazy("shoppers waiting for it"), _waiting_for)


class StockAdjustingAdmin(ShopScopedAdmin):
    """A product's or variant's page with the action *Adjust stock*, also for staff who cannot change the row."""

    @deed(_lazy("Adjust stock"), Right.ADJUST_STOCK, Moves.NOTHING, icon="inventory")
    @asks(
        _lazy("Adjust stock"),
        _lazy("The change is applied to the current stock and recorded with its reason."),
        _lazy("Adjust"),
        AdjustForm,
    )
    def adjust(self, request: Any, row: Any, form: Any) -> str:
        product_id, variant_id = (row.product_id, row.pk) if isinstance(row, Variant) else (row.pk, None)
        adjust_stock(
            shop=request.shop,
            product_id=product_id,
            variant_id=variant_id,
            delta=form.cleaned_data["delta"],
            reason=form.cleaned_data["reason"],
            author=Author(user=request.user),
            now=request.now,
        )
        return _("Stock adjusted.")

    def _changeform_view(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        # Django calls this in the form's transaction.
        if request.method != "POST":
            return super()._changeform_view(request, *args, **kwargs)
        with stock_changes(Kind.EDITED, author=Author(user=request.user), now=request.now):
            return super()._changeform_view(request, *args, **kwargs)


def with_orders(rows: QuerySet) -> QuerySet:
    """Add to each row of a sale the order that its draft became, as `placed_id` and `placed_number`. The row itself has
    the reference `draft 5`, since it was written before the order had a number, and is never changed. Drafts are in a
    higher room, and are reached by their shop's relation."""
    drafts: Any = Shop._meta.get_field("orderdraft").related_model
    draft = drafts.objects.filter(
        shop=OuterRef("shop"), pk=Cast(Substr(OuterRef("reference"), len(DRAFT) + 1), BigIntegerField())
    )
    is_draft = Q(reference__regex=rf"^{DRAFT}\d{{1,18}}$")
    return rows.annotate(
        placed_id=Case(When(is_draft, then=Subquery(draft.values("order")))),
        placed_number=Case(When(is_draft, then=Subquery(draft.values("order__number")))),
    )


def reference_of(row: Any) -> str:
    """The order that the change belongs to, with a link, or else the stored reference."""
    if not row.placed_id:
        return row.reference
    return link("orders_order_change", row.placed_id, _("order %(number)s") % {"number": row.placed_number})


class AdjustmentColumns:
    """The columns that the stock ledger and a product's page share."""

    made = moment("made_at", _lazy("when"))
    change = column(_lazy("change"), lambda row: f"{row.delta:+,}", by="delta")

    @display(description=_lazy("why"), ordering="kind")
    def why(self, row: Any) -> str:
        about = format_html_join(", ", "{}", ((text,) for text in (reference_of(row), row.reason) if text))
        why = format_html("{}: {}", row.get_kind_display(), about) if about else row.get_kind_display()
        return format_html(_("{} (damaged units)"), why) if row.of_damaged else why

    belongs_to = column(_lazy("reference"), lambda row: reference_of(row) or "–")
    who = column(_lazy("by"), lambda row: row.made_by)
    of_variant = column(
        _lazy("variant"), lambda row: row.variant.name if row.variant else _("Removed") if row.variant_id else ""
    )


class StockAdjustmentInline(AdjustmentColumns, ReadOnlyInline):
    model = StockAdjustment
    slot = "more"
    classes = ("collapse",)
    per_page = 20
    fields = readonly_fields = ["made", "of_variant", "change", "stock_after", "why", "who"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return with_orders(super().get_queryset(request).select_related(*WITH))


@admin.register(StockAdjustment)
class StockAdjustmentAdmin(AdjustmentColumns, EndlessAdmin):
    icon = "inventory_2"
    empty_text = _lazy("Every sale, return, import and correction that changes the stock is listed here.")
    rights = {"view": Right.VIEW_PRODUCTS}
    list_display = ["made", "item", "change", "stock_after", "why", "who"]
    list_filter = ["kind", "of_damaged"]
    list_select_related = WITH
    search_fields = ["product__sort_name", "product__sku", "variant__sku", "reason", "reference"]
    ordering = ["-id"]
    fields = readonly_fields = names("made product of_variant of_damaged kind change stock_after reason belongs_to who")

    def get_queryset(self, request: HttpRequest) -> Any:
        return with_orders(super().get_queryset(request))

    def get_search_results(self, request: Any, queryset: QuerySet, search_term: str) -> tuple[QuerySet, bool]:
        """An order's number finds the rows of its draft, too."""
        found, has_repeats = super().get_search_results(request, queryset, search_term)
        number = as_id(search_term.strip().removeprefix("order ").removeprefix("#"))
        if number is None:
            return found, has_repeats
        drafts = request.shop.orderdraft_set.filter(order__number=number).values_list("pk", flat=True)
        return found | queryset.filter(reference__in=[f"{DRAFT}{pk}" for pk in drafts]), has_repeats

    @display(description=_lazy("product"))
    def item(self, row: StockAdjustment) -> str:
        return full_name(row.product.name, self.of_variant(row) or None)

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from unfold.decorators import display

from storefront.carts import rules
from storefront.carts.models import Cart, CartLine
from storefront.kit import clock
from storefront.kit.format import format_money
from storefront.shops.admin_base import ReadOnlyAdmin, ReadOnlyInline, moment, money
from storefront.shops.rights import Right


class CartLineInline(ReadOnlyInline):
    model = CartLine
    rights = {"view": Right.VIEW_CARTS}
    fields = readonly_fields = ["product_name", "chosen", "qty", "price", "line_total"]

    price = money("price_snapshot", "price")

    @display(description="product")
    def product_name(self, row: CartLine) -> str:
        return row.name_snapshot

    @display(description="options")
    def chosen(self, row: CartLine) -> str:
        return ", ".join(f"{choice['name']}: {choice['value']}" for choice in [*row.options, *row.custom_fields]) or "–"

    @display(description="total")
    def line_total(self, row: CartLine) -> str:
        return format_money(row.qty * row.price_snapshot, row.shop.currency)

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("shop")


@admin.register(Cart)
class CartAdmin(ReadOnlyAdmin):
    """Carts, read-only. A cart's token gives access to the cart, so not even its digest is loaded."""

    empty_text = "Shoppers' baskets and programs' carts are listed here while they are open."
    rights = {"view": Right.VIEW_CARTS}
    list_display = ["cart", "customer", "pieces", "subtotal", "state", "changed"]
    list_select_related = ["shop", "customer"]
    search_fields = ["public_id", "customer__email", "lines__name_snapshot"]
    ordering = ["-updated_at", "-id"]
    fields = readonly_fields = ["public_id", "customer", "state", "pieces", "subtotal", "begun", "changed", "expires"]
    inlines = [CartLineInline]

    begun = moment("created_at", "begun")
    changed = moment("updated_at", "last change")
    expires = moment("expires_at")

    @display(description="cart")
    def cart(self, row: Cart) -> str:
        return str(row.public_id)[:8]

    @display(description="items", ordering="pieces")
    def pieces(self, row: Cart) -> int:
        return row.pieces or 0  # type: ignore[attr-defined]

    @display(description="subtotal")
    def subtotal(self, row: Cart) -> str:
        # Not summed by the database, whose numbers would overflow if prices were raised since.
        return format_money(rules.subtotal(row.lines.all()), row.shop.currency)

    @display(description="status", label={"Active": "success", "Expired": "warning"})
    def state(self, row: Cart) -> str:
        return "Active" if row.is_live(clock.now()) else "Expired"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rows = super().get_queryset(request).defer("token_digest").prefetch_related("lines")
        return rows.annotate(pieces=Sum("lines__qty"))

from django.contrib import admin
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.carts import rules
from storefront.carts.models import Cart, CartLine
from storefront.kit import clock
from storefront.kit.format import format_money
from storefront.shops.rights import Right
from storefront.staff.admin_base import ReadOnlyAdmin
from storefront.staff.admin_parts import column, moment, money
from storefront.staff.admin_scope import ReadOnlyInline


class CartLineInline(ReadOnlyInline):
    model = CartLine
    fields = readonly_fields = ["product_name", "chosen", "qty", "price", "line_total"]

    price = money("price_snapshot", _lazy("price"))
    product_name = column(_lazy("product"), lambda row: row.name_snapshot)
    chosen = column(
        _lazy("options"),
        lambda row: (
            ", ".join(f"{choice['name']}: {choice['value']}" for choice in [*row.options, *row.custom_fields]) or "–"
        ),
    )
    line_total = column(_lazy("total"), lambda row: format_money(row.qty * row.price_snapshot, row.shop.currency))


def state_of(row: Cart) -> tuple[str, str]:
    """The key of the colour, and the text."""
    return ("live", _("Active")) if row.is_live(clock.now()) else ("expired", _("Expired"))


@admin.register(Cart)
class CartAdmin(ReadOnlyAdmin):
    """Carts, read-only. A cart's token gives access to the cart, so not even its digest is loaded."""

    icon = "shopping_cart"
    empty_text = _lazy("Shoppers' baskets and programs' carts are listed here while they are open.")
    rights = {"view": Right.VIEW_CARTS}
    list_display = ["cart", "customer", "pieces", "subtotal", "state", "changed"]
    list_select_related = ["shop", "customer"]
    search_fields = ["public_id", "customer__email", "lines__name_snapshot"]
    ordering = ["-updated_at", "-id"]
    fields = readonly_fields = [
        "public_id",
        "customer",
        "state",
        "pieces",
        "subtotal",
        "begun",
        "changed",
        "expires",
    ]
    inlines = [CartLineInline]
    deferred = ("token_digest",)
    prefetched = ("lines",)

    begun = moment("created_at", _lazy("begun"))
    changed = moment("updated_at", _lazy("last change"))
    expires = moment("expires_at", _lazy("expires"))
    cart = column(_lazy("cart"), lambda row: str(row.public_id)[:8])
    pieces = column(_lazy("items"), lambda row: row.pieces or 0, by="pieces")

    # Not summed by the database, whose numbers would overflow if prices were raised since.
    subtotal = column(_lazy("subtotal"), lambda row: format_money(rules.subtotal(row.lines.all()), row.shop.currency))
    state = column(_lazy("status"), lambda row: state_of(row), label={"live": "success", "expired": "warning"})

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).annotate(pieces=Sum("lines__qty"))

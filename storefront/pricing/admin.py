from django.contrib import admin
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.customers.models import CustomerGroup
from storefront.pricing import admin_delivery, admin_discounts, admin_taxes  # noqa: F401, registers their pages
from storefront.pricing.admin_fields import percent
from storefront.pricing.models import GroupPrice
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, column, view_and_edit
from storefront.staff.admin_scope import ShopScopedTabularInline


class GroupPriceForm(ShopScopedForm):
    constraint_errors = {
        "group_price_product_once": ("product", _lazy("This product already has a price for this group.")),
        "group_price_variant_once": ("variant", _lazy("This variant already has a price for this group.")),
    }

    def clean(self) -> None:
        super().clean()
        product, variant = self.cleaned_data.get("product"), self.cleaned_data.get("variant")
        if product and variant and variant.product_id != product.pk:
            self.add_error("variant", _("This variant does not belong to %(product)s.") % {"product": product})


class GroupPriceInline(ShopScopedTabularInline):
    model = GroupPrice
    form = GroupPriceForm
    fields = ["product", "variant", "price"]
    autocomplete_fields = ["product", "variant"]
    ordering = ["id"]
    per_page = 50


@admin.register(CustomerGroup)
class CustomerGroupAdmin(ShopScopedAdmin):
    """Registered in this room, not in `customers`, because the page includes the group's prices."""

    empty_text = _lazy("Customers in a group, such as businesses, can have prices of their own.")
    rights = view_and_edit(Right.VIEW_PRICES, Right.CHANGE_PRICES)
    moves = Moves.MONEY
    list_display = ["name", "discount", "sees_net_prices"]
    search_fields = ["name"]
    ordering = ["name"]
    fields = ["name", "discount_percent", "sees_net_prices"]
    inlines = [GroupPriceInline]

    discount = column(_lazy("discount"), lambda row: percent(row.discount_percent), by="discount_percent")

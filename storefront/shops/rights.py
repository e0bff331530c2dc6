"""The rights of each staff role: the one table that every page of the admin checks.

An admin class names the right that each of its actions needs (`ScopedToShop.rights`). An action without one is allowed
to nobody.
"""

from enum import StrEnum

from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.text import Text
from storefront.shops.models import StaffMember

OWNER, MANAGER, FULFILMENT, READ_ONLY = StaffMember.Role


class Right(StrEnum):
    SEE_FIGURES = "see_figures"
    VIEW_ORDERS = "view_orders"
    ANNOTATE_ORDERS = "annotate_orders"
    WRITE_TO_CUSTOMERS = "write_to_customers"
    FULFIL_ORDERS = "fulfil_orders"
    TAKE_PAYMENTS = "take_payments"
    REFUND_ORDERS = "refund_orders"
    CANCEL_ORDERS = "cancel_orders"
    ISSUE_INVOICES = "issue_invoices"
    VIEW_PAYMENTS = "view_payments"
    MANAGE_GIFT_CARDS = "manage_gift_cards"
    VIEW_CARTS = "view_carts"
    VIEW_CUSTOMERS = "view_customers"
    CHANGE_CUSTOMERS = "change_customers"
    VIEW_PRODUCTS = "view_products"
    CHANGE_PRODUCTS = "change_products"
    ADJUST_STOCK = "adjust_stock"
    IMPORT_PRODUCTS = "import_products"
    EXPORT_PRODUCTS = "export_products"
    EXPORT_SALES = "export_sales"
    MANAGE_PERSONAL_DATA = "manage_personal_data"
    VIEW_PRICES = "view_prices"
    CHANGE_PRICES = "change_prices"
    VIEW_EVENTS = "view_events"
    VIEW_AUDIT = "view_audit"
    MANAGE_APPS = "manage_apps"
    MANAGE_WEBHOOKS = "manage_webhooks"
    MANAGE_CONTENT = "manage_content"
    MANAGE_SETTINGS = "manage_settings"
    MANAGE_STAFF = "manage_staff"
    MANAGE_TOKENS = "manage_tokens"
    OPERATE = "operate"


# By right: its description and the roles that have it. docs/staff.md shows the same table.
TABLE: dict[Right, tuple[Text, tuple[StaffMember.Role, ...]]] = {
    Right.SEE_FIGURES: (_lazy("See sales figures"), (OWNER, MANAGER, READ_ONLY)),
    Right.VIEW_ORDERS: (_lazy("See orders"), (OWNER, MANAGER, FULFILMENT, READ_ONLY)),
    Right.ANNOTATE_ORDERS: (_lazy("Edit order notes and tags"), (OWNER, MANAGER, FULFILMENT)),
    Right.WRITE_TO_CUSTOMERS: (_lazy("Write to the customer of an order"), (OWNER, MANAGER, FULFILMENT)),
    Right.FULFIL_ORDERS: (_lazy("Mark orders as fulfilled"), (OWNER, MANAGER, FULFILMENT)),
    Right.TAKE_PAYMENTS: (_lazy("Mark orders as paid"), (OWNER, MANAGER)),
    Right.REFUND_ORDERS: (_lazy("Refund orders"), (OWNER, MANAGER)),
    Right.CANCEL_ORDERS: (_lazy("Cancel orders"), (OWNER, MANAGER)),
    Right.ISSUE_INVOICES: (_lazy("Issue and correct invoices by hand"), (OWNER, MANAGER)),
    Right.VIEW_PAYMENTS: (_lazy("See payments, refunds and gift cards"), (OWNER, MANAGER, READ_ONLY)),
    Right.MANAGE_GIFT_CARDS: (_lazy("Issue, send, disable and extend gift cards"), (OWNER, MANAGER)),
    Right.VIEW_CARTS: (_lazy("See carts"), (OWNER, MANAGER, READ_ONLY)),
    Right.VIEW_CUSTOMERS: (_lazy("See customers"), (OWNER, MANAGER, READ_ONLY)),
    Right.CHANGE_CUSTOMERS: (_lazy("Add, change and delete customers"), (OWNER, MANAGER)),
    Right.VIEW_PRODUCTS: (_lazy("See products, categories and stock"), (OWNER, MANAGER, FULFILMENT, READ_ONLY)),
    Right.CHANGE_PRODUCTS: (_lazy("Add, change and delete products and categories"), (OWNER, MANAGER)),
    Right.ADJUST_STOCK: (_lazy("Adjust stock"), (OWNER, MANAGER, FULFILMENT)),
    Right.IMPORT_PRODUCTS: (_lazy("Import products"), (OWNER, MANAGER)),
    Right.EXPORT_PRODUCTS: (_lazy("See imports and export products"), (OWNER, MANAGER, READ_ONLY)),
    Right.EXPORT_SALES: (_lazy("Export orders and customers"), (OWNER, MANAGER)),
    Right.MANAGE_PERSONAL_DATA: (_lazy("Export and erase a person's data"), (OWNER, MANAGER)),
    Right.VIEW_PRICES: (_lazy("See customer groups, discounts, tax and delivery"), (OWNER, MANAGER, READ_ONLY)),
    Right.CHANGE_PRICES: (_lazy("Change customer groups, discounts, tax and delivery"), (OWNER, MANAGER)),
    Right.VIEW_EVENTS: (_lazy("See events"), (OWNER, MANAGER, READ_ONLY)),
    Right.VIEW_AUDIT: (_lazy("See the audit log"), (OWNER, MANAGER)),
    Right.MANAGE_APPS: (_lazy("Install apps and manage their blocks, scripts and secrets"), (OWNER,)),
    Right.MANAGE_WEBHOOKS: (_lazy("See and resume webhooks, resend deliveries"), (OWNER,)),
    Right.MANAGE_CONTENT: (_lazy("Write pages and choose the shop's looks"), (OWNER, MANAGER)),
    Right.MANAGE_SETTINGS: (_lazy("Change the shop's settings and allowed origins"), (OWNER,)),
    Right.MANAGE_STAFF: (_lazy("Invite and remove staff and change their roles"), (OWNER,)),
    Right.MANAGE_TOKENS: (_lazy("Create and revoke API tokens"), (OWNER,)),
    Right.OPERATE: (_lazy("Open, close and limit shops, register apps, change domains and set app limits"), ()),
}

# The operator of the deployment may do everything in every shop.
ALL = frozenset(Right)
OF_ROLE = {role: frozenset(right for right, (_, whose) in TABLE.items() if role in whose) for role in StaffMember.Role}


def rights_of(role: str) -> frozenset[Right]:
    """The rights of this role; none for an unknown role."""
    return OF_ROLE.get(StaffMember.Role(role), frozenset()) if role in StaffMember.Role else frozenset()

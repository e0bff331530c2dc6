"""The rights of each staff role: the one table that every page of the admin checks.

An admin class names the right that each of its actions needs (`ScopedToShop.rights`). An action without one is allowed
to nobody.
"""

from enum import StrEnum

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
TABLE: dict[Right, tuple[str, tuple[StaffMember.Role, ...]]] = {
    Right.SEE_FIGURES: ("See sales figures", (OWNER, MANAGER, READ_ONLY)),
    Right.VIEW_ORDERS: ("See orders", (OWNER, MANAGER, FULFILMENT, READ_ONLY)),
    Right.ANNOTATE_ORDERS: ("Edit order notes and tags", (OWNER, MANAGER, FULFILMENT)),
    Right.WRITE_TO_CUSTOMERS: ("Write to the customer of an order", (OWNER, MANAGER, FULFILMENT)),
    Right.FULFIL_ORDERS: ("Mark orders as fulfilled", (OWNER, MANAGER, FULFILMENT)),
    Right.TAKE_PAYMENTS: ("Mark orders as paid", (OWNER, MANAGER)),
    Right.REFUND_ORDERS: ("Refund orders", (OWNER, MANAGER)),
    Right.CANCEL_ORDERS: ("Cancel orders", (OWNER, MANAGER)),
    Right.ISSUE_INVOICES: ("Issue and correct invoices by hand", (OWNER, MANAGER)),
    Right.VIEW_PAYMENTS: ("See payments, refunds and gift cards", (OWNER, MANAGER, READ_ONLY)),
    Right.MANAGE_GIFT_CARDS: ("Issue, send, disable and extend gift cards", (OWNER, MANAGER)),
    Right.VIEW_CARTS: ("See carts", (OWNER, MANAGER, READ_ONLY)),
    Right.VIEW_CUSTOMERS: ("See customers", (OWNER, MANAGER, READ_ONLY)),
    Right.CHANGE_CUSTOMERS: ("Add, change and delete customers", (OWNER, MANAGER)),
    Right.VIEW_PRODUCTS: ("See products, categories and stock", (OWNER, MANAGER, FULFILMENT, READ_ONLY)),
    Right.CHANGE_PRODUCTS: ("Add, change and delete products and categories", (OWNER, MANAGER)),
    Right.ADJUST_STOCK: ("Adjust stock", (OWNER, MANAGER, FULFILMENT)),
    Right.IMPORT_PRODUCTS: ("Import products", (OWNER, MANAGER)),
    Right.EXPORT_PRODUCTS: ("See imports and export products", (OWNER, MANAGER, READ_ONLY)),
    Right.EXPORT_SALES: ("Export orders and customers", (OWNER, MANAGER)),
    Right.MANAGE_PERSONAL_DATA: ("Export and erase a person's data", (OWNER, MANAGER)),
    Right.VIEW_PRICES: ("See customer groups, discounts, tax and delivery", (OWNER, MANAGER, READ_ONLY)),
    Right.CHANGE_PRICES: ("Change customer groups, discounts, tax and delivery", (OWNER, MANAGER)),
    Right.VIEW_EVENTS: ("See events", (OWNER, MANAGER, READ_ONLY)),
    Right.VIEW_AUDIT: ("See the audit log", (OWNER, MANAGER)),
    Right.MANAGE_APPS: ("Install apps and manage their blocks, scripts and secrets", (OWNER,)),
    Right.MANAGE_WEBHOOKS: ("See and resume webhooks, resend deliveries", (OWNER,)),
    Right.MANAGE_CONTENT: ("Write pages and choose the shop's looks", (OWNER, MANAGER)),
    Right.MANAGE_SETTINGS: ("Change the shop's settings and allowed origins", (OWNER,)),
    Right.MANAGE_STAFF: ("Invite and remove staff and change their roles", (OWNER,)),
    Right.MANAGE_TOKENS: ("Create and revoke API tokens", (OWNER,)),
    Right.OPERATE: ("Open, close and limit shops, register apps, change domains and set app limits", ()),
}

# The operator of the deployment may do everything in every shop.
ALL = frozenset(Right)
OF_ROLE = {role: frozenset(right for right, (_, whose) in TABLE.items() if role in whose) for role in StaffMember.Role}


def rights_of(role: str) -> frozenset[Right]:
    """The rights of this role; none for an unknown role."""
    return OF_ROLE.get(StaffMember.Role(role), frozenset()) if role in StaffMember.Role else frozenset()

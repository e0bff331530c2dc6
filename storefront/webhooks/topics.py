"""The topics of events (R-HOOK-1)."""

# Sent only to the app that they are about, when they happen.
UNINSTALLED, SCOPES_CHANGED = "app.uninstalled", "app.scopes_changed"
OWN_TOPICS = (UNINSTALLED, SCOPES_CHANGED)

# Each topic and its scope. Without the scope, an app receives only the object's id.
TOPICS: dict[str, str | None] = {
    "order.placed": "read_orders",
    "order.paid": "read_orders",
    "order.fulfilled": "read_orders",
    "order.cancelled": "read_orders",
    "order.refunded": "read_orders",
    "order.updated": "read_orders",
    "refund.failed": "read_orders",
    "checkout.abandoned": "read_orders",
    "product.created": "read_products",
    "product.updated": "read_products",
    "product.deleted": "read_products",
    "inventory.updated": "read_inventory",
    "customer.created": "read_customers",
    "customer.updated": "read_customers",
    "customer.erased": "read_customers",
    UNINSTALLED: None,
    SCOPES_CHANGED: None,
}

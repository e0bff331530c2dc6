"""What apps can hear of (decisions: Topics)."""

# Sent to the app itself when it happens, and to no other.
UNINSTALLED = "app.uninstalled"

# Topic, and the scope without which an app is told of the object's id alone.
TOPICS: dict[str, str | None] = {
    "order.placed": "read_orders",
    "order.paid": "read_orders",
    "order.fulfilled": "read_orders",
    "order.cancelled": "read_orders",
    "order.refunded": "read_orders",
    "product.created": "read_products",
    "product.updated": "read_products",
    "product.deleted": "read_products",
    "inventory.updated": "read_inventory",
    "customer.created": "read_customers",
    "customer.updated": "read_customers",
    UNINSTALLED: None,
}

"""The scopes a credential can have (R-CALL-19). Writing does not imply reading."""

SCOPES: dict[str, str] = {
    "read_products": "Read products and categories",
    "write_products": "Create, change and delete products",
    "read_orders": "Read orders",
    "write_orders": "Fulfil, cancel and refund orders",
    "read_customers": "Read customers and their addresses",
    "write_customers": "Create and change customers",
    "read_inventory": "Read stock levels",
    "write_inventory": "Change stock levels",
    "read_shop": "Read the shop's name, address and currency",
    "read_audit": "Read the audit log: who changed what",
    "read_cart": "Read carts",
    "write_cart": "Fill carts and send shoppers to checkout",
    "write_webhooks": "Register webhooks",
    "write_script_tags": "Add scripts to the shop's pages",
    "write_extensions": "Add blocks to the shop's pages",
}

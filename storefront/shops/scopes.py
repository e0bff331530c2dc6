"""The scopes a credential can have (R-CALL-19). Writing does not imply reading."""

from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.text import Text

SCOPES: dict[str, Text] = {
    "read_products": _lazy("Read products and categories"),
    "write_products": _lazy("Create, change and delete products"),
    "read_orders": _lazy("Read orders"),
    "write_orders": _lazy("Fulfil, cancel and refund orders"),
    "read_customers": _lazy("Read customers and their addresses"),
    "write_customers": _lazy("Create and change customers"),
    "read_inventory": _lazy("Read stock levels"),
    "write_inventory": _lazy("Change stock levels"),
    "read_shop": _lazy("Read the shop's name, address and currency"),
    "read_audit": _lazy("Read the audit log: who changed what"),
    "read_cart": _lazy("Read carts"),
    "write_cart": _lazy("Fill carts and send shoppers to checkout"),
    "write_webhooks": _lazy("Register webhooks"),
    "write_script_tags": _lazy("Add scripts to the shop's pages"),
    "write_extensions": _lazy("Add blocks to the shop's pages"),
}

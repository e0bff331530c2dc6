"""A mug in two colours, as a WooCommerce file has it, and what the shop has of it."""

from storefront.catalogue.models import Product, Variant
from tests.product_files.files import woo

PARENT = woo(id="1", type="variable", sku="M", name="Mug", regular_price="")


def variation(id: str, sku: str, colour: str | None = None, **given: str) -> dict[str, str]:
    row = woo(id=id, type="variation", sku=sku, name=f"Mug - {colour}", parent="M", **given)
    options = {"Attribute 1 name": "Colour", "Attribute 1 value(s)": colour}
    return row | options if colour else row


def mug(*rows: dict[str, str], colours: str = "Red, Blue") -> list[dict[str, str]]:
    return [PARENT | {"Attribute 1 name": "Colour", "Attribute 1 value(s)": colours}, *rows]


RED, BLUE = variation("2", "M-R", "Red", stock="5"), variation("3", "M-B", "Blue", regular_price="9.90", stock="6")
MUG = mug(RED, BLUE)


def sold(shop, sku: str = "M") -> list[tuple[str, str, str, int]]:
    """(colour, SKU, price, stock) of each active variant of the product."""
    rows = Variant.objects.filter(shop=shop, product__sku=sku, is_active=True).order_by("pk")
    return [(row.option_values.get("Colour", ""), row.sku, str(row.price), row.stock_qty) for row in rows]


def conflicts(report) -> list[str]:
    return [str(problem) for problem in report.problems if problem.severity == "conflict"]


def listed(shop) -> list[str]:
    """The colours among the attributes of the product."""
    return Product.objects.get(shop=shop, sku="M").attributes[0]["values"]

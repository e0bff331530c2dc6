from decimal import Decimal

import pytest

from storefront.documents.models import InvoiceSettings
from storefront.orders.models import Order
from tests.catalogue.factories import make_product
from tests.documents.factories import make_settings
from tests.orders.factories import make_order, sale_line


@pytest.fixture
def seller(shop) -> InvoiceSettings:
    """The shop issues invoices."""
    return make_settings(shop)


@pytest.fixture
def order(shop) -> Order:
    """Three mugs with delivery, taxed at two rates that are included, 34.90 in all, not paid."""
    return make_order(
        shop,
        sale_line(make_product(shop, "Mug", price=Decimal("10.00"), sku="M1", stock_qty=1000), 3),
        shipping=Decimal("4.90"),
        shipping_method="Parcel",
        tax=Decimal("5.11"),
        tax_lines=[
            {"name": "VAT", "percent": "19", "amount": "4.79"},
            {"name": "VAT", "percent": "7", "amount": "0.32"},
        ],
        total=Decimal("34.90"),
    )

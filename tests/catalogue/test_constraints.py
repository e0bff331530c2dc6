"""Values that the constraints of the tables refuse."""

import pytest
from django.db import IntegrityError, transaction

from storefront.catalogue.models import Product
from tests.catalogue.factories import make_product


@pytest.mark.parametrize(
    "column",
    [
        {"status": "sold"},
        {"type": "grouped"},
        {"billing_interval": "eon"},
        {"billing_interval_count": 0},
        {"dimension_unit": "ft"},
        {"price": "-0.01"},
        {"compare_price": "-0.01"},
        {"cost_price": "-0.01"},
        {"stock_qty": -1},
        {"damaged_qty": -1},
        {"slug": ""},
    ],
    ids=lambda column: next(iter(column)),
)
def test_refuses_an_invalid_value(shop, column):
    mug = make_product(shop, track_inventory=True, stock_qty=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Product.objects.filter(pk=mug.pk).update(**column)


def test_allows_stock_below_zero_with_backorders_or_untracked(shop):
    for column in ("allow_backorders", "track_inventory"):
        product = make_product(shop, **{column: column == "allow_backorders"})
        assert Product.objects.filter(pk=product.pk).update(stock_qty=-1) == 1

"""A frozen sale is the same sale when it is thawed."""

from datetime import UTC, datetime
from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storefront.catalogue.stock import StockUse
from storefront.orders.rules import Sale, SaleLine
from storefront.payments.frozen import freeze_sale, thaw_sale

MONEY = st.decimals(min_value=0, max_value=Decimal("999999999999.99"), places=2)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
IDS = st.integers(1, 2**53 - 1)
RECORDS = st.lists(st.dictionaries(TEXT, st.one_of(TEXT, st.integers(0, 99), st.none()), max_size=3), max_size=2)
USES = st.builds(StockUse, st.sampled_from(["product", "variant", "damaged"]), IDS, st.integers(1, 99))
LINES = st.builds(
    SaleLine,
    product_id=st.one_of(st.none(), IDS),
    variant_id=st.one_of(st.none(), IDS),
    sku=TEXT,
    name=TEXT,
    image=st.one_of(st.none(), TEXT),
    qty=st.integers(1, 999),
    unit_price=MONEY,
    line_total=MONEY,
    tax=MONEY,
    is_damaged=st.booleans(),
    bundle_items=RECORDS,
    options=RECORDS,
    custom_fields=RECORDS,
    available_from=st.sampled_from([None, datetime(2027, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)]),
    uses=st.lists(USES, max_size=3).map(tuple),
)
ADDRESSES = st.dictionaries(TEXT, TEXT, max_size=3)
SALES = st.builds(
    Sale,
    lines=st.lists(LINES, max_size=3),
    email=TEXT,
    billing_address=ADDRESSES,
    shipping_address=st.one_of(st.none(), ADDRESSES),
    subtotal=MONEY,
    discount=MONEY,
    shipping=MONEY,
    tax=MONEY,
    total=MONEY,
    currency=TEXT,
    prices_include_tax=st.booleans(),
    customer_id=st.one_of(st.none(), IDS),
    shopper_note=TEXT,
    place=TEXT,
    checkout_link=st.one_of(st.none(), st.uuids()),
    attribution=st.fixed_dictionaries({"client_reference": TEXT, "metadata": ADDRESSES}),
    tax_lines=st.lists(ADDRESSES, max_size=2),
)


@pytest.mark.slow
@given(SALES)
def test_a_sale_comes_back_from_json_as_it_was(sale):
    assert thaw_sale(orjson.loads(orjson.dumps(freeze_sale(sale)))) == sale

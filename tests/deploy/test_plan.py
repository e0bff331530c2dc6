"""What many shops need, computed from what few cost."""

import pytest

from tests.load.measured import CART, HIT, LIST, MEBIBYTE, ORDER, PRODUCT_PAGE, Cost, Measured, table
from tests.load.plan import plan

pytestmark = pytest.mark.any_database


def measured(shops: int, milliseconds: float = 10.0) -> Measured:
    costs = {name: Cost(milliseconds, milliseconds / 2, 0.01) for name in (LIST, HIT, PRODUCT_PAGE, CART, ORDER)}
    return Measured(shops, size=shops * MEBIBYTE, podmap=1.0 + shops / 2000, resident_after=256, costs=costs)


def needed(by: Measured) -> dict[str, str]:
    return dict(line.strip("| ").split(" | ") for line in plan(measured(0), by)[2:])


def test_a_billion_requests_of_ten_milliseconds():
    rows = needed(measured(2000))
    # 1,929 a second, of which 98.2% are counted singly and orders by tens.
    assert rows["Cores that web processes use at the peak"] == "18.9"
    assert rows["Web processes, each with a core that is used to 60%"] == "32"
    assert rows["Memory of these"] == "8 GiB"
    assert rows["Cores that PostgreSQL uses at the peak"] == "9.5"
    assert rows["Pods, with 8 cores for PostgreSQL in each"] == "2"
    assert rows["Orders a month; a second at the peak"] == "2,000,000; 3.9"
    assert rows["Databases of all shops without orders"] == "9.8 GiB"
    # 6 s of 30.
    assert rows["One core used by `podmap`, each half minute"] == "20%"


def test_dearer_requests_need_more():
    rows = needed(measured(2000, 40))
    assert rows["Web processes, each with a core that is used to 60%"] == "127"
    assert rows["Pods, with 8 cores for PostgreSQL in each"] == "8"


def test_each_number_of_shops_has_its_column():
    lines = table([measured(1), measured(2000)]).splitlines()
    assert lines[0] == "| What | 1 shop | 2,000 shops |"
    assert f"| {CART}: CPU ms, web + database | 10.00 + 5.00 | 10.00 + 5.00 |" in lines

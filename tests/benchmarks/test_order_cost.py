"""The gate of what an order costs: `benchmarks/order_cost.py`."""

import pytest

from benchmarks import order_cost
from benchmarks.order_cost import COSTS, HOT_TABLES

MEASURED = {
    **{cost.member: cost.least if cost.most is None else cost.most for cost in COSTS},
    "orders": 10,
    "updates": {HOT_TABLES[0]: [40, 40], "orders_payment": [50, 10]},
    "repeated_indexes": [],
}


@pytest.fixture
def measured(monkeypatch):
    found = dict(MEASURED)
    monkeypatch.setattr(order_cost, "measure", lambda _server, _orders: found)
    monkeypatch.setattr(order_cost.postgres, "answering_server", lambda: "postgres://nowhere")
    monkeypatch.setattr("sys.argv", ["order_cost"])
    return found


def test_costs_within_their_bounds_pass(measured, capsys):
    assert order_cost.main() == 0
    assert "**no**" not in capsys.readouterr().out


@pytest.mark.parametrize("member", ["statements", "wal", "indexes", "shop_keys"])
def test_exceeded_bound_fails_and_is_named(measured, capsys, member):
    measured[member] += 1
    assert order_cost.main() == 1
    printed = capsys.readouterr()
    assert printed.out.count("**no**") == 1
    (cost,) = (each for each in COSTS if each.member == member)
    assert cost.what in printed.err


def test_update_of_a_hot_table_that_writes_to_indexes_fails(measured, capsys):
    measured["updates"] = {HOT_TABLES[0]: [40, 30]}
    assert order_cost.main() == 1
    assert HOT_TABLES[0] in capsys.readouterr().err


def test_repeated_index_fails(measured):
    measured["repeated_indexes"] = [("orders_order", "again")]
    assert order_cost.main() == 1


def test_table_is_written_into_its_page(measured, tmp_path, monkeypatch):
    page = tmp_path / "scale.md"
    page.write_text(f"before\n{order_cost.BEGIN}\nold\n{order_cost.END}\nafter\n")
    monkeypatch.setattr(order_cost, "PAGE", page)
    monkeypatch.setattr("sys.argv", ["order_cost", "--write"])
    assert order_cost.main() == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| indexes | " in text
    assert "old" not in text

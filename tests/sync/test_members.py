"""The choice of members and records: `fields`, `include`, `ids`."""

import pytest

from tests.catalogue.factories import make_option
from tests.sync.lists import pages

pytestmark = pytest.mark.django_db


@pytest.mark.rule("R-SYNC-15")
def test_fields_keep_these_members_in_the_order_of_the_record(place):
    full = pages(place)
    names = list(full[0])[::-3]
    assert [list(record) for record in pages(place, f"fields={','.join(names)}")] == [names[::-1]] * len(full)
    assert pages(place, f"fields={','.join(names)}") == [{name: each[name] for name in names[::-1]} for each in full]
    if "inventory" not in place.path:
        single = place.api.get(f"{place.path}/{full[0]['id']}?fields=id,updated_at").json()
        assert list(single.values()) == [{"id": full[0]["id"], "updated_at": full[0]["updated_at"]}]
        assert place.api.get(f"{place.path}/{full[0]['id']}?fields=colour").status_code == 422


@pytest.mark.rule("R-SYNC-15")
def test_include_adds_what_the_single_read_has(place, shop):
    make_option(shop.products.get(name="Shirt"))
    included = {
        "/products": ["categories", "variants", "options"] + (["bundle_items"] if place.name != "data" else []),
        "/orders": ["shipping_address", "billing_address", "lines", "payments", "fulfilments", "refunds"],
        "/customers": ["addresses"],
        "/inventory": [],
    }[place.path]
    if not included:
        return
    for record in pages(place, f"include={','.join(included)}"):
        (single,) = place.api.get(f"{place.path}/{record['id']}").json().values()
        assert record == single
        assert list(record) == list(single)
    last = included[-1]
    assert list(pages(place, f"fields=id&include={last}&per_page=1")[0]) == ["id", last]
    assert pages(place, f"fields=id,{last}") == pages(place, f"fields=id&include={last}")


@pytest.mark.rule("R-SYNC-15")
def test_unknown_names_are_refused_with_the_known_ones(place):
    for query, field in (("fields=id,colour", "fields"), ("fields=", "fields"), ("include=suppliers", "include")):
        answer = place.api.get(f"{place.path}?{query}")
        if place.path == "/inventory" and field == "include":
            assert answer.status_code == 200
            continue
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
        assert "Known are" in answer.json()["errors"][field][0]


@pytest.mark.rule("R-SYNC-15")
def test_six_fields_of_a_product_are_a_fifth_of_it_or_less(api, cast):
    query = "/products?per_page=100&fields=id,name,slug,price,stock_qty,updated_at"
    full, part = api.get("/products?per_page=100").json()["data"], api.get(query).json()["data"]
    assert 5 * len(str(part)) < len(str(full))


@pytest.mark.rule("R-SYNC-16")
def test_ids_keep_these_records(place, other_shop):
    full = pages(place)
    wanted = [record["id"] for record in full[1:3]]
    foreign = other_shop.products.first().pk
    missing = [f"p{foreign}", "p99999"] if "inventory" in place.path else [foreign if "prod" in place.path else 99999]
    query = ",".join(map(str, [*wanted, *missing, *wanted]))
    assert pages(place, f"ids={query}") == full[1:3]
    assert [each["id"] for each in pages(place, f"ids={query}&per_page=1")] == wanted
    for wrong in ("", "x", "0", ",".join(map(str, range(1, 102)))):
        answer = place.api.get(f"{place.path}?ids={wrong}")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["ids"])

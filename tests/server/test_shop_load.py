"""The figures have the load of the busiest shops, and of all others together."""

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

from storefront.server.metrics.shop_load import MAX_SHOPS, ShopLoad


def counted(**seconds: float) -> list:
    family = CounterMetricFamily("storefront_shop_request_seconds", "…", labels=["shop"])
    for shop, value in seconds.items():
        family.add_metric([shop], value)
    return [GaugeMetricFamily("another", "…", 7), family]


def load(shops: ShopLoad, now: float, **seconds: float) -> dict[str, float]:
    other, found = shops.replace(counted(**seconds), now)
    assert (other.name, found.name) == ("another", "storefront_shop_load")
    return {each.labels["shop"]: each.value for each in found.samples}


def test_the_load_is_that_of_the_last_five_minutes():
    shops = ShopLoad()
    assert load(shops, 0, a=1000) == {"other": 0}
    assert load(shops, 60, a=1030, b=6) == {"a": 0.5, "b": 0.1, "other": 0}
    for minute in range(2, 6):
        load(shops, minute * 60, a=1030, b=6)
    # What happened before the window is forgotten.
    assert load(shops, 360, a=1030, b=36) == {"b": 0.1, "other": 0}


def test_the_busiest_shops_are_named_and_the_others_are_one():
    shops = ShopLoad()
    load(shops, 0)
    many = {f"shop{number:02}": 60.0 + number for number in range(MAX_SHOPS + 2)}
    found = load(shops, 60, **many)
    assert len(found) == MAX_SHOPS + 1
    assert found["other"] == (60 + 61) / 60
    assert "shop01" not in found
    assert found["shop21"] == 81 / 60


def test_two_scrapes_at_once_see_the_same():
    shops = ShopLoad()
    load(shops, 0)
    assert load(shops, 30, a=15) == load(shops, 30, a=15) == {"a": 0.5, "other": 0}
    assert len(shops.samples) == 1

"""Addresses that are asked for in vain: what is counted, and how much of it at most."""

from collections import Counter
from datetime import timedelta

import pytest
from django.db import OperationalError

from storefront.content import missing
from storefront.content.models import MissingPath
from storefront.shops.models import Shop
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop


def listed(shop: Shop) -> dict[str, int]:
    return dict(MissingPath.objects.filter(shop=shop).values_list("path", "asked"))


def ask(shop: Shop, path: str, times: int = 1) -> None:
    for _ in range(times):
        missing.count(shop.pk, path)


def test_counts_are_added_up_over_writes(shop, other_shop):
    ask(shop, "/Old/", 2)
    ask(shop, "/old")
    ask(other_shop, "/old")
    missing.flush(NOW)
    ask(shop, "/old")
    later = NOW + timedelta(minutes=1)
    missing.flush(later)
    assert (listed(shop), listed(other_shop)) == ({"/old": 4}, {"/old": 1})
    assert MissingPath.objects.get(shop=shop).last_asked_at == later


def test_counting_asks_the_database_nothing(shop, django_assert_num_queries):
    with django_assert_num_queries(0):
        ask(shop, "/old", 5)


PROBES = ["/index.php", "/wp-admin/setup", "/.env", "/a/.git/config", "/favicon.ico", "/cgi-bin/x"]
PERSONAL = ["/unsubscribe/ada@example.com", "/reset/3f2a9c0b1d4e5f60718293a4b5c6d7e8"]
SECRET = [
    "/Account/Forgot/x", "/checkout/pay/abc", "/de/account/link/kQ2n", "/order/12345/view/wc_order_AbC",
    "/my-account/view-order/99", "/door/secretcode", "/stock-alerts/confirm/abc123", "/tel/+491701234567",
    "/invite/TOKENTOKENTOKENTOKEN12345", "/gift/GIFT-ABCD-EFGH-1234", "/de-DE/gift-cards/ABCD", "/+49-170-1234567",
    "/reset/MTIzNDU2/c1x2y3-QWERTYuiop", "/a/123e4567-e89b-12d3-a456-426614174000", "/dl_9f8e7d6c5b4a39281716",
    "/see/kQ2nXy7Zp4Lm", "/see/TOKENTOKENTOKENTOKEN12345", "/see/c1x2y3-q7w8", "/cart;jsessionid=1", "/see/" + "k" * 32,
]  # fmt: skip
ODD = ["/" + "a" * 101, "/a" * 101, "/a\x00b", "/a\nb"]


@pytest.mark.parametrize("path", [*PROBES, *PERSONAL, *SECRET, *ODD])
def test_probes_and_what_may_be_personal_are_not_counted(shop, path):
    ask(shop, path)
    missing.flush(NOW)
    assert listed(shop) == {}


@pytest.mark.parametrize("path", [
    "/mütze.html", "/blogs/news/spring", "/products/mug", "/products/4006381333931", "/categories/gift/cups",
    "/nike-air-max-90-mens-size-10", "/iphone-14-pro-256gb-b2b", "/news/2024/05/12/summer-sale-20", "/gift",
    "/donaudampfschifffahrtsgesellsch", "/collections/order-of-the-phoenix", "/abc123.html", "/orders-2024",
    "/p/wd40-400ml",
])  # fmt: skip
def test_pages_of_an_earlier_site_are_counted(shop, path):
    ask(shop, path)
    missing.flush(NOW)
    assert listed(shop) == {path: 1}


def test_memory_is_bounded_for_each_shop(shop, other_shop, monkeypatch):
    monkeypatch.setattr(missing, "MAX_PENDING_OF_SHOP", 2)
    monkeypatch.setattr(missing, "MAX_PENDING", 3)
    for path in ("/a", "/b", "/a", "/c"):
        ask(shop, path)
    for path in ("/a", "/b"):
        ask(other_shop, path)
    missing.flush(NOW)
    # What is new pushes out what was asked for least, in the shop that has most.
    assert (listed(shop), listed(other_shop)) == ({"/a": 2}, {"/a": 1, "/b": 1})


def test_new_addresses_gather_requests_in_a_full_table(shop, other_shop, monkeypatch):
    monkeypatch.setattr(missing, "MAX_PATHS", 4)
    monkeypatch.setattr(missing, "MAX_LATEST", 2)
    ask(other_shop, "/junk-0", 3)
    for number in range(4):
        ask(shop, f"/junk-{number}", 3)
    missing.flush(NOW)
    for minute in range(1, 3):
        ask(shop, "/new")
        missing.flush(NOW + timedelta(minutes=minute))
    assert listed(shop)["/new"] == 2
    # Days later, what was asked for in a burst is worth less than what was asked for since.
    ask(shop, "/newer")
    ask(shop, "/newest")
    missing.flush(NOW + timedelta(days=3))
    assert {"/newer", "/newest"} <= set(listed(shop))
    assert listed(other_shop) == {"/junk-0": 3}


def test_a_full_table_keeps_what_was_asked_for_most(shop, other_shop, monkeypatch):
    monkeypatch.setattr(missing, "MAX_PATHS", 2)
    monkeypatch.setattr(missing, "MAX_LATEST", 1)
    ask(other_shop, "/theirs")
    ask(shop, "/old", 3)
    ask(shop, "/once")
    missing.flush(NOW)
    for number in range(50):
        ask(shop, f"/random-{number}")
    missing.flush(NOW + timedelta(minutes=1))
    assert listed(shop)["/old"] == 3
    assert len(listed(shop)) == 2
    assert listed(other_shop) == {"/theirs": 1}
    # Months later, it makes room.
    ask(shop, "/new")
    ask(shop, "/newer")
    missing.flush(NOW + missing.FADES_AFTER + timedelta(days=1))
    assert listed(shop) == {"/new": 1, "/newer": 1}


def test_what_cannot_be_written_is_kept_for_the_next_time(shop, monkeypatch):
    def fail(*given):
        raise OperationalError("gone")

    ask(shop, "/old", 2)
    with monkeypatch.context() as patch:
        patch.setattr(missing, "_write", fail)
        missing.flush(NOW)
    ask(shop, "/old")
    missing.flush(NOW)
    assert listed(shop) == {"/old": 3}


def test_a_shop_that_is_gone_leaves_nothing(shop):
    ask(shop, "/old")
    Shop.objects.filter(pk=shop.pk).delete()
    missing.flush(NOW)
    assert not MissingPath.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_processes_that_write_at_once_lose_nothing():
    shop = make_shop()
    run_concurrently(*(lambda: missing._write(shop.pk, Counter({"/old": 2}), NOW) for _ in range(4)))
    assert listed(shop) == {"/old": 8}

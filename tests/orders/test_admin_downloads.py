"""The order's page in the admin shows its downloads, and allows them again."""

import pytest
from django.urls import reverse

from storefront.orders.models import Download
from storefront.payments import actions
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file
from tests.shops.factories import NOW


@pytest.fixture
def order(shop):
    book = make_product(shop, "Book", max_downloads=3, download_expiry_days=30)
    add_file(book, "one.pdf")
    add_file(book, "two.pdf")
    placed = make_order(shop, sale_line(book))
    Download.objects.update(used=3)
    return placed


def allow(desk, order, *files: int):
    url = reverse("admin:orders_order_allow_downloads", args=[order.pk])
    return desk.post(url, {"_form_submitted": "on", "files": files})


def test_shows_each_file_with_its_counts(desk, shop, order):
    page = desk.page(order).content.decode()
    for text in ("one.pdf", "two.pdf", "3 of 3", "30 days after the payment", "Allow downloads again"):
        assert text in page
    without = make_order(shop, sale_line(make_product(shop)))
    assert "Allow downloads again" not in desk.page(without).content.decode()


def test_allows_the_chosen_files_again(desk, shop, order):
    actions.mark_paid(shop=shop, order=order, now=NOW)
    _, two = order.downloads.order_by("name")
    dialog = desk.get(reverse("admin:orders_order_allow_downloads", args=[order.pk])).content.decode()
    assert "two.pdf (Book)" in dialog
    assert allow(desk, order, two.pk).status_code == 302
    assert [row.used for row in order.downloads.order_by("name")] == [3, 0]
    assert AuditEntry.objects.filter(action="order.downloads_allowed").count() == 1


def test_only_the_orders_own_files_can_be_chosen(desk, shop, other_shop, order):
    book = make_product(other_shop, "Theirs")
    add_file(book)
    theirs = make_order(other_shop, sale_line(book)).downloads.get()
    answer = allow(desk, order, theirs.pk)
    assert answer.status_code == 200
    assert "is not one of the available choices" in answer.content.decode()
    assert allow(desk, order).status_code == 200
    assert not AuditEntry.objects.filter(action="order.downloads_allowed").exists()


def test_a_cancelled_order_offers_it_no_longer(desk, shop, order):
    actions.cancel_order(shop=shop, order=order, now=NOW)
    assert "Allow downloads again" not in desk.page(order).content.decode()
    allow(desk, order, order.downloads.first().pk)
    assert Download.objects.filter(used=3).count() == 2

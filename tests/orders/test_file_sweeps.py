"""Files that are added after a sale, and files that nothing names any more."""

from datetime import timedelta
from pathlib import Path

import pytest

from storefront.catalogue.models import DigitalFile, StoredFile
from storefront.orders.file_sweeps import KEPT_UNUSED, delete_unused_files, give_added_files
from storefront.orders.models import Download
from storefront.payments import actions
from tests.catalogue.factories import make_product, make_variant
from tests.orders.factories import make_order, sale_line
from tests.orders.files import add_file, stored
from tests.shops.factories import NOW

DAY = timedelta(days=1)


@pytest.fixture
def book(shop):
    return make_product(shop, "Book", max_downloads=2, download_expiry_days=30)


def give(limit: int = 100, now=NOW) -> None:
    while give_added_files(now=now, limit=limit):
        pass


def names(order) -> list[str]:
    return [download.name for download in order.downloads.all()]


def test_earlier_orders_get_a_file_that_is_added(shop, book):
    add_file(book, "first.pdf")
    orders = [make_order(shop, sale_line(book)) for _ in range(5)]
    for order in orders:
        actions.mark_paid(shop=shop, order=order, now=NOW)
    add_file(book, "second.pdf")
    give(limit=2, now=NOW + 3 * DAY)
    assert [names(order) for order in orders] == [["first.pdf", "second.pdf"]] * 5
    # In the time that the payment began.
    assert set(Download.objects.values_list("expires_at", flat=True)) == {NOW + 30 * DAY}
    assert not DigitalFile.objects.filter(given_at=None).exists()
    give()
    assert Download.objects.count() == 10


def test_an_order_that_had_no_file_gets_the_whole_time(shop, book):
    order = make_order(shop, sale_line(book))
    unpaid = make_order(shop, sale_line(book))
    actions.mark_paid(shop=shop, order=order, now=NOW)
    add_file(book)
    give(now=NOW + 40 * DAY)
    assert order.downloads.get().expires_at == NOW + 70 * DAY
    assert unpaid.downloads.get().expires_at is None


def test_no_order_gets_what_it_did_not_buy_or_no_longer_has(shop, other_shop, book):
    blue, red = make_variant(book, "Blue"), make_variant(book, "Red")
    add_file(book, "first.pdf")
    of_blue, of_red, cancelled, expired = (make_order(shop, sale_line(item)) for item in (blue, red, blue, blue))
    elsewhere = make_order(other_shop, sale_line(make_product(other_shop)))
    for order in (of_blue, of_red, expired):
        actions.mark_paid(shop=shop, order=order, now=NOW)
    actions.cancel_order(shop=shop, order=cancelled, now=NOW)
    expired.downloads.update(expires_at=NOW)
    add_file(blue, "blue.pdf")
    give(now=NOW + DAY)
    assert names(of_blue) == ["first.pdf", "blue.pdf"]
    assert names(of_red) == names(cancelled) == names(expired) == ["first.pdf"]
    assert names(elsewhere) == []


def test_a_replaced_file_stays_that_of_earlier_orders(shop, book):
    row = add_file(book, "old.pdf", b"old")
    order = make_order(shop, sale_line(book))
    give()
    row.file = stored(shop, "new.pdf", b"new")
    row.save(update_fields=["file"])
    give()
    assert order.downloads.get().file.file.read() == b"old"
    assert make_order(shop, sale_line(book)).downloads.get().file.file.read() == b"new"


def test_a_file_is_deleted_a_day_after_nothing_names_it(shop, book):
    sold, unsold = add_file(book, "sold.pdf"), add_file(make_product(shop), "unsold.pdf")
    make_order(shop, sale_line(book))
    path = Path(unsold.file.file.path)
    later = NOW + 30 * DAY
    assert delete_unused_files(now=later, limit=10) == 0
    DigitalFile.objects.all().delete()
    assert delete_unused_files(now=later, limit=10) == 0
    assert delete_unused_files(now=later + KEPT_UNUSED, limit=10) == 0
    assert delete_unused_files(now=later + KEPT_UNUSED + timedelta(seconds=1), limit=10) == 1
    assert not path.exists()
    assert StoredFile.objects.get() == sold.file
    assert Path(sold.file.file.path).exists()


def test_an_upload_whose_form_is_never_saved_is_deleted(shop):
    stored(shop)
    assert delete_unused_files(now=NOW + DAY / 2, limit=10) == 0
    assert delete_unused_files(now=NOW + DAY * 2, limit=10) == 1

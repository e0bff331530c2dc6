"""What an order's lines can download: copied when it is placed, opened by the payment, and never more than was sold."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.models import BundleItem, Product
from storefront.kit.api.ranges import Span
from storefront.kit.money import ZERO
from storefront.orders import actions as orders
from storefront.orders import jobs
from storefront.orders.allowing import NothingToAllow, allow_downloads
from storefront.orders.download_links import Availability, availability, download_of_token, download_token
from storefront.orders.downloads import MAX_DAYS, RESUMED_SIZES, RESUMED_WITHIN, begin_download
from storefront.orders.models import Download
from storefront.orders.queries import order_record
from storefront.payments import actions
from storefront.payments.refunds import request_refund
from storefront.shops.models import AuditEntry
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product, make_variant
from tests.orders.factories import make_order, sale, sale_line
from tests.orders.files import BOOK, add_file
from tests.payments.refunding import record_refunded
from tests.shops.factories import NOW

DAY = timedelta(days=1)
WHOLE = Span(0, len(BOOK))
READY, USED_UP = Availability.READY, Availability.USED_UP


@pytest.fixture
def book(shop) -> Product:
    product = make_product(shop, "Book", type="digital", max_downloads=2, download_expiry_days=30)
    add_file(product)
    return product


def sold(shop, item, **given) -> Download:
    """The only download of a paid order."""
    order = make_order(shop, sale_line(item), **given)
    return actions.mark_paid(shop=shop, order=order, now=NOW).downloads.get()


def begin(download: Download, span: Span = WHOLE, now=NOW) -> Availability:
    return begin_download(download=download, span=span, now=now)


def test_a_line_has_the_files_of_its_product_and_variant_and_of_no_other(shop):
    shirt = make_product(shop, "Pattern")
    blue, red = make_variant(shirt, "Blue"), make_variant(shirt, "Red")
    add_file(shirt, "guide.pdf", sort_order=2)
    add_file(blue, "blue.pdf", sort_order=1)
    add_file(red, "red.pdf")
    add_file(make_product(shop, "Other"), "other.pdf")
    order = make_order(shop, sale_line(blue), sale_line(make_product(shop, "Mug")))
    assert [(each.line.variant_id, each.name) for each in order.downloads.all()] == [
        (blue.pk, "blue.pdf"),
        (blue.pk, "guide.pdf"),
    ]


def test_a_bundle_has_the_files_of_its_items(shop, book):
    bundle = make_product(shop, "Bundle", type="bundle")
    BundleItem.objects.create(shop=shop, bundle=bundle, product=book)
    items = [{"product_id": book.pk, "variant_id": None, "name": "Book", "sku": "", "qty": 1}] * 2
    order = make_order(shop, sale_line(bundle, bundle_items=items, is_bundle=True))
    assert [(each.name, each.max_downloads) for each in order.downloads.all()] == [("book.pdf", 2)]


def test_the_payment_starts_the_time_and_sends_the_links(shop, book, mailoutbox):
    order = make_order(shop, sale_line(book))
    assert availability(order.downloads.get(), NOW) == Availability.UNPAID
    assert not DBTaskResult.objects.filter(task_path__endswith="send_downloads_mail").exists()

    paid_at = NOW + timedelta(days=5)
    actions.mark_paid(shop=shop, order=order, now=paid_at)

    download = order.downloads.get()
    assert download.expires_at == paid_at + timedelta(days=30)
    assert DBTaskResult.objects.filter(task_path__endswith="send_downloads_mail").count() == 1
    jobs.send_downloads_mail.func(order.shop_id, order.pk)
    (message,) = mail.outbox
    assert message.subject == f"Your downloads from order {order.number} at Lighthouse"
    assert f"{shop.base_url}/downloads/{download_token(download)}" in message.body
    assert "Can be downloaded 2 times, until " in message.body


def test_a_free_order_is_open_at_once(shop, book):
    free = sale(sale_line(book, unit_price=ZERO, line_total=ZERO))
    order = orders.create_order(shop=shop, sale=free, taken=[], payment_method="", now=NOW)
    assert availability(order.downloads.get(), NOW) == READY
    assert order.downloads.get().expires_at == NOW + timedelta(days=30)
    assert DBTaskResult.objects.filter(task_path__endswith="send_downloads_mail").count() == 1


def test_an_order_without_files_sends_no_links(shop):
    order = make_order(shop, sale_line(make_product(shop, "Mug")))
    actions.mark_paid(shop=shop, order=order, now=NOW)
    assert not DBTaskResult.objects.filter(task_path__endswith="send_downloads_mail").exists()


def test_a_cancelled_order_gets_no_mail_of_links(shop, book):
    download = sold(shop, book)
    actions.cancel_order(shop=shop, order=download.order, now=NOW)
    jobs.send_downloads_mail.func(download.shop_id, download.order_id)
    assert mail.outbox == []


@pytest.mark.parametrize("end", ["cancelled", "refunded"])
def test_cancelling_or_refunding_withdraws_the_files(shop, book, end):
    download = sold(shop, book)
    if end == "cancelled":
        actions.cancel_order(shop=shop, order=download.order, now=NOW)
    else:
        refund = request_refund(shop=shop, order=download.order, now=NOW)
        record_refunded(shop=shop, refund=refund, reference="", now=NOW)
    assert begin(download) == Availability.WITHDRAWN
    assert Download.objects.get().used == 0


def test_a_partly_refunded_order_keeps_its_files(shop, book):
    download = sold(shop, book)
    refund = request_refund(shop=shop, order=download.order, amount=Decimal("1.00"), now=NOW)
    record_refunded(shop=shop, refund=refund, reference="", now=NOW)
    assert begin(download) == READY


def test_can_be_downloaded_max_downloads_times(shop, book):
    download = sold(shop, book)
    assert [begin(download) for _ in range(3)] == [READY, READY, USED_UP]
    assert Download.objects.get().used == 2


def test_no_limit_is_zero(shop, book):
    Product.objects.update(max_downloads=0, download_expiry_days=0)
    download = sold(shop, book)
    assert {begin(download, now=NOW + year * 400 * DAY) for year in range(5)} == {READY}
    assert (download.left, download.expires_at) == (None, None)


def test_expires_that_many_days_after_the_payment(shop, book):
    download = sold(shop, book)
    assert begin(download, now=NOW + 30 * DAY - timedelta(seconds=1)) == READY
    assert begin(download, now=NOW + 30 * DAY) == Availability.EXPIRED
    assert Download.objects.get().used == 1


def test_more_days_than_there_are_is_no_limit(shop, book):
    Product.objects.update(download_expiry_days=2**31 - 1)
    assert sold(shop, book).expires_at is None
    assert MAX_DAYS < 2**31


def test_parts_of_one_download_count_once_within_an_hour(shop, book):
    Product.objects.update(max_downloads=1)
    download = sold(shop, book)
    assert begin(download, Span(0, 100)) == READY
    assert begin(download, Span(100, 1024), NOW + timedelta(minutes=59)) == READY
    assert Download.objects.get().used == 1
    assert begin(download, WHOLE, NOW + timedelta(minutes=1)) == USED_UP
    assert begin(download, Span(100, 1024), NOW + RESUMED_WITHIN) == USED_UP


def test_parts_do_not_add_up_to_downloads_without_end(shop, book):
    Product.objects.update(max_downloads=1)
    download = sold(shop, book)
    answers = [begin(download, Span(1, 1024)) for _ in range(RESUMED_SIZES + 5)]
    assert answers.count(READY) == RESUMED_SIZES
    assert answers[-1] == USED_UP


def test_a_resumed_download_ends_with_the_order(shop, book):
    download = sold(shop, book)
    begin(download)
    actions.cancel_order(shop=shop, order=download.order, now=NOW)
    assert begin(download, Span(100, 1024)) == Availability.WITHDRAWN


def test_what_was_sold_stays_when_the_product_changes(shop, book):
    variant = make_variant(book, "Large print")
    add_file(variant, "large.pdf", b"large")
    order = actions.mark_paid(shop=shop, order=make_order(shop, sale_line(variant)), now=NOW)
    book.digital_files.all().delete()
    variant.delete()
    Product.objects.update(status="archived", deleted_at=NOW, max_downloads=0)
    rows = order.downloads.order_by("name")
    assert [(row.name, row.file.file.read(), row.max_downloads) for row in rows] == [
        ("book.pdf", BOOK, 2),
        ("large.pdf", b"large", 2),
    ]
    assert {availability(row, NOW) for row in rows} == {READY}


def test_a_link_is_bound_to_its_shop_and_its_file(shop, other_shop, book):
    download = sold(shop, book)
    token = download_token(download)
    assert download_of_token(shop, token) == download
    assert download_of_token(other_shop, token) is None
    id, _, signature = token.partition(".")
    forged = f"{download.pk + 1}-{download.line_id}-{download.file_id}.{signature}"
    for wrong in (forged, id, f"{id}.", f".{signature}", "", token[:-1], "1-2-3", f"{id}.é"):
        assert download_of_token(shop, wrong) is None


@pytest.mark.rule("R-APP-42")
def test_records_show_the_links_once_the_order_is_paid(shop, book):
    order = make_order(shop, sale_line(book))
    (unpaid,) = Event.objects.get(topic="order.placed").data["lines"][0]["downloads"]
    assert unpaid == {"url": None, "name": "book.pdf", "left": 2, "expires_at": None}
    actions.mark_paid(shop=shop, order=order, now=NOW)
    (paid,) = Event.objects.get(topic="order.paid").data["lines"][0]["downloads"]
    token = download_token(order.downloads.get())
    assert paid["url"] == f"{shop.base_url}/downloads/{token}"
    assert (paid["left"], paid["expires_at"][:4]) == (2, str((NOW + 30 * DAY).year))
    order = actions.cancel_order(shop=shop, order=order, now=NOW)
    assert order_record(order)["lines"][0]["downloads"][0]["url"] is None


def test_allowing_again_resets_count_and_time_and_is_audited(shop, book):
    download = sold(shop, book)
    for _ in range(3):
        begin(download)
    later = NOW + 40 * DAY
    allow_downloads(shop=shop, order=download.order, ids=[download.pk], now=later)
    again = Download.objects.get()
    assert (again.used, again.expires_at) == (0, later + 30 * DAY)
    assert begin(download, now=later) == READY
    entry = AuditEntry.objects.get(action="order.downloads_allowed")
    assert [each["used"] for each in (*entry.before["downloads"], *entry.after["downloads"])] == [2, 0]
    assert Event.objects.filter(topic="order.updated").count() == 1


def test_another_orders_downloads_are_not_allowed_again(shop, other_shop, book):
    one, other = sold(shop, book), sold(shop, book)
    begin(other)
    with pytest.raises(NothingToAllow):
        allow_downloads(shop=shop, order=one.order, ids=[other.pk], now=NOW)
    actions.cancel_order(shop=shop, order=one.order, now=NOW)
    with pytest.raises(NothingToAllow):
        allow_downloads(shop=shop, order=one.order, ids=[one.pk], now=NOW)
    assert Download.objects.get(pk=other.pk).used == 1

"""The page behind a download's link: who gets which bytes, how they are sent, and what is counted."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as configured
from django.test import Client

from storefront.orders.download_links import download_token
from storefront.orders.models import Download, Order
from storefront.payments import actions
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.orders.files import BOOK, add_file
from tests.shops.factories import NOW

DAY = timedelta(days=1)


@pytest.fixture
def book(shop):
    product = make_product(shop, "Book", type="digital", max_downloads=2, download_expiry_days=30)
    add_file(product, "Bücher & mehr.pdf")
    return product


@pytest.fixture
def paid(shop, book, clock) -> Order:
    return actions.mark_paid(shop=shop, order=make_order(shop, sale_line(book)), now=NOW)


def link(order: Order) -> str:
    return f"/downloads/{download_token(order.downloads.get())}"


def body(answer) -> bytes:
    return b"".join(answer.streaming_content)


def used() -> int:
    return Download.objects.get().used


def test_sends_the_file_as_an_attachment_that_runs_nothing(paid, shopper):
    answer = shopper.get(link(paid))
    assert (answer.status_code, body(answer)) == (200, BOOK)
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == "attachment; filename*=utf-8''B%C3%BCcher%20%26%20mehr.pdf"
    assert answer["Content-Length"] == str(len(BOOK))
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["Cache-Control"] == "no-store"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert used() == 1


@pytest.mark.parametrize("name", ["page.html", "drawing.svg", "feed.xml", "script.js", "none", "a.pdf.html"])
def test_no_file_is_sent_as_a_type_that_browsers_run(shop, shopper, clock, name):
    product = make_product(shop, "Book")
    add_file(product, name, b"<script>alert(1)</script>")
    order = actions.mark_paid(shop=shop, order=make_order(shop, sale_line(product)), now=NOW)
    answer = shopper.get(link(order))
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment")


def test_a_download_resumes_and_counts_once(paid, shopper):
    first = shopper.get(link(paid), headers={"range": "bytes=0-99"})
    assert (first.status_code, body(first), first["Content-Range"]) == (206, BOOK[:100], "bytes 0-99/1024")
    rest = shopper.get(link(paid), headers={"range": "bytes=100-", "if-range": first["ETag"]})
    assert (rest.status_code, body(rest), rest["Content-Length"]) == (206, BOOK[100:], "924")
    assert used() == 1
    whole = shopper.get(link(paid), headers={"range": "bytes=100-", "if-range": '"another"'})
    assert (whole.status_code, body(whole)) == (200, BOOK)
    assert used() == 2


def test_head_and_a_wrong_range_count_nothing(paid, shopper):
    answer = shopper.browser.head(link(paid))
    assert (answer.status_code, answer["Content-Length"], answer["Accept-Ranges"]) == (200, "1024", "bytes")
    answer = shopper.get(link(paid), headers={"range": "bytes=1024-"})
    assert (answer.status_code, answer["Content-Range"]) == (416, "bytes */1024")
    assert used() == 0


def test_says_why_it_sends_nothing(shop, book, shopper, clock):
    order = make_order(shop, sale_line(book))

    def refusal() -> tuple[int, str]:
        answer = shopper.get(link(order))
        assert not answer.streaming
        assert shopper.browser.head(link(order)).status_code == answer.status_code
        assert "Accept-Ranges" not in answer
        return answer.status_code, answer.content.decode()

    status, page = refusal()
    assert (status, "This file is not ready yet" in page) == (403, True)
    assert used() == 0
    order = actions.mark_paid(shop=shop, order=order, now=NOW)
    for _ in range(2):
        body(shopper.get(link(order)))
    status, page = refusal()
    assert (status, "could be downloaded 2 times" in page) == (410, True)
    clock.shift(30 * DAY)
    Download.objects.update(used=0)
    shopper.post(f"/orders/{order.public_id}/e-mail", {"email": "ada@example.com"})
    status, page = refusal()
    assert (status, "This download has expired" in page) == (410, True)
    actions.cancel_order(shop=shop, order=order, now=NOW)
    status, page = refusal()
    assert (status, "cancelled or refunded" in page) == (410, True)
    assert used() == 0


def test_after_a_day_the_link_asks_for_the_email_address(paid, shop, shopper, clock):
    clock.shift(DAY)
    answer = shopper.get(link(paid))
    assert answer.status_code == 403
    assert "Is this your order?" in answer.content.decode()
    assert "Bücher" not in answer.content.decode()
    shopper.post(f"/orders/{paid.public_id}/e-mail", {"email": "ada@example.com"})
    assert body(shopper.get(link(paid))) == BOOK
    # Another visitor with the same link, and one who unlocked another order.
    stranger = Shopper(shop)
    other = make_order(shop, sale_line(make_product(shop)), email="eve@example.com")
    stranger.post(f"/orders/{other.public_id}/e-mail", {"email": "eve@example.com"})
    assert stranger.get(link(paid)).status_code == 403
    assert used() == 1


def test_another_customer_does_not_get_the_file(shop, book, clock):
    ada = make_customer(shop)
    make_customer(shop, "eve@example.com")
    order = actions.mark_paid(shop=shop, order=make_order(shop, sale_line(book), customer_id=ada.pk), now=NOW)
    clock.shift(DAY)
    eve, owner = Shopper(shop), Shopper(shop)
    eve.sign_in("eve@example.com")
    owner.sign_in()
    assert eve.get(link(order)).status_code == 403
    assert body(owner.get(link(order))) == BOOK


def test_a_link_of_another_shop_or_order_or_a_guess_is_a_404(paid, shop, other_shop, book, shopper):
    assert Shopper(other_shop).get(link(paid)).status_code == 404
    unpaid = make_order(shop, sale_line(book)).downloads.get()
    _, _, signature = link(paid).partition(".")
    guessed = f"/downloads/{unpaid.pk}-{unpaid.line_id}-{unpaid.file_id}.{signature}"
    for path in (guessed, "/downloads/1", "/downloads/1-1-1", "/downloads/", "/downloads/..%2f", f"{link(paid)}/x"):
        assert shopper.get(path).status_code == 404, path


def test_the_stored_file_has_no_other_address(paid, shopper):
    name = paid.downloads.get().file.file.name
    assert "book" not in name.lower()
    for path in (
        f"/media/{name}",
        f"/media/private/{name}",
        f"/media/../private/{name}",
        f"/static/{name}",
        f"/{name}",
    ):
        answer = Client().get(path, headers={"host": paid.shop.domain})
        assert answer.status_code in (301, 404), path
    private = Path(configured.STORAGES["private"]["OPTIONS"]["location"])
    assert not private.is_relative_to(configured.MEDIA_ROOT)


def test_a_file_that_is_missing_is_not_counted(paid, shopper):
    Path(paid.downloads.get().file.file.path).unlink()
    answer = shopper.get(link(paid))
    assert answer.status_code == 503
    assert "did not count" in answer.content.decode()
    assert used() == 0


def test_only_reading_methods_are_allowed(paid, shopper):
    assert shopper.post(link(paid), {}).status_code == 405
    assert used() == 0


def test_the_orders_page_and_the_account_show_the_links(shop, book, clock):
    ada = make_customer(shop)
    order = make_order(shop, sale_line(book), customer_id=ada.pk)
    shopper = Shopper(shop)
    shopper.sign_in()
    pages = f"/orders/{order.public_id}", f"/account/orders/{order.number}"
    for page in pages:
        text = shopper.read(page)
        assert "Ready when your payment has arrived" in text
        assert "/downloads/" not in text
    actions.mark_paid(shop=shop, order=order, now=NOW)
    for page in pages:
        text = shopper.read(page)
        assert f'href="{link(order)}"' in text
        assert "2 of 2 downloads left" in text


@pytest.mark.usefixtures("apart")
def test_with_own_hosts_the_file_is_at_the_secure_host_alone(paid, shop):
    at_secure = Client(headers={"host": "secure.example.com"})
    assert body(at_secure.get(f"/{shop.domain}{link(paid)}")) == BOOK
    answer = Client(headers={"host": shop.domain}).get(link(paid))
    assert answer.status_code in (302, 303)
    assert "secure.example.com" in answer["Location"]
    assert Client(headers={"host": "admin.example.com"}).get(link(paid)).status_code == 404

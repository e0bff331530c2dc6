"""Following a checkout link: the copied cart, and what must not leak."""

import logging
from datetime import timedelta

import pytest
from django.test import override_settings

from storefront.carts.models import CartLine
from storefront.checkout import link_pages
from storefront.kit.signing import sign_url
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to
from tests.shops.factories import NOW, make_shop


@pytest.fixture
def link(api, mug):
    return link_to(api, fill_cart(api, {"product_id": mug.pk, "qty": 2}))


def in_basket(shopper: Shopper) -> dict[str, int]:
    """What the visitor's basket holds, by name."""
    baskets = shopper.browser.session.get("baskets", {})
    lines = CartLine.objects.filter(cart__public_id__in=baskets.values())
    return {line.name_snapshot: line.qty for line in lines}


def test_copies_the_cart_and_redirects_to_a_url_without_the_link(shopper, link):
    answer = shopper.follow(link)
    assert answer.status_code == 303
    assert answer["Location"] == "/checkout"
    shopper.get("/checkout")
    assert in_basket(shopper) == {"Mug": 2}


def test_the_basket_of_the_session_and_the_cart_are_merged(api, shopper, pot, mug, link):
    shopper.bring(api, {"product_id": pot.pk, "qty": 1}, {"product_id": mug.pk, "qty": 1})
    shopper.arrive(link)
    assert in_basket(shopper) == {"Pot": 1, "Mug": 3}


def test_following_it_twice_doubles_nothing(api, shopper, pot, link):
    shopper.bring(api, {"product_id": pot.pk, "qty": 1})
    shopper.arrive(link)
    shopper.arrive(link)
    assert in_basket(shopper) == {"Pot": 1, "Mug": 2}


def test_following_it_twice_without_a_basket_doubles_nothing(shopper, link):
    shopper.arrive(link)
    shopper.arrive(link)
    assert in_basket(shopper) == {"Mug": 2}


def test_what_the_visitor_had_chosen_is_not_shown_to_whoever_built_the_cart(api, shopper, pot, mug):
    shopper.bring(api, {"product_id": pot.pk})
    token = shopper.bring(api, {"product_id": mug.pk})
    names = [item["name_snapshot"] for item in api.get("/cart", cart=token).json()["data"]["items"]]
    assert "Pot" not in names


def test_head_request_copies_nothing(api, shopper, pot, link):
    shopper.bring(api, {"product_id": pot.pk})
    answer = shopper.follow(link, "head")
    assert answer.status_code == 303
    shopper.get("/checkout")
    assert in_basket(shopper) == {"Pot": 1}


def test_only_reading_methods_are_taken(shopper, link):
    assert shopper.follow(link, "post").status_code == 405


def test_a_refused_link_is_a_page_with_a_way_to_the_shop(shopper, link):
    answer = shopper.follow(link + "0")
    assert answer.status_code == 403
    assert answer["Content-Type"].startswith("text/html")
    assert b"This link does not work" in answer.content
    assert b'href="/"' in answer.content
    assert in_basket(shopper) == {}


@pytest.mark.parametrize("ending", ["", "0"])
def test_response_is_not_cached_and_sends_no_referrer(shopper, link, ending):
    answer = shopper.follow(link + ending)
    assert answer["Referrer-Policy"] == "no-referrer"
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.rule("R-LINK-10")
def test_the_pages_reached_from_it_tell_nobody_either(shopper, link):
    shopper.arrive(link)
    shopper.fill_details()
    for path in ("/checkout", "/checkout/delivery", "/checkout/payment"):
        answer = shopper.get(path)
        assert answer.status_code == 200
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["Cache-Control"] == "no-store"


@pytest.mark.rule("R-LINK-9")
def test_a_link_of_another_shop_is_refused_here(other_shop, link):
    visitor = Shopper(other_shop)
    path_and_query = link.split("://", 1)[1].split("/", 1)[1]
    assert visitor.follow(f"{other_shop.base_url}/{path_and_query}").status_code == 403


def test_a_cart_of_another_shop_is_refused_even_when_the_signature_fits(other_shop, other_api):
    product = make_product(other_shop, "Secret")
    theirs = link_to(other_api, fill_cart(other_api, {"product_id": product.pk}))
    # A shop with the same base URL signs the same URLs.
    twin = make_shop("twin.example.com", base_url=other_shop.base_url)
    visitor = Shopper(twin)
    assert visitor.follow(theirs).status_code == 403


@pytest.mark.rule("R-LINK-9")
def test_a_signed_link_to_a_cart_that_is_gone_is_refused(shop, shopper):
    expires = int((NOW + timedelta(days=20_000)).timestamp())
    link = sign_url(f"{shop.base_url}/cart/resume?cart=8b1f0d52-6a0f-4f1c-9a57-0d6b8e8f9a11&expires={expires}")
    assert shopper.follow(link).status_code == 403


def test_host_header_does_not_affect_the_signature(shop, shopper, link):
    # A single shop responds on any host; the signature covers its own base URL.
    path, _, query = link.removeprefix(shop.base_url).partition("?")
    assert shopper.browser.get(path, QUERY_STRING=query, headers={"host": "evil.example"}).status_code == 303


@pytest.mark.rule("R-LINK-4")
def test_links_signed_with_a_replaced_key_work_until_it_is_dropped(settings, api, shop, mug):
    cart = fill_cart(api, {"product_id": mug.pk})
    old, new = "o" * 50, "n" * 50
    with override_settings(SECRET_KEY=old, SECRET_KEY_FALLBACKS=[]):
        link = link_to(api, cart)
    with override_settings(SECRET_KEY=new, SECRET_KEY_FALLBACKS=[old]):
        assert Shopper(shop).follow(link).status_code == 303
        assert Shopper(shop).follow(link_to(api, cart)).status_code == 303
    with override_settings(SECRET_KEY=new, SECRET_KEY_FALLBACKS=[]):
        assert Shopper(shop).follow(link).status_code == 403


@pytest.mark.rule("R-LINK-11")
@pytest.mark.parametrize("ending", ["", "0"])
def test_no_log_line_holds_any_part_of_the_query(shopper, link, ending, caplog):
    with caplog.at_level(logging.DEBUG):
        shopper.follow(link + ending)
    query = link.split("?")[1]
    for part in (query, *(part.split("=")[1] for part in query.split("&"))):
        logged = [record for record in caplog.records if not record.name.startswith("django.db")]
        assert part not in "\n".join(record.getMessage() for record in logged)
    assert any("/cart/resume" in record.getMessage() for record in logged)


@pytest.mark.rule("R-LINK-11")
def test_a_defect_while_following_is_logged_and_reported_without_the_query(shop, link, caplog, monkeypatch, settings):
    from django.views.debug import ExceptionReporter

    reports = []

    def break_down(*, shop, query, now):
        raise RuntimeError("a defect")

    class Reporting(logging.Handler):
        """Collects full error reports, as Django's mail to the operators does."""

        def emit(self, record):
            if record.exc_info and hasattr(record, "request"):
                reports.append(ExceptionReporter(record.request, *record.exc_info).get_traceback_text())

    monkeypatch.setattr(link_pages, "followed_link", break_down)
    handler = Reporting()
    logging.getLogger("django.request").addHandler(handler)
    try:
        answer = Shopper(shop, shows_errors=False).follow(link)
    finally:
        logging.getLogger("django.request").removeHandler(handler)
    assert answer.status_code == 500
    signature = link.rpartition("=")[2]
    assert len(reports) == 1
    assert signature not in reports[0]
    assert signature not in caplog.text
    assert signature not in answer.content.decode()

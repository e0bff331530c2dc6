"""Scripts of apps on the shopper's pages: where they stand, which pages carry them, and which hosts may run theirs."""

import re

import pytest
from django.test import Client

from storefront.apps.actions import uninstall_app
from storefront.apps.models import AllowedScriptHost, ScriptTag
from storefront.apps.script_hosts import allow_script_host
from storefront.apps.scripts import register_script_tag
from storefront.kit import clock
from storefront.website.security import POLICY
from tests.catalogue.factories import make_category, make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.factories.apps import install

SRC = "https://app.example.com/badge.js"
STRICT = "; ".join(f"{name} {what}" for name, what in POLICY.items())


@pytest.fixture
def app(shop):
    return install(shop)


def put(app, src: str = SRC, location: str = "head") -> ScriptTag:
    given = {"shop": app.installation.shop, "installation_id": app.installation.pk, "now": clock.now()}
    return register_script_tag(**given, src=src, location=location)[0]


def policy(answer) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; "))


def test_each_stands_at_its_place_and_none_holds_the_page_up(app, page):
    for location in ("head", "body_start", "body_end"):
        put(app, f"https://app.example.com/{location}.js", location)
    text = page("/")
    head, body = text.split("</head>")
    assert '<script src="https://app.example.com/head.js" async></script>' in head
    assert re.search(r'<body[^>]*>\s*<script src="https://app.example.com/body_start.js" async></script>', body)
    assert re.search(r'<script src="https://app.example.com/body_end.js" async></script>\s*</body>', body)
    assert text.count("https://app.example.com/") == 3


def test_they_stand_in_the_order_of_their_registration(app, page):
    for name in ("c", "a", "b"):
        put(app, f"https://app.example.com/{name}.js")
    assert re.findall(r"app.example.com/(\w).js", page("/")) == ["c", "a", "b"]


def test_an_address_stays_within_its_attribute(app, page):
    put(app, 'https://app.example.com/?a=1&b="><script>alert(1)</script>')
    assert "https://app.example.com/?a=1&amp;b=&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page("/")


@pytest.fixture
def shopper(shop, api):
    """Signed in, with a mug in the basket."""
    make_customer(shop)
    product = make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    shopper = Shopper(shop)
    shopper.sign_in()
    shopper.bring(api, {"product_id": product.pk})
    return shopper


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/products", "/products?q=mug", "/categories/cups", "/products/mug", "/products/gone", "/basket"),
        *("/account", "/account/orders", "/account/addresses"),
    ],
)
def test_pages_of_the_shopper_carry_them(app, shopper, path):
    put(app)
    answer = shopper.get(path)
    assert SRC in answer.content.decode()
    assert policy(answer)["script-src"] == "'self' app.example.com"
    assert policy(answer)["report-uri"] == "/blocked-scripts"


@pytest.mark.parametrize("path", ["/checkout", "/checkout/delivery", "/checkout/payment", "the confirmation"])
def test_the_checkout_never_does(app, shopper, path):
    for location in ("head", "body_start", "body_end"):
        put(app, location=location)
    assert shopper.fill_details().status_code == 303
    if path == "the confirmation":
        path = shopper.order()["Location"]
    answer = shopper.get(path)
    assert answer.status_code == 200
    assert "app.example.com" not in answer.content.decode()
    assert answer.headers["Content-Security-Policy"] == STRICT


def test_nor_does_a_checkout_link_that_is_refused(app, visitor):
    put(app)
    answer = visitor.get("/cart/resume?cart=1&expires=1&signature=1")
    assert answer.status_code == 403
    assert SRC not in answer.content.decode()
    assert answer.headers["Content-Security-Policy"] == STRICT


@pytest.mark.parametrize("path", ["/account/sign-in", "/account/register", "/account/forgot", "/account/password"])
def test_nor_do_pages_where_passwords_are_typed(app, visitor, path):
    put(app)
    answer = visitor.get(path)
    assert b"<h1" in answer.content
    assert SRC not in answer.content.decode()
    assert answer.headers["Content-Security-Policy"] == STRICT


def test_nor_does_the_page_where_a_signed_in_customer_changes_theirs(app, shopper):
    put(app)
    answer = shopper.get("/account/details")
    assert b"password" in answer.content
    assert SRC not in answer.content.decode()
    assert answer.headers["Content-Security-Policy"] == STRICT


def test_nor_what_is_no_page_of_the_shop(app, shop, visitor, other_shop):
    put(app)
    for path in ("/robots.txt", "/no/such/page"):
        answer = visitor.get(path)
        assert SRC not in answer.content.decode()
        assert answer.headers["Content-Security-Policy"] == STRICT
    nowhere = Client(headers={"host": "nowhere.example"}).get("/")
    assert nowhere.status_code == 404
    assert nowhere.headers["Content-Security-Policy"] == STRICT


def test_one_that_is_switched_off_is_gone_at_once(app, page):
    put(app)
    assert SRC in page("/")
    ScriptTag.objects.update(is_active=False)
    assert SRC not in page("/")


def test_the_uninstall_takes_script_and_host(app, shop, page, visitor):
    put(app)
    uninstall_app(shop=shop, installation=app.installation, now=clock.now())
    assert SRC not in page("/")
    assert policy(visitor.get("/"))["script-src"] == "'self'"


def test_another_shop_has_neither(app, other_shop):
    put(app)
    answer = Client(headers={"host": other_shop.domain}).get("/")
    assert answer.status_code == 200
    assert SRC not in answer.content.decode()
    assert "app.example.com" not in answer.headers["Content-Security-Policy"]


class TestPolicy:
    def test_a_shop_without_apps_runs_its_own_scripts_alone(self, shop, visitor):
        found = policy(visitor.get("/"))
        assert found | POLICY == found
        assert found.keys() - POLICY.keys() == {"report-uri"}

    def test_an_apps_host_is_there_from_its_installation_on_with_or_without_a_script(self, app, visitor):
        assert policy(visitor.get("/"))["script-src"] == "'self' app.example.com"

    def test_a_tag_at_another_host_does_not_allow_that(self, app, page, visitor):
        put(app, "https://cdn.example.net/badge.js")
        assert "https://cdn.example.net/badge.js" in page("/")
        assert "cdn.example.net" not in visitor.get("/").headers["Content-Security-Policy"]

    def test_what_the_merchant_allows_may_run_call_its_host_and_take_styles_from_it(self, shop, visitor):
        for host in ("scripts.example.com", "cdn.example.com:8443"):
            allow_script_host(shop=shop, host=host)
        found = policy(visitor.get("/"))
        for directive in ("script-src", "connect-src", "style-src"):
            assert found[directive] == "'self' cdn.example.com:8443 scripts.example.com"
        for directive in POLICY.keys() - {"script-src", "connect-src", "style-src"}:
            assert found[directive] == POLICY[directive]

    def test_a_host_of_two_is_named_once(self, app, shop, visitor):
        allow_script_host(shop=shop, host="app.example.com")
        install(shop)
        assert policy(visitor.get("/"))["script-src"] == "'self' app.example.com"

    @pytest.mark.parametrize("host", ["x; script-src *", "*", "a, b", "a b", "[::1]", "'unsafe-inline'", "https:"])
    def test_no_host_says_more_than_a_host(self, shop, visitor, host):
        AllowedScriptHost.objects.create(shop=shop, host=host)
        assert policy(visitor.get("/"))["script-src"] == "'self'"

    def test_over_https_browsers_are_told_of_the_newer_way_to_report(self, shop, visitor):
        answer = visitor.get("/", secure=True)
        assert policy(answer)["report-to"] == "shop"
        assert policy(answer)["report-uri"] == "/blocked-scripts"
        assert answer.headers["Reporting-Endpoints"] == 'shop="/blocked-scripts"'

    def test_the_admin_and_the_api_have_none_of_it(self, app, visitor, stranger):
        assert "Content-Security-Policy" not in visitor.get("/admin/login/").headers
        assert "Content-Security-Policy" not in stranger.get("/products").headers


def test_a_page_asks_once_however_many_there_are(app, shop, visitor, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    visitor.get("/")
    with CaptureQueriesContext(connection) as counted:
        visitor.get("/")
    for number in range(5):
        put(app, f"{SRC}?{number}")
        allow_script_host(shop=shop, host=f"cdn{number}.example.com")
    with django_assert_num_queries(len(counted)):
        visitor.get("/")
    assert sum("apps_scripttag" in query["sql"] for query in counted.captured_queries) == 1

"""Apps' scripts on the shopper's pages: their locations, the pages that contain them, and the allowed hosts."""

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
from tests.checkout.shopper import Shopper, details, hidden_value
from tests.customers.factories import make_customer
from tests.factories.apps import install
from tests.walker import Walker

pytestmark = pytest.mark.usefixtures("apart")

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


@pytest.mark.rule("R-APP-27")
def test_each_script_is_at_its_location_and_loads_async(app, page):
    for location in ("head", "body_start", "body_end"):
        put(app, f"https://app.example.com/{location}.js", location)
    text = page("/")
    head, body = text.split("</head>")
    assert '<script src="https://app.example.com/head.js" async></script>' in head
    assert re.search(r'<body[^>]*>\s*<script src="https://app.example.com/body_start.js" async></script>', body)
    assert re.search(r'<script src="https://app.example.com/body_end.js" async></script>\s*</body>', body)
    assert text.count("https://app.example.com/") == 3


def test_scripts_are_in_the_order_of_their_registration(app, page):
    for name in ("c", "a", "b"):
        put(app, f"https://app.example.com/{name}.js")
    assert re.findall(r"app.example.com/(\w).js", page("/")) == ["c", "a", "b"]


def test_a_script_url_is_escaped(app, page):
    put(app, 'https://app.example.com/?a=1&b="><script>alert(1)</script>')
    assert "https://app.example.com/?a=1&amp;b=&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page("/")


@pytest.fixture
def walker(shop):
    """Signed in, with a mug in the basket."""
    make_customer(shop)
    product = make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    walker = Walker(shop)
    walker.add(product)
    walker.open("/checkout")
    walker.sign_in()
    return walker


@pytest.mark.rule("R-APP-27")
def test_the_shoppers_pages_contain_scripts(app, walker):
    put(app)
    paths = ("/", "/products", "/products?q=mug", "/categories/cups", "/products/mug", "/products/gone", "/basket")
    for path in paths:
        answer = walker.open(path)
        assert SRC in answer.content.decode(), path
        assert policy(answer)["script-src"] == "'self' app.example.com"
        assert policy(answer)["report-uri"] == "/blocked-scripts"


SECURE_PAGES = [
    *("/checkout", "/checkout/delivery", "/checkout/payment"),
    *("/account", "/account/orders", "/account/addresses", "/account/details", "/account/sign-in", "/account/register"),
    *("/account/forgot", "/account/mailed", "/account/password", "/account/nowhere"),
]


@pytest.mark.slow
@pytest.mark.rule("R-APP-27")
def test_no_secure_page_contains_scripts(app, walker, shop):
    for location in ("head", "body_start", "body_end"):
        put(app, location=location)
    walker.secure("/checkout", details())
    answers = [walker.secure(path) for path in SECURE_PAGES]
    page = walker.secure("/checkout/payment")
    hidden = {name: hidden_value(page, name) for name in ("checkout", "shown")}
    walker.secure("/checkout/payment", {"method": "manual", "note": "", **hidden})
    confirmation = walker.url.removeprefix(f"http://secure.example.com/{shop.domain}")
    assert confirmation.startswith("/orders/")
    for answer in (*answers, walker.secure(confirmation)):
        assert walker.url.startswith("http://secure.example.com/")
        assert "app.example.com" not in answer.content.decode()
        assert policy(answer) == POLICY | {"form-action": f"'self' https://{shop.domain}"}


@pytest.mark.rule("R-APP-28")
def test_no_page_contains_scripts_if_everything_is_on_one_host(app, shop, settings):
    settings.ADMIN_HOST = settings.SECURE_HOST = ""
    put(app)
    make_customer(shop)
    make_product(shop, "Mug")
    shopper = Shopper(shop)
    shopper.sign_in()
    for path in ("/", "/products", "/products/mug", "/basket", "/account", "/account/orders"):
        answer = shopper.get(path)
        assert answer.status_code == 200, path
        assert "app.example.com" not in answer.content.decode()
        assert answer.headers["Content-Security-Policy"] == STRICT


def test_a_refused_checkout_link_contains_no_scripts(app, visitor):
    put(app)
    answer = visitor.get("/cart/resume?cart=1&expires=1&signature=1")
    assert answer.status_code == 403
    assert SRC not in answer.content.decode()
    assert answer.headers["Content-Security-Policy"] == STRICT


def test_pages_outside_a_shop_contain_no_scripts(app, shop, visitor, other_shop):
    put(app)
    for path in ("/robots.txt", "/no/such/page", "/admin/"):
        answer = visitor.get(path)
        assert SRC not in answer.content.decode()
        assert answer.headers["Content-Security-Policy"] == STRICT
    for host in ("nowhere.example", "secure.example.com", "admin.example.com"):
        nowhere = Client(headers={"host": host}).get("/nowhere")
        assert nowhere.status_code == 404
        assert nowhere.headers["Content-Security-Policy"] == STRICT


def test_a_disabled_script_disappears_at_once(app, page):
    put(app)
    assert SRC in page("/")
    ScriptTag.objects.update(is_active=False)
    assert SRC not in page("/")


def test_uninstalling_removes_script_and_host(app, shop, page, visitor):
    put(app)
    uninstall_app(shop=shop, installation=app.installation, now=clock.now())
    assert SRC not in page("/")
    assert policy(visitor.get("/"))["script-src"] == "'self'"


def test_another_shop_has_neither_script_nor_host(app, other_shop):
    put(app)
    answer = Client(headers={"host": other_shop.domain}).get("/")
    assert answer.status_code == 200
    assert SRC not in answer.content.decode()
    assert "app.example.com" not in answer.headers["Content-Security-Policy"]


class TestPolicy:
    def test_a_shop_without_apps_allows_only_its_own_scripts(self, shop, visitor):
        found = policy(visitor.get("/"))
        assert found | POLICY == found
        assert found.keys() - POLICY.keys() == {"report-uri"}

    @pytest.mark.rule("R-APP-29")
    def test_installing_an_app_allows_its_host_with_or_without_a_script(self, app, visitor):
        assert policy(visitor.get("/"))["script-src"] == "'self' app.example.com"

    @pytest.mark.rule("R-APP-29")
    def test_a_script_tag_does_not_allow_another_host(self, app, page, visitor):
        put(app, "https://cdn.example.net/badge.js")
        assert "https://cdn.example.net/badge.js" in page("/")
        assert "cdn.example.net" not in visitor.get("/").headers["Content-Security-Policy"]

    @pytest.mark.rule("R-APP-29")
    def test_an_allowed_host_may_run_scripts_receive_calls_and_serve_styles(self, shop, visitor):
        for host in ("scripts.example.com", "cdn.example.com:8443"):
            allow_script_host(shop=shop, host=host, now=clock.now())
        found = policy(visitor.get("/"))
        for directive in ("script-src", "connect-src", "style-src"):
            assert found[directive] == "'self' cdn.example.com:8443 scripts.example.com"
        for directive in POLICY.keys() - {"script-src", "connect-src", "style-src"}:
            assert found[directive] == POLICY[directive]

    def test_a_host_of_two_apps_is_listed_once(self, app, shop, visitor):
        allow_script_host(shop=shop, host="app.example.com", now=clock.now())
        install(shop)
        assert policy(visitor.get("/"))["script-src"] == "'self' app.example.com"

    @pytest.mark.parametrize("host", ["x; script-src *", "*", "a, b", "a b", "[::1]", "'unsafe-inline'", "https:"])
    def test_refuses_a_host_that_would_alter_the_policy(self, shop, visitor, host):
        AllowedScriptHost.objects.create(shop=shop, host=host)
        assert policy(visitor.get("/"))["script-src"] == "'self'"

    def test_uses_report_to_over_https(self, shop, visitor):
        answer = visitor.get("/", secure=True)
        assert policy(answer)["report-to"] == "shop"
        assert policy(answer)["report-uri"] == "/blocked-scripts"
        assert answer.headers["Reporting-Endpoints"] == 'shop="/blocked-scripts"'

    def test_admin_and_api_do_not_get_this_policy(self, app, stranger):
        login = Client(headers={"host": "admin.example.com"}).get("/admin/login/")
        assert login.status_code == 200
        assert "app.example.com" not in login.headers["Content-Security-Policy"]
        assert "Content-Security-Policy" not in stranger.get("/products").headers


def test_a_page_takes_one_query_for_any_number_of_scripts(app, shop, visitor, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    visitor.get("/")
    with CaptureQueriesContext(connection) as counted:
        visitor.get("/")
    for number in range(5):
        put(app, f"{SRC}?{number}")
        allow_script_host(shop=shop, host=f"cdn{number}.example.com", now=clock.now())
    with django_assert_num_queries(len(counted)):
        page = visitor.get("/").content.decode()
    assert all(f"{SRC}?{number}" in page for number in range(5))
    assert sum("apps_scripttag" in query["sql"] for query in counted.captured_queries) == 1

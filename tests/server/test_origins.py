"""The admin, the secure pages and the shop's pages on hosts of their own: what each answers, and what it refuses."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import get_script_prefix, reverse

from storefront.orders.models import Order
from storefront.server.origins import cookie_names
from storefront.shops import places
from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.customers.factories import make_customer
from tests.shops.factories import make_shop
from tests.staff import make_staff, open_desk
from tests.walker import ADMIN, SECURE, Walker

pytestmark = pytest.mark.usefixtures("apart")

SHOP = "shop.example.com"
STRANGER = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
VISIT = {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture
def at():
    return lambda host: Client(headers={"host": host})


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug")


class TestWhatEachAnswers:
    @pytest.mark.parametrize(
        ("host", "path", "status"),
        [
            (SHOP, "/", 200),
            (SHOP, "/products/mug", 200),
            (SHOP, "/basket", 200),
            (SHOP, "/robots.txt", 200),
            (SHOP, "/admin/", 404),
            (SHOP, "/admin/login/", 404),
            (SHOP, "/admin/shops/apitoken/add/", 404),
            (SHOP, f"/{SHOP}/checkout", 404),
            (SHOP, "/cart/arrive", 404),
            (ADMIN, "/admin/login/", 200),
            (ADMIN, "/robots.txt", 200),
            (ADMIN, "/products/mug", 404),
            (ADMIN, "/account/sign-in", 404),
            (ADMIN, "/checkout", 404),
            (ADMIN, f"/{SHOP}/account/sign-in", 404),
            (ADMIN, "/cart/resume", 404),
            (ADMIN, "/arrive", 404),
            (SECURE, f"/{SHOP}/account/sign-in", 200),
            (SECURE, "/robots.txt", 200),
            (SECURE, "/", 404),
            (SECURE, f"/{SHOP}", 404),
            (SECURE, f"/{SHOP}/", 404),
            (SECURE, "/account/sign-in", 404),
            (SECURE, "/arrive", 404),
            (SECURE, "/nowhere.example.com/account/sign-in", 404),
            (SECURE, f"/{SHOP.upper()}/account/sign-in", 404),
            (SECURE, f"/{SHOP}/products/mug", 404),
            (SECURE, f"/{SHOP}/basket", 404),
            (SECURE, f"/{SHOP}/admin/login/", 404),
            (SECURE, "/admin/login/", 404),
            (SECURE, f"/{SHOP}/cart/resume", 404),
            (SECURE, f"/{SHOP}/blocked-scripts", 404),
        ],
    )
    def test_a_page_is_at_one_place_alone(self, at, mug, host, path, status):
        assert at(host).get(path).status_code == status
        assert at(f"{host}:8443").get(path).status_code == status, "the port plays no part"
        assert at(host.upper()).get(path).status_code == status

    def test_the_admins_host_leads_to_the_admin(self, at, shop):
        assert at(ADMIN).get("/")["Location"] == "/admin/"

    def test_a_closed_shop_has_no_secure_pages(self, at, shop):
        shop.is_active = False
        shop.save()
        assert at(SECURE).get(f"/{SHOP}/account/sign-in").status_code == 410

    @pytest.mark.parametrize("host", [SHOP, ADMIN, SECURE, "elsewhere.example.com"])
    def test_the_api_never_looks_at_the_host(self, at, api, mug, host):
        answer = at(host).get("/api/v1/products/mug", headers={"Authorization": f"Bearer {api.token}"})
        assert (answer.status_code, answer.json()["data"]["name"]) == (200, "Mug")
        assert at(host).get("/api/openapi.json").status_code == 200

    @pytest.mark.parametrize(("host", "status"), [(SHOP, 200), (ADMIN, 404), (SECURE, 404)])
    def test_the_apis_page_for_people_is_not_beside_secrets(self, at, shop, host, status):
        assert at(host).get("/api/docs").status_code == status

    def test_secure_pages_are_of_the_shop_that_the_path_names(self, at, shop, other_shop):
        page = at(SECURE).get(f"/{other_shop.domain}/account/sign-in").content.decode()
        assert "Elsewhere" in page
        assert "Lighthouse" not in page

    def test_nothing_of_the_shop_is_left_in_the_thread(self, at, shop):
        at(SECURE).get(f"/{SHOP}/account/sign-in")
        at(SECURE).get(f"/{SHOP}/account/nowhere")
        assert get_script_prefix() == "/"
        assert reverse("website:home") == "/"

    def test_the_log_names_the_whole_path_and_no_query(self, at, shop, caplog):
        at(SECURE).get(f"/{SHOP}/account/sign-in?next=/hidden-word")
        (line,) = [record.msg for record in caplog.records if record.name == "storefront.requests"]
        assert line["path"] == f"/{SHOP}/account/sign-in"
        assert "hidden-word" not in caplog.text


class TestOldAddresses:
    @pytest.mark.parametrize(
        ("path", "there"),
        [
            ("/checkout", f"http://{SECURE}/{SHOP}/arrive?next=/checkout"),
            ("/account/orders?page=2", f"http://{SECURE}/{SHOP}/arrive?next=/account/orders%3Fpage%3D2"),
            ("/orders/0b0b?x=1", f"http://{SECURE}/{SHOP}/orders/0b0b"),
            ("/account/link?email=a&signature=secret", f"http://{SECURE}/{SHOP}/account/link"),
        ],
    )
    def test_lead_to_where_the_page_is(self, at, shop, path, there):
        answer = at(SHOP).get(path)
        assert (answer.status_code, answer["Location"]) == (303, there)
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["Cache-Control"] == "no-store"

    @pytest.mark.parametrize("path", ["/checkout", "/account/sign-in", "/account/sign-out", "/checkout/payment"])
    def test_take_no_forms(self, at, shop, path):
        assert at(SHOP).post(path).status_code == 405

    def test_of_a_host_without_a_shop_are_not_there(self, at, shop, other_shop):
        assert at("nowhere.example").get("/checkout").status_code == 404


class TestCookies:
    def names(self, client: Client) -> set[str]:
        return {name for name, cookie in client.cookies.items() if cookie.value}

    def test_each_place_has_its_own_cookie_names(self, at, shop, mug):
        walker = Walker(shop)
        make_customer(shop)
        walker.add(mug)
        walker.open("/basket")
        walker.sign_in()
        desk = at(ADMIN)
        desk.get("/admin/login/")
        assert {"storefront_session", "storefront_csrf"} <= self.names(walker.browser(SHOP))
        secure = self.names(walker.browser(SECURE))
        assert {"storefront_secure_session", "storefront_secure_csrf"} <= secure
        assert not secure & self.names(walker.browser(SHOP))
        assert self.names(desk) == {"storefront_admin_csrf"}

    @pytest.mark.parametrize("place", [places.SINGLE, places.SHOP, places.SECURE, places.ADMIN])
    def test_over_https_cookies_belong_to_the_host_alone(self, at, shop, mug, settings, place):
        settings.HTTPS = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
        if place == places.SINGLE:
            settings.ADMIN_HOST = settings.SECURE_HOST = ""
        host = {places.ADMIN: ADMIN, places.SECURE: SECURE}.get(place, SHOP)
        path = {places.ADMIN: "/admin/login/", places.SECURE: f"/{SHOP}/account/sign-in"}.get(place, "/products/mug")
        client = at(host)
        client.get(path, secure=True)
        if host == SHOP:
            client.post("/basket/add", {"product": mug.pk, "qty": "1"}, secure=True)
            assert "__Host-storefront_session" in client.cookies
        assert client.cookies
        for name, cookie in client.cookies.items():
            assert name in cookie_names(place).values()
            assert name.startswith("__Host-")
            assert (cookie["path"], cookie["domain"], cookie["secure"]) == ("/", "", True)
            assert cookie["httponly"] or name.endswith("csrf")

    def test_a_cookie_is_deleted_by_the_same_name(self, at, shop, settings):
        settings.HTTPS = settings.SESSION_COOKIE_SECURE = True
        client = at(SECURE)
        client.cookies["__Host-storefront_secure_session"] = "secure-" + "x" * 32
        answer = client.get(f"/{SHOP}/account", secure=True)
        cookie = answer.cookies["__Host-storefront_secure_session"]
        assert (cookie.value, cookie["max-age"], cookie["secure"], cookie["path"]) == ("", 0, True, "/")

    @pytest.mark.parametrize("name", ["storefront_session", "storefront_admin_session", "sessionid"])
    def test_a_cookie_of_another_place_is_ignored(self, at, shop, name):
        make_customer(shop)
        walker = Walker(shop)
        walker.sign_in()
        key = walker.browser(SECURE).cookies["storefront_secure_session"].value
        thief = at(SECURE)
        thief.cookies[name] = key
        assert thief.get(f"/{SHOP}/account").status_code == 303

    def test_a_session_of_one_place_is_none_at_another(self, at, shop, mug):
        make_customer(shop)
        walker = Walker(shop)
        walker.sign_in()
        keys = {
            SHOP: walker.browser(SHOP).cookies["storefront_session"].value,
            SECURE: walker.browser(SECURE).cookies["storefront_secure_session"].value,
        }
        thief = at(SECURE)
        thief.cookies["storefront_secure_session"] = keys[SHOP]
        assert thief.get(f"/{SHOP}/account").status_code == 303
        thief.cookies["storefront_secure_session"] = keys[SECURE]
        assert thief.get(f"/{SHOP}/account").status_code == 200, "the way of trying works"

    def test_an_admin_session_is_not_valid_elsewhere(self, at, shop):
        desk = open_desk(make_staff(shop))
        key = desk.cookies["storefront_admin_session"].value
        assert desk.get("/admin/").status_code == 200
        for host, name, path in ((SHOP, "storefront_session", "/"), (SECURE, "storefront_secure_session", "/x")):
            thief = at(host)
            thief.cookies[name] = key
            thief.get(path)
            assert Session.objects.filter(session_key=key).exists()
        other = at(ADMIN)
        other.cookies["storefront_admin_session"] = key.removeprefix("admin-")
        assert other.get("/admin/").status_code == 302

    def test_where_everything_is_on_one_host_a_session_of_a_place_is_none(self, shop, settings):
        make_customer(shop)
        walker = Walker(shop)
        walker.sign_in()
        key = walker.browser(SECURE).cookies["storefront_secure_session"].value
        settings.ADMIN_HOST = settings.SECURE_HOST = ""
        thief = Shopper(shop)
        thief.browser.cookies["storefront_session"] = key
        assert thief.get("/account").status_code == 303


class TestOtherSites:
    @pytest.mark.parametrize(
        "told",
        [
            STRANGER,
            STRANGER | {"Sec-Fetch-Site": "cross-site"},
            STRANGER | {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
            VISIT | {"Sec-Fetch-Dest": "iframe"},
        ],
    )
    def test_get_nothing_of_secure_pages_and_the_admin(self, shop, told):
        make_customer(shop)
        walker = Walker(shop)
        walker.sign_in()
        url = f"http://{SECURE}/{SHOP}/account"
        answer = walker.ask(url, **told)
        assert answer.status_code == 403
        assert "Ada" not in words_of(answer.content.decode())
        assert answer["X-Frame-Options"] == "DENY"
        assert walker.ask(url, **VISIT).status_code == 200, "people may come from anywhere"
        desk = open_desk(make_staff(shop))
        assert desk.get("/admin/shops/apitoken/add/", headers=told).status_code == 403
        assert desk.get("/admin/shops/apitoken/add/", headers=VISIT).status_code == 200

    def test_send_no_forms_there(self, shop):
        for host, path, status in ((SECURE, f"/{SHOP}/account/sign-in", 422), (ADMIN, "/admin/login/", 200)):
            client = Client(headers={"host": host}, enforce_csrf_checks=True)
            client.get(path)
            (token,) = [cookie.value for name, cookie in client.cookies.items() if name.endswith("csrf")]
            fields = {"csrfmiddlewaretoken": token, "email": "ada@example.com", "password": "x", "username": "x"}
            for headers in (VISIT, {"Origin": f"https://{SHOP}"}, {"Origin": "null"}):
                answer = client.post(path, fields, headers=headers)
                assert (answer.status_code, b"form" in answer.content or b"site" in answer.content) == (403, True)
            own = client.post(path, fields, headers={"Origin": f"http://{host}"})
            assert own.status_code == status, "its own page may"

    @pytest.mark.parametrize("path", ["/hand-over?state=x", "/arrive?next=/"])
    def test_cannot_have_a_page_ask_for_a_hand_over(self, at, shop, path):
        for told in (STRANGER, STRANGER | {"Sec-Fetch-Site": "same-origin"}, VISIT | {"Sec-Fetch-Dest": "iframe"}):
            assert at(SHOP).get(path, headers=told).status_code == 403

    @pytest.mark.parametrize("host", [SHOP, ADMIN, SECURE])
    def test_are_kept_from_windows_they_open_and_frames(self, at, mug, host):
        path = {SHOP: "/products/mug", ADMIN: "/admin/login/", SECURE: f"/{SHOP}/account/sign-in"}[host]
        answer = at(host).get(path)
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("host", [SHOP, ADMIN, SECURE])
@pytest.mark.parametrize("path", ["/", "/media/sw.js", "/static/website/product.js", "/api/openapi.json", "/blocked"])
def test_there_are_no_service_workers(at, shop, host, path):
    answer = at(host).get(path, headers={"Service-Worker": "script"})
    assert answer.status_code == 403
    assert answer["Content-Type"] == "text/plain"


class TestNames:
    @pytest.mark.parametrize("domain", [ADMIN, SECURE, "static", "media", "api"])
    def test_no_shop_takes_a_name_of_the_deployments_own(self, db, domain):
        from storefront.kit.refusals import InvalidFields

        with pytest.raises(InvalidFields) as refused:
            make_shop(domain)
        assert set(refused.value.errors) == {"domain", "base_url"}
        assert "this deployment uses it itself" in refused.value.errors["domain"][0]

    @pytest.mark.slow
    def test_the_admin_refuses_a_reserved_domain(self, shop):
        from storefront.shops.models import User

        desk = open_desk(User.objects.create_superuser("op", "op@example.com", "lighthouse-1"), shop)
        answer = desk.fill(shop, domain=SECURE, base_url=f"https://{ADMIN}:8443")
        assert answer.status_code == 200
        assert answer.content.decode().count("this deployment uses it itself") == 2
        shop.refresh_from_db()
        assert shop.domain == SHOP


class TestAddresses:
    def test_a_mail_names_the_order_where_it_is(self, shop, settings):
        from storefront.orders.jobs import confirmation_mail
        from tests.orders.factories import make_order

        order = make_order(shop)
        assert isinstance(order, Order)
        assert f"http://{SECURE}/{SHOP}/orders/{order.public_id}" in confirmation_mail(order).body
        settings.ADMIN_HOST = settings.SECURE_HOST = ""
        assert f"https://{SHOP}/orders/{order.public_id}" in confirmation_mail(order).body

    def test_addresses_of_all_places(self, shop, settings):
        settings.HTTPS = True
        assert places.page_address("website:sign_in", shop=shop) == f"https://{SECURE}/{SHOP}/account/sign-in"
        assert places.page_address("website:product", "mug", shop=shop) == f"https://{SHOP}/products/mug"
        assert places.page_address("admin:index", shop=shop) == f"https://{ADMIN}/admin/"
        settings.ADMIN_HOST = settings.SECURE_HOST = ""
        for name, path in (("website:sign_in", "/account/sign-in"), ("admin:index", "/admin/")):
            assert places.page_address(name, shop=shop) == f"https://{SHOP}{path}"

    @pytest.mark.parametrize(
        "text", [None, "", "x", "//evil.example", "/\\evil.example", "https://evil.example/", "/\t/evil", "/" * 3001]
    )
    def test_a_path_to_go_on_to_leads_to_no_other_host(self, text):
        assert places.local_path(text) is None

    def test_a_link_of_an_admin_page_shows_the_product_in_the_shop(self, shop, mug):
        desk = open_desk(make_staff(shop))
        assert f"https://{SHOP}/products/mug" in desk.page(mug).content.decode()


class TestOddBytes:
    """PostgreSQL takes no NUL character; SQLite does, so that it alone would show nothing."""

    @pytest.mark.parametrize("path", ["/%00/x", "/x%00y/", "/%00"])
    def test_in_the_part_of_the_path_that_names_the_shop(self, apart, shop, path):
        assert Client(headers={"host": "secure.example.com"}).get(path).status_code == 404

    @pytest.mark.parametrize("key", ['"\\000abcdefghijkl"', "secure-" + "x" * 4000, "ä" * 20, "", "../../etc"])
    def test_in_a_sessions_cookie(self, shop, key):
        visitor = Client(headers={"host": shop.domain, "cookie": f"storefront_session={key}"})
        assert visitor.get("/basket").status_code == 200

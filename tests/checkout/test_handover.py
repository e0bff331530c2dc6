"""The handover of a visitor between the shop's pages and its secure pages, each on a host of its own."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import mail
from django.test import Client

from storefront.carts.models import Cart, CartLine
from storefront.customers import jobs
from storefront.customers.actions import change_password
from storefront.customers.models import CustomerGroup
from storefront.kit import clock
from storefront.orders.models import Order
from storefront.pricing.models import GroupPrice
from storefront.shops.models import HandoverCode
from tests.answers import words_of
from tests.catalogue.factories import make_product
from tests.checkout.shopper import details, fill_cart, hidden_value, link_to
from tests.customers.factories import PASSWORD, make_customer
from tests.walker import SECURE, Walker
from tests.website.accounts import link_in

pytestmark = [pytest.mark.any_database, pytest.mark.slow, pytest.mark.usefixtures("apart")]

OURS = f"http://{SECURE}/shop.example.com"
EMAIL = "ada@example.com"


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", price="9.50", stock_qty=9)


@pytest.fixture
def walker(shop):
    return Walker(shop)


@pytest.fixture
def ada(shop):
    return make_customer(shop, name="Ada Lovelace")


def text(answer) -> str:
    assert answer.status_code == 200, answer
    return answer.content.decode()


def order(walker) -> Order:
    walker.secure("/checkout", details())
    page = walker.secure("/checkout/payment")
    hidden = {name: hidden_value(page, name) for name in ("checkout", "shown")}
    walker.secure("/checkout/payment", {"method": "manual", "note": "", **hidden})
    return Order.objects.latest("pk")


class TestToTheCheckout:
    def test_basket_is_handed_over_and_the_order_is_on_the_secure_host(self, walker, mug):
        page = text(walker.add(mug))
        assert f'href="{OURS}/arrive?next=/checkout"' in page
        walker.go(f"{OURS}/arrive?next=/checkout")
        assert walker.url == f"{OURS}/checkout"
        assert [urlsplit(url).path.removeprefix("/shop.example.com") for url in walker.way] == [
            *("/hand-over", "/arrive", "/checkout")
        ]
        placed = order(walker)
        assert walker.url == f"{OURS}/orders/{placed.public_id}"
        page = text(walker.secure(f"/orders/{placed.public_id}"))
        assert 'href="https://shop.example.com/arrive?next=/"' in page
        assert 'data-count="0"' in text(walker.open("/basket")), "it is sold"

    def test_both_places_see_one_basket(self, walker, mug):
        walker.add(mug)
        walker.open("/checkout")
        assert 'data-count="1"' in text(walker.secure("/checkout"))
        walker.add(mug)
        assert 'data-count="2"' in text(walker.secure("/checkout"))
        assert Cart.objects.count() == 1

    def test_empty_basket_redirects_to_the_basket_page_without_a_loop(self, walker, shop):
        page = walker.open("/checkout")
        assert (page.status_code, walker.url) == (200, "https://shop.example.com/basket")

    def test_only_the_basket_page_names_unavailable_lines(self, walker, mug):
        walker.add(mug)
        mug.status = "draft"
        mug.save()
        assert "No longer available" in text(walker.open("/checkout"))
        assert walker.url == "https://shop.example.com/basket"
        mug.status = "active"
        mug.save()
        assert "No longer available" not in text(walker.open("/checkout"))

    def test_sign_in_is_never_handed_over(self, walker, ada, mug):
        """Even where the shop's pages know the customer, the secure ones ask for the password."""
        walker.sign_in()
        walker.add(mug)
        del walker.browsers[SECURE]
        page = text(walker.open("/checkout"))
        assert urlsplit(walker.url).path == "/shop.example.com/account/sign-in"
        assert EMAIL not in page
        assert "Ada" not in words_of(page)
        answer = walker.go(walker.url, {"email": EMAIL, "password": PASSWORD, "next": "/shop.example.com/checkout"})
        assert walker.url == f"{OURS}/checkout"
        assert hidden_in(answer, EMAIL)

    def test_signed_in_there_the_basket_is_merged(self, walker, ada, mug):
        walker.sign_in()
        walker.browsers["shop.example.com"] = Client(headers={"host": "shop.example.com"})
        walker.add(mug)
        walker.open("/checkout")
        assert walker.url == f"{OURS}/checkout"
        line = CartLine.objects.get()
        assert (line.cart.customer, line.qty) == (ada, 1)
        assert 'data-count="1"' in text(walker.go("https://shop.example.com/arrive?next=/"))

    def test_next_page_names_what_did_not_fit_at_the_sign_in(self, shop, walker, ada, mug):
        phone = Walker(shop)
        phone.sign_in()
        for _ in range(8):
            phone.add(mug)
        for _ in range(2):
            walker.add(mug)
        walker.open("/checkout")
        page = text(walker.sign_in())
        assert "<li>1 × Mug</li>" in page
        assert "<li>Mug: 1 of 2</li>" in page
        for again in (walker.secure("/account"), walker.open("/")):
            assert "1 of 2" not in text(again)

    def test_next_page_names_what_did_not_fit_if_the_basket_arrives_later(self, shop, walker, ada, mug):
        walker.sign_in()
        for _ in range(8):
            walker.add(mug)
        walker.browsers["shop.example.com"] = Client(headers={"host": "shop.example.com"})
        for _ in range(2):
            walker.add(mug)
        assert "<li>Mug: 1 of 2</li>" in text(walker.open("/checkout"))


def hidden_in(answer, value: str) -> bool:
    return value in answer.content.decode()


class TestToTheShop:
    def test_a_signed_in_customers_prices_are_there(self, walker, shop, mug):
        group = CustomerGroup.objects.create(shop=shop, name="Trade")
        GroupPrice.objects.create(shop=shop, group=group, product=mug, price="7.00")
        make_customer(shop, name="Ada Lovelace", group=group)
        assert "€7.00" not in text(walker.open("/products/mug"))
        walker.sign_in()
        assert [urlsplit(url).netloc for url in walker.way] == ["shop.example.com", SECURE, "shop.example.com", SECURE]
        assert "€7.00" in text(walker.open("/products/mug"))

    def test_no_other_customer_data_is_there(self, walker, ada, mug):
        walker.sign_in()
        walker.add(mug)
        for path in ("/", "/products", "/products/mug", "/basket"):
            page = text(walker.open(path))
            assert EMAIL not in page
            assert not words_of(page) & {"Ada", "Lovelace"}
        assert walker.browser("shop.example.com").get("/account").status_code == 303

    def test_signing_out_ends_both_sign_ins(self, walker, ada, mug):
        walker.sign_in()
        walker.add(mug)
        page = text(walker.secure("/account/sign-out", {}))
        assert walker.url == "https://shop.example.com/"
        assert "You have signed out." in page
        assert 'data-count="0"' in page
        assert "Sign in" in page
        walker.secure("/account")
        assert urlsplit(walker.url).path == "/shop.example.com/account/sign-in"
        assert 'data-count="0"' in text(walker.open("/basket"))

    def test_a_new_password_ends_it_in_other_browsers(self, walker, shop, ada, mug):
        walker.sign_in()
        walker.add(mug)
        other = Walker(shop)
        other.sign_in()
        fields = {"word-current": PASSWORD, "word-password": "another light 8"}
        assert "Your password has been changed." in text(other.secure("/account/details/password", fields))
        assert 'data-count="0"' in text(walker.open("/"))
        assert 'data-count="1"' in text(other.open("/")), "its own browser goes on, at both places"

    def test_a_new_password_ends_a_code_that_is_under_way(self, walker, ada):
        walker.sign_in()
        walker.browsers["shop.example.com"] = Client(headers={"host": "shop.example.com"})
        asked = walker.ask("https://shop.example.com/arrive?next=/")["Location"]
        code = walker.ask(asked)["Location"]
        ada.refresh_from_db()

        change_password(shop=ada.shop, customer=ada, password="another light 8", now=clock.now())
        assert walker.ask(code).status_code == 303
        assert "Sign in" in text(walker.open("/"))

    def test_the_session_is_one_that_nobody_can_have_known(self, walker, ada, mug):
        """A script on the shop's pages may have put its own cookie there before."""
        walker.add(mug)
        before = walker.browser("shop.example.com").cookies["storefront_session"].value
        walker.sign_in()
        assert walker.browser("shop.example.com").cookies["storefront_session"].value != before

    def test_a_basket_of_a_link_comes_along(self, walker, shop, api, mug):
        walker.go(link_to(api, fill_cart(api, {"product_id": mug.pk})))
        assert walker.url == f"{OURS}/checkout"
        walker.go("https://shop.example.com/arrive?next=/basket")
        assert "Mug" in text(walker.open("/basket"))


class TestNobodyIsPushed:
    """Into another's basket or sign-in."""

    @pytest.mark.parametrize("there", ["https://shop.example.com", OURS])
    def test_code_of_another_browser_is_refused(self, shop, ada, mug, there):
        attacker, victim = Walker(shop), Walker(shop)
        attacker.add(mug)
        if there != OURS:
            attacker.sign_in()
        code = attacker.ask(attacker.ask(f"{there}/arrive?next=/")["Location"])["Location"]
        assert parse_qs(urlsplit(code).query).keys() == {"code"}
        victim.ask(f"{there}/arrive?next=/")
        assert victim.ask(code).status_code == 303
        assert 'data-count="0"' in text(victim.open("/basket"))
        assert victim.ask(f"{OURS}/account").status_code == 303
        assert attacker.ask(code).status_code == 303
        assert 'data-count="1"' in text(attacker.open("/basket"))

    def test_state_of_another_session_is_refused(self, shop, walker, mug):
        attacker = Walker(shop)
        asked = attacker.ask(f"{OURS}/arrive?next=/checkout")["Location"]
        walker.add(mug)
        walker.go(asked)
        assert 'data-count="0"' in text(attacker.open("/basket"))
        assert 'data-count="0"' in attacker.ask(f"{OURS}/account/sign-in").content.decode()

    def test_a_code_is_for_the_shop_that_made_it(self, walker, shop, other_shop, mug):
        walker.add(mug)
        code = walker.ask(walker.ask(f"{OURS}/arrive?next=/checkout")["Location"])["Location"]
        elsewhere = code.replace("/shop.example.com/", f"/{other_shop.domain}/")
        walker.ask(elsewhere)
        assert HandoverCode.objects.count() == 1
        assert walker.ask(code)["Location"] == "/shop.example.com/checkout"
        assert not HandoverCode.objects.exists()

    def test_a_code_is_for_one_place(self, walker, ada, mug):
        walker.sign_in()
        asked = walker.ask("https://shop.example.com/arrive?next=/")["Location"]
        code = walker.ask(asked)["Location"]
        walker.ask(code.replace("https://shop.example.com", OURS))
        assert HandoverCode.objects.count() == 1

    @pytest.mark.rule("R-LINK-18")
    def test_expired_code_is_refused(self, walker, mug, time_machine_later):
        walker.add(mug)
        code = walker.ask(walker.ask(f"{OURS}/arrive?next=/checkout")["Location"])["Location"]
        time_machine_later(60)
        walker.ask(code)
        assert 'data-count="0"' in walker.ask(f"{OURS}/account/sign-in").content.decode()

    @pytest.mark.parametrize(
        "path", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:1", ""]
    )
    def test_never_redirects_to_another_site(self, walker, mug, path):
        walker.add(mug)
        for start in (f"{OURS}/arrive", "https://shop.example.com/arrive"):
            for name in ("next", "back"):
                walker.go(f"{start}?{name}={path}")
                hosts = {urlsplit(url).netloc for url in walker.way}
                assert hosts <= {SECURE, "shop.example.com"}
        answer = walker.secure("/account/sign-in", {"email": EMAIL, "password": "x", "next": path})
        assert "evil" not in hidden_value(answer, "next")

    def test_requires_a_state(self, walker, shop):
        for query in ("", "?state=", f"?state={'x' * 101}"):
            assert walker.ask(f"https://shop.example.com/hand-over{query}").status_code == 404
        assert not HandoverCode.objects.exists()


@pytest.fixture
def time_machine_later(monkeypatch):
    now = clock.now()

    def later(seconds: int) -> None:
        monkeypatch.setattr(clock, "now", lambda: now + timedelta(seconds=seconds))

    later(0)
    return later


class TestEachAddress:
    """Treated as a checkout link is."""

    def test_is_not_logged_cached_or_sent_to_other_sites(self, walker, mug, caplog):
        walker.add(mug)
        url = f"{OURS}/arrive?next=/checkout"
        seen = []
        for _ in range(3):
            answer = walker.ask(url)
            assert answer.status_code == 303
            assert answer["Cache-Control"] == "no-store"
            assert answer["Referrer-Policy"] == "no-referrer"
            assert answer.wsgi_request.META["QUERY_STRING"] == ""
            url = answer["Location"]
            seen += [value for values in parse_qs(urlsplit(url).query).values() for value in values]
        assert len(seen) == 2, "a state and a code"
        for secret in seen:
            assert secret not in caplog.text


class TestALink:
    @pytest.mark.rule("R-LINK-18")
    def test_is_followed_on_the_shops_host_and_leads_to_the_secure_one(self, walker, api, mug):
        link = link_to(api, fill_cart(api, {"product_id": mug.pk}))
        assert link.startswith("https://shop.example.com/cart/resume?")
        answer = walker.ask(link)
        assert (answer.status_code, answer["Cache-Control"]) == (303, "no-store")
        assert answer["Referrer-Policy"] == "no-referrer"
        there = urlsplit(answer["Location"])
        assert f"{there.scheme}://{there.netloc}{there.path}" == f"{OURS}/cart/arrive"
        assert parse_qs(there.query).keys() == {"code"}
        row = HandoverCode.objects.get()
        assert row.expires_at <= clock.now() + timedelta(seconds=60)
        walker.go(answer["Location"])
        assert walker.url == f"{OURS}/checkout"
        assert order(walker).lines.get().name == "Mug"

    @pytest.mark.rule("R-LINK-18")
    def test_code_works_once(self, shop, walker, api, mug):
        there = walker.ask(link_to(api, fill_cart(api, {"product_id": mug.pk})))["Location"]
        assert walker.ask(there).status_code == 303
        again = Walker(shop).ask(there)
        assert again.status_code == 403
        assert "This link does not work" in again.content.decode()

    def test_head_request_gets_no_code(self, walker, api, mug):
        parts = urlsplit(link_to(api, fill_cart(api, {"product_id": mug.pk})))
        answer = walker.browser("shop.example.com").head(parts.path, QUERY_STRING=parts.query)
        assert answer["Location"] == f"{OURS}/checkout"
        assert not HandoverCode.objects.exists()

    def test_one_that_was_altered_is_refused_on_the_shops_host(self, walker, api, mug):
        link = link_to(api, fill_cart(api, {"product_id": mug.pk}))
        assert walker.ask(link[:-1] + ("0" if link[-1] != "0" else "1")).status_code == 403
        assert not HandoverCode.objects.exists()

    def test_it_finds_the_basket_that_the_browser_has(self, walker, shop, api, mug):
        bowl = make_product(shop, "Bowl", price="5.00")
        walker.add(bowl)
        page = text(walker.go(link_to(api, fill_cart(api, {"product_id": mug.pk}))))
        assert walker.url == f"{OURS}/checkout"
        assert "Mug" in page
        assert "Bowl" in page

    def test_its_integration_reads_nothing_that_the_browser_had(self, walker, shop, api, mug):
        bowl = make_product(shop, "Bowl", price="5.00")
        walker.add(bowl)
        token = fill_cart(api, {"product_id": mug.pk})
        walker.go(link_to(api, token))
        names = [line["name_snapshot"] for line in api.get("/cart", cart=token).json()["data"]["items"]]
        assert "Bowl" not in names


class TestMailedLinks:
    def link(self, shop) -> str:
        jobs.send_password_link.call(shop.pk, EMAIL, "register")
        return link_in(mail.outbox[-1].body)

    def test_lead_to_the_secure_host(self, walker, shop):
        link = self.link(shop)
        assert link.startswith(f"{OURS}/account/link?")
        walker.go(link)
        assert walker.url == f"{OURS}/account/password"
        walker.go(f"{OURS}/account/password", {"name": "Ada", "password": PASSWORD})
        assert walker.url == f"{OURS}/account"

    def test_are_of_one_shop_whatever_host_is_asked(self, walker, shop, other_shop):
        link = self.link(shop)
        assert walker.ask(link.replace("/shop.example.com/", f"/{other_shop.domain}/")).status_code == 403
        assert walker.ask(link.replace(SECURE, f"{SECURE}:8443")).status_code == 303

    def test_of_mails_without_a_link_lead_there_too(self, shop, ada):
        jobs.send_notice.call(shop.pk, EMAIL, "password_changed")
        assert f"{OURS}/account/forgot" in mail.outbox[-1].body
        jobs.send_password_link.call(shop.pk, EMAIL, "register")
        assert f"{OURS}/account/sign-in" in mail.outbox[-1].body

"""The sample app through its whole life in a shop, with a second shop beside it."""

import json
import re
from html import unescape

import pytest
import requests
from standardwebhooks import Webhook

from storefront.kit import clock
from storefront.webhooks.signing import new_secret, sign
from tests.checkout.shopper import details

pytestmark = [pytest.mark.any_database, pytest.mark.proof, pytest.mark.timeout(480)]


class HttpShopper:
    """Goes through a shop's checkout by its forms alone."""

    def __init__(self, url: str) -> None:
        self.url, self.session = url, requests.Session()

    def get(self, path: str) -> str:
        answer = self.session.get(path if path.startswith("http") else self.url + path, timeout=60)
        assert answer.ok, answer.text
        return answer.text

    def post(self, path: str, fields: dict[str, str]) -> requests.Response:
        token = hidden(self.get(path), "csrfmiddlewaretoken")
        fields = fields | {"csrfmiddlewaretoken": token}
        answer = self.session.post(self.url + path, fields, headers={"Referer": self.url + path}, timeout=60)
        assert answer.ok, answer.text
        return answer

    def order(self, link: str) -> str:
        """The block that was shown on the way."""
        assert "Checkout" in self.get(link)
        self.post("/checkout", details())
        block = self.get("/checkout/blocks")
        page = self.get("/checkout/payment")
        given = {name: hidden(page, name) for name in ("checkout", "shown")}
        done = self.post("/checkout/payment", {"method": "manual", "note": "", **given})
        assert "Thank you for your order" in done.text
        return block


def hidden(page: str, name: str) -> str:
    return unescape(re.search(rf'name="{name}" value="([^"]*)"', page)[1])


def checkout_link(shops, shop: str = "localhost") -> str:
    """What a program outside does: a mug into a cart, and the link for the shopper."""
    token = shops.command("createtoken", "--shop", shop, "--scopes", "read_products,read_cart,write_cart")
    api, headers = f"{shops.url}/api/v1", {"Authorization": f"Bearer {token}"}
    product = requests.get(f"{api}/products/mug", headers=headers, timeout=60).json()["data"]
    added = requests.post(f"{api}/cart", json={"product_id": product["id"], "qty": 2}, headers=headers, timeout=60)
    headers |= {"X-Cart-Token": added.json()["cart_token"]}
    return requests.post(f"{api}/cart/checkout", headers=headers, timeout=60).json()["checkout_url"]


def test_from_the_installation_to_the_uninstall(shops):
    token = shops.install()
    assert shops.kept("SELECT domain, is_active FROM installation") == [("localhost", 1)]
    assert shops.file.stat().st_mode & 0o077 == 0
    [block] = shops.listed("extensions", token)
    assert (block["type"], block["callback_url"].startswith(shops.app_url)) == ("checkout_block", True)
    [script] = shops.listed("script-tags", token)
    shopper = HttpShopper(shops.url)
    # All pages share one host here (tests/browser/test_sample_app.py has them apart).
    assert "badge.js" not in shopper.get("/")
    assert "STOREFRONT_ADMIN_HOST" in script["blocked_reason"]
    assert script["src"] == f"{shops.app_url}/badge.js"
    assert "gift-badge" in requests.get(script["src"], timeout=60).text

    shown = shopper.order(checkout_link(shops))
    assert "We wrap Mug in recycled paper." in shown
    shops.wait(lambda: shops.kept("SELECT * FROM sale"), "the delivery")
    [(installation, number, total)] = shops.kept("SELECT * FROM sale")
    assert total == "19.00"

    # The same event again: by a replay, and by reading the feed.
    [delivery] = shops.call("GET", "/webhooks/deliveries?topic=order.placed", token).json()["deliveries"]
    tries = delivery["tries"]
    assert shops.call("POST", f"/webhooks/deliveries/{delivery['id']}/replay", token).status_code == 200

    def replayed():
        [again] = shops.call("GET", "/webhooks/deliveries?topic=order.placed", token).json()["deliveries"]
        return again["tries"] > tries and again["status"] == "delivered"

    shops.wait(replayed, "the delivery once more")
    shops.catch_up()
    assert shops.kept("SELECT * FROM sale") == [(installation, number, total)]
    assert shops.kept("SELECT sequence FROM installation")[0][0] >= 1

    shops.uninstall()
    shops.wait(lambda: shops.kept("SELECT * FROM installation WHERE NOT is_active"), "the last delivery")
    assert shops.kept("SELECT token, secret FROM installation") == [("", "")]
    assert shops.call("GET", "/shop", token).status_code == 401
    front = shopper.session.get(shops.url, timeout=60)
    assert "badge.js" not in front.text
    assert str(shops.app_port) not in front.headers["Content-Security-Policy"]
    # Nothing of the app's own is left in the shop, as an app that is installed anew can see.
    other = shops.install()
    for what in ("extensions", "script-tags"):
        assert [each["app_installation_id"] for each in shops.listed(what, other)] == [installation + 1]


def test_undelivered_orders_are_read_from_the_feed_and_a_401_ends_it(shops):
    token = shops.install()
    shops.stop_app()
    HttpShopper(shops.url).order(checkout_link(shops))
    shops.wait(lambda: shops.call("GET", "/events", token).json()["events"], "the event")
    assert shops.kept("SELECT * FROM sale") == []
    shops.catch_up()
    assert [total for _, _, total in shops.kept("SELECT * FROM sale")] == ["19.00"]

    shops.uninstall()
    assert "localhost uninstalled the app" in shops.catch_up()
    assert shops.kept("SELECT token, secret, is_active FROM installation") == [("", "", 0)]
    assert shops.catch_up() == "", "it calls no more"


def test_each_shop_has_an_installation_of_its_own(shops):
    tokens = {shop: shops.install(shop) for shop in ("localhost", "127.0.0.1")}
    HttpShopper(f"http://127.0.0.1:{shops.port}").order(checkout_link(shops, "127.0.0.1"))
    shops.wait(lambda: shops.kept("SELECT * FROM sale"), "the delivery")
    shops.catch_up()
    sold = "SELECT domain FROM sale JOIN installation ON installation.id = sale.installation"
    assert shops.kept(sold) == [("127.0.0.1",)]
    shops.uninstall("127.0.0.1")
    shops.wait(lambda: shops.kept("SELECT * FROM installation WHERE NOT is_active"), "the last delivery")
    assert shops.kept("SELECT domain FROM installation WHERE is_active") == [("localhost",)]
    assert shops.call("GET", "/shop", tokens["localhost"]).json()["shop"]["domain"] == "localhost"


REPLACE = """
from storefront.apps.actions import rotate_token
from storefront.installations.models import Installation
from storefront.kit import clock
row = Installation.objects.select_related("shop").get(uninstalled_at=None)
print(rotate_token(shop=row.shop, installation=row, now=clock.now()))
"""


def test_a_replaced_token_is_stored_and_a_test_is_no_sale(shops):
    shops.install()
    token = shops.command("shell", "--no-imports", "-c", REPLACE)
    shops.wait(lambda: shops.kept("SELECT token FROM installation") == [(token,)], "the new token")
    sent = shops.call("POST", "/webhooks/order.placed/test", token).json()["delivery"]

    def delivered():
        found = shops.call("GET", "/webhooks/deliveries?topic=order.placed", token).json()["deliveries"]
        return [each["status"] for each in found if each["id"] == sent["id"]] == ["delivered"]

    shops.wait(delivered, "the test")
    assert shops.kept("SELECT * FROM sale") == []


def test_unsigned_requests_are_refused(shops):
    shops.install()
    [(id, secret)] = shops.kept("SELECT id, secret FROM installation")
    event = {"id": "1", "type": "order.placed", "data": {"number": "1", "total": "1.00"}}
    stranger = {"type": "app.installed", "timestamp": "2026-11-21T07:30:00.000000Z", "installation_id": 99}
    stranger |= {"shop_domain": "localhost", "access_token": "app_x", "webhook_secret": secret}

    def send(path: str, body: dict, **headers: str) -> int:
        return requests.post(f"{shops.app_url}{path}", json.dumps(body), headers=headers, timeout=60).status_code

    def signed(body: dict, secret: str) -> dict[str, str]:
        return sign(id="1", body=json.dumps(body).encode(), secrets=[secret], now=clock.now())

    for body, path in (
        (stranger, "/install"),
        (event, f"/installations/{id}/webhooks"),
        ({"items": []}, f"/installations/{id}/checkout-block"),
    ):
        genuine = signed(body, shops.secret if path == "/install" else secret)
        for headers in (
            {},
            signed(body, new_secret()),
            signed(body | {"more": 1}, secret),
            genuine | {"webhook-signature": "v1,x"},
            genuine | {"webhook-signature": "nonsense"},
            genuine | {"webhook-timestamp": "1600000000"},
        ):
            assert send(path, body, **headers) == 401, (path, headers)
    assert shops.kept("SELECT id FROM installation") == [(id,)]
    assert shops.kept("SELECT * FROM sale") == []
    # And the sentences above hold because of the signature alone.
    assert Webhook(secret).verify(json.dumps(event), signed(event, secret)) == event
    assert send(f"/installations/{id}/webhooks", event, **signed(event, secret)) == 204
    assert send("/installations/98/webhooks", event, **signed(event, secret)) == 410
    # A token that opens no shop: nothing begins.
    assert send("/install", stranger, **signed(stranger, shops.secret)) == 204
    assert shops.kept("SELECT token, secret, is_active FROM installation WHERE id = 99") == [("", "", 0)]

"""The whole, as processes: server, worker, fake, and shoppers over HTTP. And no secret stays anywhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from tests.addresses import ADDRESS
from tests.databases import database
from tests.server.programs import free_port, is_listening, running, storefront, wait_until
from tests.stripe.client import KEYS, FakeStripe

pytestmark = pytest.mark.slow

PAYS, DECLINED = "4242424242424242", "4000000000000002"
SET_UP = """
from decimal import Decimal
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.stripe.selling import offer_stripe
shop = Shop.objects.get()
offer_stripe(shop)
make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=100)
"""
LOOK = """
from storefront.orders.models import Order
from storefront.payments.models import Payment
print([order.payment_status for order in Order.objects.order_by("pk")], Payment.objects.filter(state="paid").count())
"""


@dataclass
class Deployment:
    environment: dict[str, str]
    url: str
    log: Path
    pages: list[requests.Response] = field(default_factory=list)

    def press_pay(self) -> tuple[requests.Session, str]:
        """A new shopper presses pay for a mug. Returns their browser and where it was led."""
        browser = self.shopper()
        return browser, self.press("stripe", browser).url

    def shopper(self) -> requests.Session:
        """A new shopper, at the payment step for a mug."""
        browser = requests.Session()
        browser.hooks["response"].append(lambda answer, **_: self.pages.append(answer))
        self.send(browser, "/products/mug", {"product": "1", "qty": "1"}, to="/basket/add")
        address = {f"shipping-{name}": value for name, value in ADDRESS.items()}
        self.send(browser, "/checkout", {"email": "ada@example.com", "phone": "", "same": "on", **address})
        return browser

    def press(self, method: str, browser: requests.Session) -> requests.Response:
        page = browser.get(f"{self.url}/checkout/payment").text
        shown = {name: value_of(page, name) for name in ("checkout", "shown")}
        return self.send(browser, "/checkout/payment", {"method": method, "note": "", **shown})

    def send(self, browser: requests.Session, path: str, fields: dict[str, str], to: str = "") -> requests.Response:
        page = browser.get(self.url + path).text
        given = fields | {"csrfmiddlewaretoken": value_of(page, "csrfmiddlewaretoken")}
        return browser.post(self.url + (to or path), given, headers={"Referer": self.url + path})

    def orders(self) -> str:
        """The payment status of each order, and the number of paid payments."""
        return storefront("shell", "--no-imports", "-c", LOOK, **self.environment).stdout.strip()

    def wait_for(self, orders: str) -> None:
        wait_until(lambda: self.orders() == orders, what=f"the orders {orders}", seconds=60)


def value_of(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, page[:2000]
    return unescape(found[1])


@pytest.fixture
def served(migrated, tmp_path, stripe_process) -> Iterator[Deployment]:
    port, log = free_port(), tmp_path / "serve.log"
    stripe_process("reset")
    url = f"http://127.0.0.1:{port}"
    with database(tmp_path, copied_from=migrated) as environment:
        environment |= {"STOREFRONT_STRIPE_API": stripe_process.url, "STOREFRONT_STRIPE_SCRIPT": stripe_process.script}
        environment |= {"STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1", "STOREFRONT_LOG_LEVEL": "debug"}
        environment |= {"STOREFRONT_STRIPE_SECONDS": "2", "PYTHONPATH": str(Path.cwd())}
        made = storefront("createshop", "--domain", "127.0.0.1", "--name", "S", "--base-url", url, **environment)
        assert made.returncode == 0, made.stderr
        made = storefront("shell", "--no-imports", "-c", SET_UP, **environment)
        assert made.returncode == 0, made.stderr
        with running("serve", "--port", str(port), log=log, **environment) as process:
            wait_until(lambda: is_listening(port), process=process, what="the server")
            endpoint = {"url": f"{url}/payments/stripe/news", "secret": KEYS["webhook_secret"]}
            stripe_process("configure", endpoint=endpoint)
            yield Deployment(environment, url, log)
    assert stripe_process("seen")["violations"] == []


def test_sells_with_news_twice_late_and_out_of_order(served, stripe_process):
    fake = stripe_process
    fake("configure", news="twice")
    served.press_pay()
    fake("confirm", intent=fake.intent()["id"], number=PAYS)
    served.wait_for("['paid'] 1")

    fake("configure", news="held")
    served.press_pay()
    fake("confirm", intent=fake.intent()["id"], number=DECLINED)
    fake("confirm", intent=fake.intent()["id"], number=PAYS)
    assert set(fake("deliver", backwards=True, times=2)) == {200}
    served.wait_for("['paid', 'paid'] 2")


@pytest.mark.proof
def test_sells_without_any_news_to_a_shopper_who_closed_the_tab(served, stripe_process):
    served.press_pay()
    stripe_process("confirm", intent=stripe_process.intent()["id"], number=PAYS)

    # The worker looks after a minute.
    wait_until(lambda: served.orders() == "['paid'] 1", what="the worker's look", seconds=100)


def test_no_secret_is_in_logs_in_the_database_or_on_other_pages(served, stripe_process):
    fake: FakeStripe = stripe_process
    browser, step = served.press_pay()
    intent = fake.intent()
    fake("confirm", intent=intent["id"], number=DECLINED)
    browser.get(step)
    fake("confirm", intent=intent["id"], number=PAYS)
    # As Stripe sends the shopper back.
    query = {"payment_intent_client_secret": intent["client_secret"], "redirect_status": "succeeded"}
    assert "/orders/" in browser.get(f"{step}/return", params=query).url
    # Stripe breaks, is silent, and does not know the keys any more.
    for how in ("broken", "silent_after"):
        fake.fail("POST /v1/payment_intents$", how)
        browser, step = served.press_pay()
        browser.get(step, params=query)
    fake("deliver", secret="whsec_wrong")
    requests.get(f"{served.url}/checkout/payment/{intent['client_secret']}", params=query)

    secrets = [KEYS["secret_key"], KEYS["webhook_secret"], PAYS, DECLINED]
    secrets += [each["client_secret"] for each in fake.objects("payment_intent")]
    assert len(secrets) >= 6
    kept = {"log": served.log.read_bytes(), "database": dump(served)}
    kept |= {
        f"{number} {page.request.method} {page.url}": page.content
        for number, page in enumerate(served.pages)
        if b'id="stripe"' not in page.content
    }
    assert len(kept["log"]) > 10_000
    assert intent["id"].encode() in kept["database"]
    assert [(place, secret) for place, text in kept.items() for secret in secrets if secret.encode() in text] == []
    steps = [page for page in served.pages if b'id="stripe"' in page.content]
    assert steps
    assert all(KEYS["secret_key"].encode() not in page.content for page in steps)


def dump(served: Deployment) -> bytes:
    """All that is in the database, in clear."""
    url = served.environment.get("DATABASE_URL")
    if not url:
        files = Path(served.environment["STOREFRONT_DATA_DIR"]).glob("storefront.sqlite3*")
        return b"\n".join(file.read_bytes() for file in files)
    tables = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"
    with psycopg.connect(url) as opened:
        return b"\n".join(copied(opened, name) for (name,) in opened.execute(tables).fetchall())


def copied(opened: psycopg.Connection[Any], table: str) -> bytes:
    with opened.cursor().copy(f"COPY {table} TO STDOUT") as rows:
        return b"".join(bytes(piece) for piece in rows)

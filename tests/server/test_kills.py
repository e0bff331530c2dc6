"""Whoever is killed, and whenever: what was committed is told, in the feed without a gap and to every webhook at least
once (R-HOOK-6)."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from html import unescape
from pathlib import Path
from queue import Empty
from random import Random
from threading import Event

import pytest
import requests
from standardwebhooks import Webhook

from tests.checkout.shopper import details
from tests.receiver import Received, Receiver, receiving
from tests.server.clusters import Cluster, cluster, programs
from tests.server.programs import STOREFRONT, clean_environment, free_port, is_listening, storefront, wait_until

pytestmark = pytest.mark.proof

ORDERS = 400
# So many of them through the whole checkout, by HTTP.
SHOPPERS, BOUGHT = 2, 20
EMAIL = "web@example.com"
NO_LIMITS = ("ORDERS", "ORDERS_EACH", "UNPAID", "UNPAID_EACH", "MAILS_EACH")
SET_UP = """
import json
from storefront.kit import clock
from storefront.webhooks import actions
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.shops.factories import make_shop, make_token
shop = make_shop("localhost", base_url="http://localhost:PORT")
mug = make_product(shop, stock_qty=10**6)
app = install(shop, "read_orders")
for topic in ("order.placed", "order.paid"):
    given = {"topic": topic, "address": "RECEIVER", "now": clock.now()}
    actions.register_webhook(shop=shop, installation_id=app.installation.pk, **given)
print(json.dumps([app.secret, make_token(shop), mug.pk]))
"""
# What a program that sells does for each order, until there are enough of them.
SELL = f"""
from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.orders import actions
from storefront.payments import actions as payments
from storefront.orders.models import Order
from storefront.shops.models import Shop
from tests.orders.factories import make_order, sale_line
shop, mug = Shop.objects.get(), Product.objects.get()
while Order.objects.count() < {ORDERS}:
    order = make_order(shop, sale_line(mug), now=clock.now())
    print(order.pk, flush=True)
    payments.mark_paid(shop=shop, order=order, now=clock.now())
"""
LOOK = """
import json, time
from storefront.orders.models import Order
from storefront.webhooks.models import Delivery, Event
deadline = time.monotonic() + 60
while Event.objects.filter(sequence=None).exists() or Delivery.objects.filter(kind="event", status="pending").exists():
    assert time.monotonic() < deadline, "not all is delivered"
    time.sleep(0.2)
events = Event.objects.filter(topic__startswith="order.").order_by("sequence")
print(json.dumps(list(Event.objects.order_by("sequence").values_list("sequence", flat=True))))
print(json.dumps([[str(of), *rest] for of, *rest in events.values_list("public_id", "topic", "data__id")]))
orders = Order.objects.values_list("public_id", "id", "payment_status", "email")
print(json.dumps([[str(of), *rest] for of, *rest in orders]))
"""


def shell(script: str, **environment: str) -> list:
    """What the script prints, line by line."""
    done = storefront("shell", "--no-imports", "-c", script, **environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Crew:
    """Programs that are killed without warning, and started again."""

    def __init__(self, environment: dict[str, str], directory: Path) -> None:
        self.environment, self.directory = environment, directory
        self.running: dict[str, subprocess.Popen] = {}

    def start(self, name: str, *arguments: str) -> None:
        with (self.directory / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [STOREFRONT, *arguments],
                env=clean_environment(**self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """With all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self.running[name].pid, signal.SIGKILL)
        self.running[name].wait()

    def has_failed(self, name: str) -> bool:
        return self.running[name].poll() not in (None, 0)

    def printed(self, name: str) -> list[int]:
        """The orders that were committed while the program of this name was alive, as far as it could say so."""
        lines = (self.directory / f"{name}.log").read_text().splitlines()
        return [int(line) for line in lines if line.isdigit()]


class Street:
    """A shop with all its programs running, and what happens to them."""

    sellers, workers = ("seller-1", "seller-2"), ("worker-1", "worker-2")

    def __init__(self, crew: Crew, database: Cluster | None, port: int) -> None:
        self.crew, self.database, self.port = crew, database, port

    def start(self, name: str) -> None:
        if name == "database":
            assert self.database
            self.database.start()
        elif name == "web":
            self.crew.start(name, "serve", "--port", str(self.port), "--threads", "4", "--no-worker")
            wait_until(lambda: is_listening(self.port), what="the web server", process=self.crew.running[name])
        else:
            sells = name in self.sellers
            self.crew.start(name, *(("shell", "--no-imports", "-c", SELL) if sells else ("worker",)))

    def kill(self, name: str) -> None:
        if name == "database":
            assert self.database
            self.database.kill()
        else:
            self.crew.kill(name)
        if name == "web":
            # Its processes die one after another, and the last of them still listens for a moment.
            wait_until(lambda: not is_listening(self.port), what="the end of the web server")

    def sold(self) -> list[int]:
        return [order for name in self.sellers for order in self.crew.printed(name)]

    def has_sold(self, goal: int) -> bool:
        """Whether that many have been sold so far. A seller that broke off, as when the database went away, begins
        anew; those who stay open are to stay so by themselves."""
        for name in (*self.sellers, *self.workers, "web"):
            if self.crew.has_failed(name):
                assert name in self.sellers, f"{name} ended by itself"
                self.start(name)
        return len(self.sold()) >= goal

    def is_sold_out(self) -> bool:
        return self.has_sold(0) and all(self.crew.running[name].poll() == 0 for name in self.sellers)


class Buyer:
    """A shopper who comes with a link, and asks again for whatever does not answer, as people reload a page."""

    def __init__(self, port: int, token: str, product: int) -> None:
        self.url, self.product = f"http://localhost:{port}", product
        self.api = {"Authorization": f"Bearer {token}"}

    def buy(self, name: str) -> str:
        """The public id of the order. An order form that got no answer is sent again, and orders once."""
        browser = requests.Session()
        key = {"Idempotency-Key": name}
        line = {"product_id": self.product, "qty": 1}
        cart = persist(lambda: requests.post(f"{self.url}/api/v1/cart", json=line, headers=self.api | key, timeout=60))
        named = self.api | {"X-Cart-Token": cart.json()["cart_token"]}
        link = persist(lambda: requests.post(f"{self.url}/api/v1/cart/checkout", headers=named, timeout=60))
        persist(lambda: browser.get(link.json()["checkout_url"], timeout=60))
        self.send(browser, "/checkout", details(email=EMAIL))
        page = persist(lambda: browser.get(f"{self.url}/checkout/payment", timeout=60)).text
        form = {name: hidden(page, name) for name in ("checkout", "shown")}
        done = self.send(browser, "/checkout/payment", form | {"method": "manual", "note": ""})
        assert "Thank you for your order" in done.text, done.text
        return re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", done.url)[0]

    def send(self, browser: requests.Session, path: str, fields: dict[str, str]) -> requests.Response:
        url = self.url + path
        token = hidden(persist(lambda: browser.get(url, timeout=60)).text, "csrfmiddlewaretoken")
        given = fields | {"csrfmiddlewaretoken": token}
        return persist(lambda: browser.post(url, given, headers={"Referer": url}, timeout=60))


def persist(ask: Callable[[], requests.Response], seconds: float = 90) -> requests.Response:
    """The first answer that is one."""
    deadline = time.monotonic() + seconds
    while True:
        with suppress(requests.RequestException):
            answer = ask()
            # The database may still be at work for a web server that was killed, until it finds nobody there.
            if answer.status_code < 500 and "idempotency_in_flight" not in answer.text:
                assert answer.ok, answer.text
                return answer
        assert time.monotonic() < deadline, "the web server does not answer again"
        time.sleep(0.1)


def hidden(page: str, name: str) -> str:
    return unescape(re.search(rf'name="{name}" value="([^"]*)"', page)[1])


@contextmanager
def crew(environment: dict[str, str], directory: Path) -> Iterator[Crew]:
    found = Crew(environment, directory)
    try:
        yield found
    finally:
        for name in found.running:
            found.kill(name)


@contextmanager
def shopping(buyer: Buyer) -> Iterator[list[Future[list[str]]]]:
    """Shoppers who buy one thing after another: the public ids of their orders, once all have what they want."""
    told = Event()

    def buy(name: int) -> list[str]:
        return [buyer.buy(f"{name}-{count}") for count in range(BOUGHT // SHOPPERS) if not told.is_set()]

    with ThreadPoolExecutor(SHOPPERS) as threads:
        try:
            yield [threads.submit(buy, name) for name in range(SHOPPERS)]
        finally:
            told.set()


def drained(receiver: Receiver) -> Iterator[Received]:
    while True:
        try:
            yield receiver.received.get_nowait()
        except Empty:
            return


@pytest.fixture
def database(deployment) -> Iterator[Cluster | None]:
    """On PostgreSQL a server of this test's own, where its programs are installed."""
    found = programs()
    if "DATABASE_URL" not in deployment or not found:
        yield None
        return
    with cluster(found, deployment["DATABASE_URL"]) as server:
        yield server


# Its programs start a dozen times, and a lease of one that was killed lasts twenty seconds.
@pytest.mark.rule("R-HOOK-6", "R-HOOK-14")
@pytest.mark.timeout(800)
def test_no_event_is_lost_whatever_is_killed(deployment, database, tmp_path):
    random, port = Random(5), free_port()
    victims = ["web", *Street.workers, *Street.sellers, "web", *(["database"] * 2 if database else [])]
    random.shuffle(victims)
    moments = sorted(random.sample(range(ORDERS * 4 // 5), len(victims)))
    environment = deployment | {
        "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
        # Two shoppers buy as nobody does: from one place, to one address, and pay for none of it.
        **{f"STOREFRONT_LIMIT_{name}": "0" for name in NO_LIMITS},
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    if database:
        environment["DATABASE_URL"] = database.url
    with receiving() as receiver, crew(environment, tmp_path) as programs:
        set_up = SET_UP.replace("RECEIVER", receiver.url).replace("PORT", str(port))
        ((secret, token, mug),) = shell(set_up, **environment)
        street = Street(programs, database, port)
        for name in ("web", *street.workers, *street.sellers):
            street.start(name)
        with shopping(Buyer(port, token, mug)) as buyers:
            for moment, victim in zip(moments, victims, strict=True):
                wait_until(lambda moment=moment: street.has_sold(moment), what=f"{moment} orders", seconds=60)
                street.kill(victim)
                street.start(victim)
            bought = [order for buyer in buyers for order in buyer.result(120)]
        wait_until(street.is_sold_out, what="the last orders", seconds=60)
        sequences, events, orders = shell(LOOK, **environment)
        came = list(drained(receiver))
    placed, paid = ([order for _, of, order in events if of == topic] for topic in ("order.placed", "order.paid"))
    assert len(orders) >= ORDERS
    assert sequences == list(range(1, len(sequences) + 1))
    assert sorted(placed) == sorted(pk for _, pk, *_ in orders)
    assert sorted(paid) == sorted(pk for _, pk, status, _ in orders if status == "paid")
    # What somebody was told is sold, is; and to a shopper who asked again, once.
    assert set(street.sold()) <= set(placed)
    assert sorted(bought) == sorted(public for public, *_, email in orders if email == EMAIL)
    told = {Webhook(secret).verify(each.body, each.headers)["id"] for each in came}
    assert told == {event for event, topic, _ in events if topic in ("order.placed", "order.paid")}

"""Whoever is killed, and whenever: what was committed is told, in the feed without a gap and to every webhook at least
once (decisions: Events and webhooks)."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from random import Random

import pytest
from standardwebhooks import Webhook

from tests.receiver import Received, Receiver, receiving
from tests.server.programs import STOREFRONT, clean_environment, storefront, wait_until

ORDERS = 160
SET_UP = """
import json
from storefront.kit import clock
from storefront.webhooks import actions
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.shops.factories import make_shop
shop = make_shop()
make_product(shop, stock_qty=10**6)
app = install(shop, "read_orders")
for topic in ("order.placed", "order.paid"):
    given = {"topic": topic, "address": "RECEIVER", "now": clock.now()}
    actions.register_webhook(shop=shop, installation_id=app.installation.pk, **given)
print(json.dumps(app.secret))
"""
# What a web process does for each order, until there are enough of them.
SELL = f"""
from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.orders import actions
from storefront.orders.models import Order
from storefront.shops.models import Shop
from tests.orders.factories import make_order, sale_line
shop, mug = Shop.objects.get(), Product.objects.get()
while Order.objects.count() < {ORDERS}:
    order = make_order(shop, sale_line(mug), now=clock.now())
    print(order.pk, flush=True)
    actions.mark_paid(shop=shop, order=order, now=clock.now())
"""
LOOK = """
import json, time
from storefront.orders.models import Order
from storefront.webhooks.models import Delivery, Event
deadline = time.monotonic() + 45
while Event.objects.filter(sequence=None).exists() or Delivery.objects.filter(kind="event", status="pending").exists():
    assert time.monotonic() < deadline, "not all is delivered"
    time.sleep(0.2)
events = Event.objects.order_by("sequence").values_list("public_id", "sequence", "topic", "data__id")
print(json.dumps([[str(of), *rest] for of, *rest in events]))
print(json.dumps(list(Order.objects.values_list("id", "payment_status"))))
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
                [STOREFRONT, *arguments], env=clean_environment(**self.environment), stdout=log, stderr=log
            )

    def kill(self, name: str) -> None:
        self.running[name].send_signal(signal.SIGKILL)
        self.running[name].wait()

    def printed(self, name: str) -> list[int]:
        """The orders that were committed while the program of this name was alive, as far as it could say so."""
        lines = (self.directory / f"{name}.log").read_text().splitlines()
        return [int(line) for line in lines if line.isdigit()]


@contextmanager
def crew(environment: dict[str, str], directory: Path) -> Iterator[Crew]:
    found = Crew(environment, directory)
    try:
        yield found
    finally:
        for name in found.running:
            found.kill(name)


def drained(receiver: Receiver) -> Iterator[Received]:
    while True:
        try:
            yield receiver.received.get_nowait()
        except Empty:
            return


# Its programs start a dozen times, and a lease of one that was killed lasts twenty seconds.
@pytest.mark.timeout(300)
def test_no_event_is_lost_however_often_workers_and_sellers_are_killed(deployment, tmp_path):
    random = Random(5)
    environment = deployment | {
        "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    sellers, workers = ("seller-1", "seller-2"), ("worker-1", "worker-2")
    with receiving() as receiver, crew(environment, tmp_path) as programs:
        (secret,) = shell(SET_UP.replace("RECEIVER", receiver.url), **environment)

        def start(name: str) -> None:
            arguments = ("worker",) if name in workers else ("shell", "--no-imports", "-c", SELL)
            programs.start(name, *arguments)

        def sold() -> list[int]:
            return [order for name in sellers for order in programs.printed(name)]

        for name in (*sellers, *workers):
            start(name)
        for share in range(1, 4):
            goal = ORDERS * share // 5
            wait_until(lambda goal=goal: len(sold()) >= goal, what=f"{goal} orders", seconds=60)
            for name in (random.choice(sellers), random.choice(workers)):
                programs.kill(name)
                start(name)
        for name in sellers:
            assert programs.running[name].wait(60) == 0
        events, orders = shell(LOOK, **environment)
        came = list(drained(receiver))
    paid = {order for order, status in orders if status == "paid"}
    assert [sequence for _, sequence, _, _ in events] == list(range(1, len(events) + 1))
    assert sorted(order for *_, topic, order in events if topic == "order.placed") == sorted(pk for pk, _ in orders)
    assert {order for *_, topic, order in events if topic == "order.paid"} == paid
    assert set(sold()) <= {pk for pk, _ in orders}
    told = {Webhook(secret).verify(each.body, each.headers)["id"] for each in came}
    assert told == {event for event, _, topic, _ in events if topic in ("order.placed", "order.paid")}

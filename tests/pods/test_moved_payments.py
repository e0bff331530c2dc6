"""Money that is on its way while a shop moves: the provider's news, and its answer to a capture."""

import json
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from tests.payments.bank import SECRET, Bank, bank_server
from tests.pods.deployments import POD
from tests.pods.moves import Pods
from tests.server.programs import STOREFRONT, clean_environment, wait_until

pytestmark = [
    pytest.mark.proof,
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]
# With the bank among the providers.
PRODUCT = {"DJANGO_SETTINGS_MODULE": "tests.payments.product", "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1"}
# A shopper is led to the bank.
PRESS = """
from storefront.kit import clock
from storefront.payments.accounts import save_settings
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.models import Shop
from tests.checkout.shopper import Shopper
shop = Shop.objects.get(pk={shop})
shop.payment_methods = ["bank", "manual"]
shop.save()
given = {{"api": "{bank}", "secret": "{secret}", "capture": "{capture}"}}
save_settings(shop=shop, provider=PROVIDERS["bank"], given=given, now=clock.now())
shopper = Shopper(shop)
shopper.post("/basket/add", {{"product": {mug}, "qty": "1"}})
assert shopper.order("bank").status_code == 303
"""
NEWS = """
import json
from django.test import Client
browser = Client(raise_request_exception=False, headers={{"host": "{domain}"}} | {headers})
told = browser.post("/payments/bank/news", {body}, content_type="application/json")
print(json.dumps([told.status_code, told.headers.get("Retry-After"), told.headers.get("X-Storefront-Pod")]))
"""
FULFIL = """
from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
order = Order.objects.select_related("shop").get(shop={shop})
fulfil_order(shop=order.shop, order=order, now=clock.now())
"""
# What the worker does this many minutes from now.
ASK = """
from datetime import timedelta
from storefront.kit import clock
from storefront.payments.jobs import ask_providers
ask_providers(now=clock.now() + timedelta(minutes={minutes}), limit=10)
"""
LOOK = """
import json
from storefront.orders.models import Order
from storefront.payments.models import Payment
orders = Order.objects.filter(shop={shop}).values_list("payment_status", flat=True)
payments = Payment.objects.filter(shop={shop}).values_list("state", "captured")
print(json.dumps([list(orders), [[state, str(captured)] for state, captured in payments]]))
"""


@pytest.fixture
def bank() -> Iterator[Bank]:
    with bank_server() as found:
        yield found


class Seller:
    """A shop whose shopper pays at the bank, and what is done for it in one of the pods."""

    def __init__(self, pods: Pods, shop: dict[str, Any], bank: Bank, capture: str) -> None:
        self.pods, self.shop, self.bank = pods, shop, bank
        self.run(0, PRESS, bank=bank.url, secret=SECRET, capture=capture)
        (self.account,) = bank.accounts.values()

    def script(self, script: str, **given: Any) -> str:
        return script.format(**self.shop | given)

    def run(self, number: int, script: str, **given: Any) -> str:
        return self.pods.shell(number, self.script(script, **given), **PRODUCT)

    def hear(self, number: int, event: str) -> list[Any]:
        """The status, Retry-After and pod with which this pod answers news of the bank."""
        body, headers = self.bank.news(self.account, event)
        return json.loads(self.run(number, NEWS, body=body, headers=headers))

    def look(self, number: int) -> list[Any]:
        return json.loads(self.run(number, LOOK))

    def move(self) -> None:
        self.pods.move_here(self.shop["domain"], POD, {})


class Interrupted(Exception):
    pass


def interrupt() -> None:
    raise Interrupted


def test_news_in_the_stop_are_told_again_and_heard_once_by_the_target(movable, shops, bank):
    shop, _ = shops
    seller = Seller(movable, shop, bank, "at_once")
    bank.pay(seller.account)
    with pytest.raises(Interrupted):
        movable.move_here(shop["domain"], POD, {"step stop": interrupt})
    movable.ask(0, "UPDATE pods_shopmove SET step = 'switching' WHERE shop_id = %s", [shop["shop"]])
    status, wait, _ = seller.hear(0, "evt_1")
    assert (status, bool(wait)) == (503, True)
    seller.move()
    assert seller.hear(0, "evt_1") == [421, None, str(POD)]
    assert [seller.hear(POD, "evt_1")[0] for _ in range(2)] == [200, 200]
    amount = str(seller.account.amount)
    assert seller.look(POD) == [["paid"], [["paid", amount]]]
    assert bank.held == seller.account.captured == seller.account.amount
    assert bank.calls.count("look") == 1


def test_a_capture_that_the_bank_answers_after_the_move_is_done_once_and_known_at_the_target(movable, shops, bank):
    shop, _ = shops
    seller = Seller(movable, shop, bank, "on_fulfilment")
    bank.pay(seller.account)
    assert seller.hear(0, "evt_1")[0] == 200
    assert seller.look(0) == [["pending"], [["authorised", "0.00"]]]
    seller.run(0, FULFIL)
    bank.gated = {"capture"}
    worker = subprocess.Popen(
        [STOREFRONT, "shell", "--no-imports", "-c", seller.script(ASK, minutes=2)],
        env=clean_environment(**movable.environments[0] | PRODUCT), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_until(lambda: bank.arrived.acquire(blocking=False), what="the capture", process=worker)
    seller.move()
    bank.gated = set()
    bank.gate.set()
    # It cannot write the answer down.
    assert worker.wait(60) == 1
    assert bank.held == seller.account.amount
    assert seller.look(POD)[0] == ["pending"]
    seller.run(POD, ASK, minutes=240)
    assert seller.look(POD) == [["paid"], [["paid", str(seller.account.amount)]]]
    assert bank.held == seller.account.amount > Decimal(0)

"""kill -9 of the whole `storefront serve` while a shopper presses pay: after a new start, one order is charged once.
`test_kills.py` goes through the steps of a payment."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from tests.databases import database
from tests.payments.bank import SECRET, Bank, bank_server
from tests.server.programs import free_port, is_listening, running, storefront, wait_until
from tests.stripe.client import FakeStripe
from tests.stripe.conftest import stripe_process  # noqa: F401 - a fixture
from tests.stripe.test_served import PAYS, Deployment

pytestmark = [pytest.mark.proof, pytest.mark.timeout(300)]

SET_UP = """
import os
from decimal import Decimal
from storefront.kit import clock
from storefront.payments.accounts import save_settings
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.stripe.selling import offer_stripe
shop = Shop.objects.get()
offer_stripe(shop)
given = {"api": os.environ["BANK"], "secret": os.environ["BANK_SECRET"], "capture": "at_once"}
save_settings(shop=shop, provider=PROVIDERS["bank"], given=given, now=clock.now())
shop.payment_methods = ["stripe", "bank"]
shop.save()
make_product(shop, "Mug", price=Decimal("9.50"), stock_qty=100)
"""


class Killable(Deployment):
    """A served shop that can be killed and started again, with the same data."""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def start(self) -> None:
        with ExitStack() as stack:
            served = running("serve", "--port", str(self.port), log=self.log, **self.environment)
            self.process = stack.enter_context(served)
            wait_until(lambda: is_listening(self.port), process=self.process, what="the server")
            self.stack = stack.pop_all()

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.stack.close()
        # A web process that has not ended yet still accepts connections, and resets them when it does.
        wait_until(lambda: not is_listening(self.port), what="the end of all its processes")

    def killed_while_pressing(self, method: str, is_asked: Callable[[], object]) -> requests.Session:
        """A shopper presses pay, and all processes are killed once the provider `is_asked`. Returns their browser."""
        browser = self.shopper()
        with ThreadPoolExecutor(1) as thread:
            press = thread.submit(self.press, method, browser)
            wait_until(is_asked, what="the question to the provider")
            self.kill()
            assert isinstance(press.exception(10), requests.ConnectionError)
        return browser


@pytest.fixture(scope="module")
def bank() -> Iterator[Bank]:
    with bank_server() as bank:
        yield bank


@pytest.fixture(scope="module")
def killable(migrated, tmp_path_factory, stripe_process, bank) -> Iterator[Killable]:  # noqa: F811 - the fixture
    directory = tmp_path_factory.mktemp("killed")
    stripe_process("reset")
    url = f"http://127.0.0.1:{free_port()}"
    with database(directory, copied_from=migrated) as environment:
        environment |= {"STOREFRONT_STRIPE_API": stripe_process.url, "STOREFRONT_STRIPE_SCRIPT": stripe_process.script}
        environment |= {"STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1", "PYTHONPATH": str(Path.cwd())}
        environment |= {"DJANGO_SETTINGS_MODULE": "tests.payments.product", "BANK": bank.url, "BANK_SECRET": SECRET}
        made = storefront("createshop", "--domain", "127.0.0.1", "--name", "S", "--base-url", url, **environment)
        assert made.returncode == 0, made.stderr
        made = storefront("shell", "--no-imports", "-c", SET_UP, **environment)
        assert made.returncode == 0, made.stderr
        deployment = Killable(environment, url, directory / "serve.log")
        deployment.start()
        yield deployment
        deployment.kill()


def test_killed_while_the_bank_is_asked(killable, bank):
    bank.gated = {"start"}
    browser = killable.killed_while_pressing("bank", lambda: bank.arrived.acquire(blocking=False))
    # The bank carries the call out, and nobody hears its answer.
    bank.gated = set()
    bank.gate.set()
    wait_until(lambda: bank.accounts, what="the payment at the bank")
    killable.start()

    led_to, account = killable.press("bank", browser).url, one(bank.accounts.values())
    assert led_to == f"{bank.url}/pay/{account.id}"
    bank.pay(account)
    assert "/orders/" in browser.get(account.return_url).url
    assert killable.orders() == "['paid'] 1"
    assert bank.held == one(bank.accounts.values()).captured == account.amount


def test_killed_while_stripe_is_asked(killable, stripe_process):  # noqa: F811 - the fixture
    fake: FakeStripe = stripe_process
    orders = killable.orders().count("paid")
    fake.fail("POST /v1/payment_intents$", "silent_after")
    browser = killable.killed_while_pressing("stripe", lambda: fake.objects("payment_intent"))
    killable.start()

    step = killable.press("stripe", browser).url
    fake("confirm", intent=one(fake.objects("payment_intent"))["id"], number=PAYS)
    assert "/orders/" in browser.get(f"{step}/return").url
    assert killable.orders().count("paid") == orders + 1
    assert one(fake.objects("charge"))["amount_captured"] == one(fake.objects("payment_intent"))["amount"]


def one(found):
    (found,) = found
    return found

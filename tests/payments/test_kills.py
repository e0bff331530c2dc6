"""kill -9 of the web and of the worker at every step of a payment, on a database outside the tests. docs/payments.md
lists the steps."""

import json
import subprocess
import sys
from decimal import Decimal
from signal import SIGKILL

import pytest

from tests.databases import database
from tests.payments.bank import bank_server
from tests.server.programs import clean_environment

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

PRICE = Decimal("9.50")


class Deployment:
    def __init__(self, bank, directory, parent) -> None:
        self.bank, self.parent = bank, parent
        self.given = {"BANK": bank.url, "SHOPPER_FILE": str(directory / "shopper")}
        self.run("prepare")

    def run(self, what: str, kill_at: str = "") -> str:
        self.parent.stdin.write(json.dumps(self.given | {"WHAT": what, "KILL_AT": kill_at}) + "\n")
        self.parent.stdin.flush()
        code, printed = json.loads(self.parent.stdout.readline())
        assert code == (-SIGKILL if kill_at else 0), printed
        return printed.splitlines()[-1] if printed else ""

    @property
    def account(self):
        return next(iter(self.bank.accounts.values()), None)


@pytest.fixture(scope="module")
def parent(migrated, tmp_path_factory):
    """The process that all others are forked from, on a database of this module's own."""
    own = {"DJANGO_SETTINGS_MODULE": "tests.payments.product", "STOREFRONT_ALLOW_PRIVATE_CALLBACKS": "1"}
    with database(tmp_path_factory.mktemp("kills"), copied_from=migrated) as variables:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.payments.process"],
            env=clean_environment(**variables, **own),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            yield process
            process.stdin.close()
            process.wait(10)


@pytest.fixture
def deployment(tmp_path, parent):
    with bank_server() as bank:
        yield Deployment(bank, tmp_path, parent)


def ends_right(deployment: Deployment) -> str:
    """The worker goes on; afterwards the payment is paid with one order, or not taken, and stock is right."""
    orders, states, drafts, logged, stock, pending = deployment.run("finish").split()
    assert (Decimal(logged), pending) == (deployment.bank.held, "0")
    if deployment.bank.held:
        assert (orders, states, drafts, stock) == ("paid", "paid", "placed", "9")
        assert deployment.bank.held == PRICE
        return "order"
    assert (orders, states, drafts, stock) in (("-", "cancelled", "ended", "10"), ("-", "-", "-", "10"))
    return "not taken"


@pytest.mark.parametrize("pays", [True, False])
@pytest.mark.parametrize(
    "step", ["in freeze", "after freeze", "before start", "after start", "in settle", "after settle"]
)
def test_web_killed_while_the_shopper_presses_pay(deployment, step, pays):
    deployment.run("press", step)
    if pays and deployment.account:
        deployment.bank.pay(deployment.account)
    assert ends_right(deployment) == ("order" if pays and deployment.account else "not taken")


@pytest.mark.parametrize("who", ["come_back", "work"])
@pytest.mark.parametrize("step", ["before look", "after look", "in settle", "in place", "after settle"])
def test_killed_while_it_learns_that_the_shopper_has_paid(deployment, who, step):
    deployment.run("press")
    deployment.bank.pay(deployment.account)
    deployment.run(who, step)
    assert ends_right(deployment) == "order"


@pytest.mark.parametrize("who", ["come_back", "work"])
@pytest.mark.parametrize("step", ["before capture", "after capture"])
def test_killed_while_it_takes_money_that_is_held(deployment, who, step):
    deployment.run("press")
    deployment.account.is_held = True
    deployment.bank.pay(deployment.account)
    deployment.run(who, step)
    assert ends_right(deployment) == "order"


@pytest.mark.parametrize("step", ["before cancel", "after cancel"])
def test_worker_killed_while_it_ends_what_was_not_paid(deployment, step):
    deployment.run("press")
    deployment.run("work", step)
    assert ends_right(deployment) == "not taken"


@pytest.mark.parametrize("step", ["before refund", "after refund", "in record", "after record"])
def test_worker_killed_while_it_gives_money_back(deployment, step):
    deployment.run("press")
    deployment.bank.pay(deployment.account)
    deployment.run("come_back")
    deployment.run("refund")
    deployment.run("work", step)
    orders, states, _, logged, _, pending = deployment.run("finish").split()
    assert (orders, states, logged, pending) == ("refunded", "paid", "0.00", "0")
    assert deployment.account.refunded == PRICE

"""Processes of the web and of the worker that can be killed at a step, forked from this one, which has loaded Django:
`python -m tests.payments.process`. Each line of its input is a JSON object of variables: WHAT the process does, and the
step in KILL_AT. It answers with the process's exit code and what it printed.

The steps: before and after a call to the bank; in a transaction that settles or freezes, before its commit; and right
after it. The shopper's cookies and form stay in a file between processes.
"""

import json
import os
import pickle
import signal
import sys
import tempfile
import traceback
from datetime import timedelta
from pathlib import Path

import django


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def kill_at(step: str) -> None:
    """Have this process killed at its first `<before|after> <call>`, `in <function>` or `after <function>`."""
    from storefront.checkout import actions as checkout
    from storefront.payments import asking, drafts, refunds, settling
    from tests.payments.provider import BankRedirect

    when, name = step.split()
    functions = {
        "settle": [(asking, "settle")] if when == "after" else [(settling, "apply_report")],
        "freeze": [(checkout, "freeze")] if when == "after" else [(drafts, "_create_payment")],
        "place": [(settling.orders, "announce_order")],
        "record": [(refunds, "record_refund")] if when == "after" else [(refunds, "apply_report")],
    }
    if name in functions:
        for module, attribute in functions[name]:
            setattr(module, attribute, _then_die(getattr(module, attribute)))
        return
    send = BankRedirect.send

    def dying(self, settings, call, body):
        if call == name and when == "before":
            die()
        told = send(self, settings, call, body)
        if call == name:
            die()
        return told

    BankRedirect.send = dying  # type: ignore[method-assign]


def _then_die(function):
    def dying(*given, **named):
        function(*given, **named)
        die()

    return dying


def prepare(file: Path) -> None:
    """A shop with a bank, and a shopper who is about to press pay."""
    from storefront.payments.accounts import save_settings
    from storefront.payments.providers.registry import PROVIDERS
    from tests.catalogue.factories import make_product
    from tests.checkout.shopper import Shopper
    from tests.emptying import empty_the_database
    from tests.payments.bank import SECRET
    from tests.shops.factories import NOW, make_shop

    empty_the_database()
    shop = make_shop(payment_methods=("bank", "manual"))
    given = {"api": os.environ["BANK"], "secret": SECRET, "capture": "at_once"}
    save_settings(shop=shop, provider=PROVIDERS["bank"], given=given, now=NOW)
    shopper = Shopper(shop)
    mug = make_product(shop, "Mug", stock_qty=10)
    shopper.post("/basket/add", {"product": mug.pk, "qty": "1"})
    shopper.fill_details()
    file.write_bytes(pickle.dumps((shopper.browser.cookies, shopper.payment_fields("bank"))))


def as_shopper(file: Path):
    from storefront.shops.models import Shop
    from tests.checkout.shopper import Shopper

    shopper = Shopper(Shop.objects.get())
    shopper.browser.cookies, form = pickle.loads(file.read_bytes())
    return shopper, form


def press(file: Path) -> None:
    shopper, form = as_shopper(file)
    assert shopper.post("/checkout/payment", form).status_code == 303


def come_back(file: Path) -> None:
    from tests.payments.conftest import return_path

    shopper, _ = as_shopper(file)
    shopper.get(return_path())


def work(file: Path) -> None:
    """What the worker does in the hours to come."""
    from django.utils import timezone

    from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds

    for minutes in (2, 40, 120, 240):
        now = timezone.now() + timedelta(minutes=minutes)
        for sweep in (ask_providers, end_expired_drafts, ask_providers, pay_back_refunds):
            sweep(now=now, limit=10)


def finish(file: Path) -> None:
    work(file)
    report(file)


def refund(file: Path) -> None:
    from django.utils import timezone

    from storefront.orders.models import Order
    from storefront.payments.refunds import request_refund

    order = Order.objects.get()
    request_refund(shop=order.shop, order=order, now=timezone.now())


def report(file: Path) -> None:
    """Print how it stands: orders, their status, the payment's state, the log's sum, stock, pending refunds."""
    from storefront.catalogue.models import Product
    from storefront.orders.models import Order
    from storefront.payments.models import OrderDraft, Payment, PaymentEntry, Refund

    orders = ",".join(Order.objects.values_list("payment_status", flat=True)) or "-"
    states = ",".join(Payment.objects.values_list("state", flat=True)) or "-"
    drafts = ",".join(OrderDraft.objects.values_list("state", flat=True)) or "-"
    logged = sum(PaymentEntry.objects.values_list("amount", flat=True))
    pending = Refund.objects.filter(status="pending").count()
    told = (orders, states, drafts, f"{logged:.2f}", Product.objects.get().stock_qty, pending)
    sys.stdout.write(" ".join(map(str, told)) + "\n")


def run(given: dict[str, str]) -> None:
    os.environ.update(given)
    if given["KILL_AT"]:
        kill_at(given["KILL_AT"])
    globals()[given["WHAT"]](Path(given["SHOPPER_FILE"]))


def fork(given: dict[str, str]) -> tuple[int, str]:
    """The exit code of a process that does this, and what it printed."""
    with tempfile.TemporaryFile("w+") as printed:
        pid = os.fork()
        if pid == 0:
            for stream in (1, 2):
                os.dup2(printed.fileno(), stream)
            code = 1
            try:
                run(given)
                code = 0
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(code)
        _, status = os.waitpid(pid, 0)
        printed.seek(0)
        return os.waitstatus_to_exitcode(status), printed.read()


if __name__ == "__main__":
    django.setup()
    # Loaded once, for all processes.
    import storefront.server.urls  # noqa: F401
    import tests.checkout.shopper  # noqa: F401

    for line in sys.stdin:
        sys.stdout.write(json.dumps(fork(json.loads(line))) + "\n")
        sys.stdout.flush()

"""Whatever happens to a payment, in whatever order, and whatever answers and news are lost, late or repeated: it ends
right, and the log adds up to what the bank holds."""

from collections import Counter
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django_tasks_db.models import DBTaskResult
from hypothesis import given
from hypothesis import strategies as st

from storefront.carts.models import Cart
from storefront.catalogue.models import Product
from storefront.documents.jobs import issue_due_documents
from storefront.documents.models import Document
from storefront.orders.models import Order
from storefront.payments.accounts import charge_of, save_settings
from storefront.payments.asking import _call, ask, begin, due_call
from storefront.payments.drafts import Press, freeze_order
from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, PaymentEntry, Refund
from storefront.payments.news import note_news
from storefront.payments.providers.base import (
    News,
    ProviderRefused,
    ProviderUnavailable,
    RefundDeclined,
    RefundReport,
    RefundStanding,
)
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.refunds import NothingPaid, RefundTooLarge, claim_refund, record_refund, request_refund
from storefront.payments.rules import Call
from storefront.payments.settling import settle
from storefront.shops.models import Shop
from storefront.webhooks.models import Event
from tests.catalogue.factories import make_product
from tests.documents.factories import make_settings
from tests.orders.factories import sale, sale_line
from tests.payments.bank import Bank
from tests.payments.provider import BankRedirect
from tests.shops.factories import NOW, make_shop

pytestmark = pytest.mark.django_db

# What a refund is to be of: all that is left, or this.
AMOUNTS = st.sampled_from([None, None, Decimal("1.00"), Decimal("2.50"), Decimal("2.50")])
LOSSES = st.sampled_from(["none", "none", "silent", "deaf"])
STEPS = st.one_of(
    # The shopper, at the bank.
    st.tuples(st.just("pay"), st.sampled_from(["pay", "pay", "decline", "later"])),
    # A call that is made now, and answered now, never, or later.
    st.tuples(st.just("call"), st.sampled_from(list(Call)), LOSSES),
    st.tuples(st.just("slow call"), st.sampled_from(list(Call))),
    st.tuples(st.just("answers"), st.randoms(use_true_random=False)),
    st.tuples(st.just("start again"), LOSSES),
    st.tuples(st.just("news"), st.integers(0, 2), LOSSES),
    st.tuples(st.just("time"), st.sampled_from([30, 90, 900, 2000, 8000])),
    st.tuples(st.just("worker"), LOSSES),
    st.tuples(st.just("sold elsewhere"), st.just(None)),
    # Refunds: asked for here, made at the bank, that take days, that fail, of which each is heard early or late.
    st.tuples(st.just("refund here"), AMOUNTS),
    st.tuples(st.just("refund elsewhere"), AMOUNTS, st.booleans()),
    st.tuples(st.just("slow refund"), st.none()),
    st.tuples(st.just("bank takes days"), st.booleans()),
    st.tuples(st.just("refund arrives"), st.integers(0, 3)),
    st.tuples(st.just("refund fails"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("documents"), st.none()),
)


class LossyBank(BankRedirect):
    """The bank without a network: `loss` says what becomes of each call. If it `holds`, money is taken by a capture."""

    def __init__(self, bank: Bank, *, holds: bool) -> None:
        self.bank, self.loss, self.holds = bank, "none", holds

    def send(self, settings, call, body):
        body |= {"is_held": self.holds} if call == "start" else {}
        if self.loss == "silent":
            raise ProviderUnavailable
        try:
            told = self.bank.handle(call, body)
        except (KeyError, ValueError):
            raise ProviderRefused("no") from None
        if self.loss == "deaf":
            raise ProviderUnavailable
        return told


class World:
    """A shop with two mugs, and one press of pay for one of them."""

    def __init__(self, shop: Shop, *, holds: bool) -> None:
        self.shop, self.now, self.bank = shop, NOW, Bank()
        make_settings(shop)
        self.provider = PROVIDERS["bank"] = LossyBank(self.bank, holds=holds)
        given = {"api": "-", "secret": "s", "capture": "at_once"}
        save_settings(shop=shop, provider=self.provider, given=given, now=NOW)
        self.mug = make_product(shop, "Mug", stock_qty=2)
        cart = Cart.objects.create(shop=shop, created_at=NOW, updated_at=NOW, expires_at=NOW + timedelta(days=7))
        basket = {"pieces": {}, "arrivals": []}
        press = Press(cart=cart, owner=None, digest="d", sale=sale(sale_line(self.mug)), basket=basket)
        self.draft = freeze_order(shop=shop, press=press, provider=self.provider, now=NOW)
        self.sold, self.late, self.late_refunds = 0, [], []

    @property
    def payment(self) -> Payment:
        return Payment.objects.select_related("draft", "order").get()

    @property
    def account(self):
        return next(iter(self.bank.accounts.values()), None)

    def start(self, loss: str) -> None:
        self.provider.loss = loss
        begin(shop=self.shop, payment=self.payment, given={}, now=self.now)
        self.provider.loss = "none"

    def do(self, what: str, *how) -> None:
        getattr(self, f"_{what.replace(' ', '_')}")(*how)
        self.check()

    def check(self) -> None:
        """What holds at every moment."""
        payment = self.payment
        logged = sum(PaymentEntry.objects.values_list("amount", flat=True))
        assert logged == payment.captured - payment.returned
        assert payment.returned <= payment.refunded <= payment.captured <= payment.amount
        assert payment.captured <= (self.account.captured if self.account else 0)
        if OrderDraft.objects.get().order_id:
            assert payment.state in ("authorised", "paid", "cancelled")
        refunds_agree(self, payment)

    def finish(self) -> None:
        """Everything answers again, and time passes."""
        self._answers(None)
        self.bank.is_slow = False
        if self.account:
            self.account.pending.clear()
        for _ in range(8):
            self._time(4000)
            self._worker("none")
        # What was refunded without news is seen by a look at what is paid.
        for _ in range(2):
            self._time(86_400)
            self._worker("none")
        self._documents(None)
        self.check()

    def _pay(self, outcome: str) -> None:
        if self.account:
            self.bank.pay(self.account, outcome)

    def _call(self, call: Call, loss: str) -> None:
        payment = self.payment
        if self._is_sensible(payment, call):
            self.provider.loss = loss
            ask(shop=self.shop, payment=payment, call=call, now=self.now)
            self.provider.loss = "none"

    def _slow_call(self, call: Call) -> None:
        payment = self.payment
        if self._is_sensible(payment, call):
            with suppress(ProviderUnavailable, ProviderRefused):
                self.late.append((payment, _call(self.provider, call, charge_of(self.shop, payment))))

    def _answers(self, order) -> None:
        """The answers that are on their way arrive, in any order."""
        if order:
            order.shuffle(self.late)
        for payment, report in self.late:
            settle(shop=self.shop, payment=payment, report=report, source="call", seen=payment.version, now=self.now)
        for refund, told in self.late_refunds:
            record_refund(shop=self.shop, refund=refund, reported=told, now=self.now)
        self.late, self.late_refunds = [], []

    def _start_again(self, loss: str) -> None:
        if self.payment.state == "started":
            self.start(loss)

    def _news(self, number: int, loss: str) -> None:
        if self.account:
            news = News(f"evt_{number}", self.account.id, "changed")
            if note_news(shop=self.shop, payment=self.payment, news=news, now=self.now):
                self.provider.loss = loss
                ask(shop=self.shop, payment=self.payment, source="news", now=self.now)
                self.provider.loss = "none"

    def _time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    def _worker(self, loss: str) -> None:
        self.provider.loss = loss
        for sweep in (ask_providers, end_expired_drafts, ask_providers, pay_back_refunds):
            sweep(now=self.now, limit=10)
        self.provider.loss = "none"

    def _sold_elsewhere(self, _) -> None:
        self.sold += Product.objects.filter(pk=self.mug.pk, stock_qty__gte=1).update(stock_qty=0) and self._left()

    def _left(self) -> int:
        return 2 - self.sold - (1 if OrderDraft.objects.get().state != "ended" else 0)

    def _refund_here(self, amount: Decimal | None) -> None:
        order = Order.objects.first()
        with suppress(NothingPaid, RefundTooLarge):
            if order:
                request_refund(shop=self.shop, order=order, amount=amount, now=self.now)

    def _refund_elsewhere(self, amount: Decimal | None, is_news: bool) -> None:
        left = self.account.left if self.account else 0
        if left and self.payment.order_id:
            name = f"elsewhere {len(self.account.refunds)}"
            self.account.refunds[name] = min(amount or left, left)
            self._tell(f"evt_{name}", is_news)

    def _slow_refund(self, _) -> None:
        """The bank carries out a refund, and its answer comes later."""
        refund = Refund.objects.filter(status="pending", reference="", due_at__lte=self.now).first()
        if refund and claim_refund(shop=self.shop, refund=refund, now=self.now):
            charge = charge_of(self.shop, self.payment)
            told = RefundReport(refund.amount, standing=RefundStanding.FAILED, why="Not enough left.")
            with suppress(RefundDeclined):
                told = self.provider.refund(charge, key=refund.key, amount=refund.amount)
            self.late_refunds.append((refund, told))

    def _bank_takes_days(self, is_slow: bool) -> None:
        self.bank.is_slow = is_slow

    def _refund_arrives(self, number: int) -> None:
        if self.account and number < len(self.account.pending):
            self.account.pending.remove(sorted(self.account.pending)[number])

    def _refund_fails(self, number: int, is_news: bool) -> None:
        """What the bank gave back comes back to it. Without news, the worker's looks at paid payments see it."""
        names = list(self.account.refunds) if self.account else []
        if number < len(names) and self.payment.order_id:
            self.account.pending.discard(names[number])
            self.account.failed.add(names[number])
            self._tell(f"evt_failed_{number}", is_news)

    def _tell(self, event: str, is_news: bool) -> None:
        """The bank sends its news until they are accepted."""
        if is_news:
            note_news(shop=self.shop, payment=self.payment, news=News(event, "", "refund"), now=self.now)

    def _documents(self, _) -> None:
        issue_due_documents(now=self.now, limit=10)

    def _is_sensible(self, payment: Payment, call: Call) -> bool:
        """Captures and cancels are made only where the rules ask for them; a look may always be."""
        return call == Call.LOOK or due_call(payment, self.now) == call


@given(holds=st.booleans(), first=LOSSES, steps=st.lists(STEPS, max_size=14))
def test_every_payment_ends_right(holds, first, steps):
    walk([("start", first), *steps], holds=holds)


@given(steps=st.lists(STEPS, max_size=20))
def test_every_refund_ends_right(steps):
    """The same, from a paid order on."""
    paid = [("start", "none"), ("pay", "pay"), ("time", 90), ("worker", "none")]
    walk([*paid, *steps])


def walk(steps, *, holds=False) -> None:
    with transaction.atomic():
        world = World(make_shop(), holds=holds)
        (_, loss), *steps = steps
        world.start(loss)
        for step in steps:
            world.do(*step)
        world.finish()
        ends_right(world)
        transaction.set_rollback(True)


def refunds_agree(world: World, payment: Payment) -> None:
    """The rows of refunds explain all that follows from them, at every moment."""
    rows = list(Refund.objects.order_by("pk"))
    done = [row for row in rows if row.status == "done"]
    assert payment.returned == sum(row.amount for row in done)
    assert payment.refunded == min(sum(row.amount for row in rows if row.status != "failed"), payment.amount)
    order = Order.objects.first()
    assert (order.refunded if order else 0) == (sum(row.amount for row in done) if order else 0)
    # Each that was ever carried out is one entry, one event and one mail, with its amount.
    went = sorted(-entry.amount for entry in PaymentEntry.objects.filter(kind="returned", amount__lt=0))
    events = Event.objects.filter(topic="order.refunded").order_by("pk")
    if order:
        ever = Counter(row.amount for row in done) + Counter(
            entry.amount for entry in PaymentEntry.objects.filter(kind="returned", amount__gt=0)
        )
        assert Counter(went) == ever
        assert sorted(Decimal(each) for each in mailed_amounts()) == went
        assert len(events) == len(went)
    for event in events:
        told = sum(Decimal(each["amount"]) for each in event.data["refunds"] if each["status"] == "done")
        assert Decimal(event.data["refunded"]) == told
    # A credit note is over one refund, which the bank has named and carried out.
    notes = list(Document.objects.filter(kind="credit_note").select_related("refund"))
    assert len({note.refund_id for note in notes}) == len(notes)
    for note in notes:
        assert note.amount <= note.refund.amount
        assert note.refund.status != "pending"
        assert note.refund.reference
    if world.account:
        names = {f"re_{key}": amount for key, amount in world.account.refunds.items()}
        told = {row.reference: row.amount for row in rows if row.reference}
        assert told.items() <= names.items()


def mailed_amounts() -> list[str]:
    given = [task.args_kwargs["args"] for task in DBTaskResult.objects.all()]
    return [each[3] for each in given if "refunded" in each]


def ends_right(world: World) -> None:
    payment, draft, account = world.payment, OrderDraft.objects.get(), world.account
    order = Order.objects.first()
    world.mug.refresh_from_db()
    assert Order.objects.count() <= 1
    assert draft.state in ("placed", "ended") or (account and account.state == "processing")
    # What is logged is what the bank holds, and that is an order's total without what was refunded, or nothing.
    assert sum(PaymentEntry.objects.values_list("amount", flat=True)) == world.bank.held
    if order:
        assert world.bank.held == order.total - order.refunded
        part = "partially_refunded" if order.refunded else "paid"
        assert order.payment_status == ("refunded" if order.refunded == order.total else part)
        credited = sum(Document.objects.filter(kind="credit_note").values_list("amount", flat=True))
        failed = PaymentEntry.objects.filter(kind="returned", amount__gt=0)
        assert 0 <= credited - order.refunded <= sum(failed.values_list("amount", flat=True))
    else:
        assert world.bank.held == 0
    if account:
        # Each refund at the bank is one row, and as the bank has it.
        standing = {f"re_{key}": "failed" if key in account.failed else "done" for key in account.refunds}
        assert dict(Refund.objects.exclude(reference="").values_list("reference", "status")) == standing
    if payment.state == "paid":
        assert order or payment.returned == payment.captured
    # Stock: neither lost nor given back twice.
    holds = 1 if draft.state in ("open", "placed") else 0
    assert world.mug.stock_qty == 2 - holds - world.sold


@pytest.mark.disagrees
def test_the_walk_would_see_a_lost_order(shop):
    """The walk itself: it ends right, and it would not if the money were forgotten."""
    world = World(shop, holds=False)
    world.start("none")
    world.do("pay", "pay")
    world.finish()
    ends_right(world)
    Payment.objects.update(captured=0)
    PaymentEntry.objects.filter(kind="captured").delete()
    with pytest.raises(AssertionError):
        ends_right(world)

"""Whatever happens to a payment, in whatever order, and whatever answers and news are lost, late or repeated: it ends
right, and the log adds up to what the bank holds."""

from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storefront.carts.models import Cart
from storefront.catalogue.models import Product
from storefront.orders.models import Order
from storefront.payments.accounts import charge_of, save_settings
from storefront.payments.asking import _call, ask, begin, due_call
from storefront.payments.drafts import Press, freeze_order
from storefront.payments.jobs import ask_providers, end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, PaymentEntry
from storefront.payments.news import note_news
from storefront.payments.providers.base import News, ProviderRefused, ProviderUnavailable
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.rules import Call
from storefront.payments.settling import settle
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.orders.factories import sale, sale_line
from tests.payments.bank import Bank
from tests.payments.provider import BankRedirect
from tests.shops.factories import NOW, make_shop

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

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
    st.tuples(st.just("refund elsewhere"), st.just(None)),
    st.tuples(st.just("refund fails"), st.booleans()),
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
        self.provider = PROVIDERS["bank"] = LossyBank(self.bank, holds=holds)
        given = {"api": "-", "secret": "s", "capture": "at_once"}
        save_settings(shop=shop, provider=self.provider, given=given, now=NOW)
        self.mug = make_product(shop, "Mug", stock_qty=2)
        cart = Cart.objects.create(shop=shop, created_at=NOW, updated_at=NOW, expires_at=NOW + timedelta(days=7))
        basket = {"pieces": {}, "arrivals": []}
        press = Press(cart=cart, owner=None, digest="d", sale=sale(sale_line(self.mug)), basket=basket)
        self.draft = freeze_order(shop=shop, press=press, provider=self.provider, now=NOW)
        self.sold, self.late = 0, []

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

    def finish(self) -> None:
        """Everything answers again, and time passes."""
        self._answers(None)
        for _ in range(8):
            self._time(4000)
            self._worker("none")
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
        self.late = []

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

    def _refund_elsewhere(self, _) -> None:
        if self.account and self.account.captured > self.account.refunded and self.payment.order_id:
            self.account.refunds.setdefault("elsewhere", self.account.captured - self.account.refunded)
            # The bank sends its news until they are accepted.
            note_news(shop=self.shop, payment=self.payment, news=News("evt_refund", "", "refunded"), now=self.now)

    def _refund_fails(self, is_news: bool) -> None:
        """What the bank gave back comes back to it. Without news, the worker's looks at paid payments see it."""
        if self.account and self.account.refunds and self.payment.order_id:
            self.account.failed.update(self.account.refunds)
            if is_news:
                note_news(shop=self.shop, payment=self.payment, news=News("evt_failed", "", "failed"), now=self.now)

    def _is_sensible(self, payment: Payment, call: Call) -> bool:
        """Captures and cancels are made only where the rules ask for them; a look may always be."""
        return call == Call.LOOK or due_call(payment, self.now) == call


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(holds=st.booleans(), first=LOSSES, steps=st.lists(STEPS, max_size=14))
def test_every_payment_ends_right(holds, first, steps):
    with transaction.atomic():
        world = World(make_shop(), holds=holds)
        world.start(first)
        for step in steps:
            world.do(*step)
        world.finish()
        ends_right(world)
        transaction.set_rollback(True)


def ends_right(world: World) -> None:
    payment, draft, account = world.payment, OrderDraft.objects.get(), world.account
    order = Order.objects.first()
    world.mug.refresh_from_db()
    assert Order.objects.count() <= 1
    assert draft.state in ("placed", "ended") or (account and account.state == "processing")
    # What is logged is what the bank holds, and that is an order's total, or nothing.
    assert sum(PaymentEntry.objects.values_list("amount", flat=True)) == world.bank.held
    if order and not order.refunded:
        assert world.bank.held == order.total
        assert order.payment_status == "paid"
    else:
        assert world.bank.held == 0
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

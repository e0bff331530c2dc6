"""The worker's sweeps while a shop moves, also while its move stands still since it was killed: its rows wait, and
other shops' rows behind them do not."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from storefront.carts.models import Cart
from storefront.documents.jobs import issue_due_documents
from storefront.documents.models import Document
from storefront.gift_cards.models import GiftCard
from storefront.kit import clock
from storefront.payments.frozen import freeze_sale
from storefront.payments.jobs import end_expired_drafts, pay_back_refunds
from storefront.payments.models import OrderDraft, Payment, Refund
from storefront.payments.refunds import request_refund
from storefront.pods.models import ShopMove
from storefront.server.worker.sweeps import SWEEPS
from tests.documents.factories import make_settings, paid_order
from tests.gift_cards.factories import make_card
from tests.orders.factories import sale
from tests.shops.factories import NOW

DAY = timedelta(days=1)
Step = ShopMove.Step
# Sweeps of what belongs to the deployment, and those that ask only once they have found a row, or on PostgreSQL alone.
OTHERS = {
    "beat of the registry",
    "partitions ahead",
    "sessions",
    "sessions of staff",
    "lost tasks",
    "task results",
    "tasks of interrupted moves",
    "cleaned texts",
    "old changes",
    "old deliveries",
    "old events",
    "old audit entries",
    "frequent words to count",
}


def move(shop, step=Step.SWITCHING):
    given = {"domain": shop.domain, "source": 0, "target": 5, "step": step, "step_at": NOW}
    ShopMove.objects.update_or_create(shop_id=shop.pk, defaults=given)


def make_draft(shop):
    given = {"digest": "d", "email": "a@example.com", "basket": {}, "total": 1, "currency": "EUR", "created_at": NOW}
    return OrderDraft.objects.create(shop=shop, sale=freeze_sale(sale()), expires_at=NOW, **given)


@pytest.mark.parametrize("step", [Step.DRAINING, Step.SWITCHING, Step.MOVED, Step.ARRIVING])
def test_rows_of_a_moving_shop_wait_and_others_do_not(shop, other_shop, step):
    for each in (shop, other_shop):
        make_settings(each)
        order = paid_order(each)
        Payment.objects.filter(order=order).update(gateway="gone")
        request_refund(shop=each, order=order, now=NOW)
        make_draft(each)
    move(shop, step)
    for batch in (issue_due_documents, pay_back_refunds, end_expired_drafts):
        # One row at a time: those of the shop are due first.
        assert batch(now=NOW + DAY, limit=1) == 1
        assert batch(now=NOW + DAY, limit=1) == 0
    for rows in (
        Document.objects.all(),
        Refund.objects.exclude(status=Refund.Status.PENDING),
        OrderDraft.objects.exclude(state=OrderDraft.State.OPEN),
    ):
        assert set(rows.values_list("shop", flat=True)) == {other_shop.pk}
    move(shop, Step.COPYING)
    for batch in (issue_due_documents, pay_back_refunds, end_expired_drafts):
        assert batch(now=NOW + DAY, limit=1) == 1


def test_gift_cards_and_carts_of_a_moving_shop_wait(shop, other_shop):
    now = clock.now()
    for each in (shop, other_shop):
        card, _ = make_card(each)
        GiftCard.objects.filter(pk=card.pk).update(email="a@example.com", send_at=now)
        Cart.objects.create(shop=each, token_digest=f"d{each.pk}", created_at=now, updated_at=now, expires_at=now)
    move(shop)
    for sweep in SWEEPS:
        if sweep.name in ("gift cards to send", "expired carts"):
            assert sweep.batch(now=now + DAY, limit=1) == 1, sweep.name
            assert sweep.batch(now=now + DAY, limit=1) == 0, sweep.name
    assert list(GiftCard.objects.exclude(send_at=None).values_list("shop", flat=True)) == [shop.pk]
    assert list(Cart.objects.values_list("shop", flat=True)) == [shop.pk]


@pytest.mark.parametrize("sweep", [each for each in SWEEPS if each.name not in OTHERS], ids=lambda each: each.name)
def test_no_sweep_forgets_that_shops_move(db, settings, sweep):
    settings.POD = 1
    with CaptureQueriesContext(connection) as queries:
        sweep.batch(now=NOW, limit=5)
    assert any("pods_shopmove" in each["sql"] for each in queries), [each["sql"] for each in queries]

"""What the worker and the pages do while the database refuses writes of one shop: other shops go on, and nothing of
this one is lost."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.models import StoredFile
from storefront.content.jobs import send_message
from storefront.kit import clock
from storefront.orders.file_sweeps import KEPT_UNUSED, delete_unused_files
from storefront.pods.deployment import Pod
from storefront.pods.models import ShopMove
from storefront.server.moving import gate
from storefront.server.moving.sides import Side, connect
from storefront.server.worker.moves import HELD
from storefront.shops import quotas
from storefront.webhooks import jobs
from storefront.webhooks.claiming import claim
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.jobs import ATTEMPTS, DELIVERIES
from storefront.webhooks.models import Attempt, Delivery, Event
from tests.kit.test_time_partitions import url
from tests.orders.files import stored
from tests.partitions import made_since, run
from tests.shops.factories import NOW
from tests.webhooks.factories import emit, listener, register

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="pods are PostgreSQL databases"),
    pytest.mark.django_db(transaction=True),
]
Step = ShopMove.Step
HOOK = "https://app.example.com/hook"
DAY = timedelta(days=1)


@pytest.fixture
def reach(shop) -> Iterator[Callable[[str], None]]:
    """Lets the move of the shop reach a step, with the triggers that a move creates."""
    side = Side(Pod(0, (), url()), connect(Pod(0, (), url())))

    def reached(step: str) -> None:
        given = {"domain": shop.domain, "source": 0, "target": 5, "step": step, "step_at": clock.now()}
        ShopMove.objects.update_or_create(shop_id=shop.pk, defaults=given)
        gate.close(side, shop.pk)

    yield reached
    gate.open(side, shop.pk)
    side.connection.close()


@pytest.mark.parametrize("step", [Step.DRAINING, Step.SWITCHING, Step.MOVED])
def test_events_of_others_are_dispatched_and_those_of_the_shop_wait(shop, other_shop, reach, step):
    for each in (shop, other_shop):
        emit(each)
    reach(step)
    assert dispatch(clock.now()) == 1
    assert dict(Event.objects.values_list("shop", "sequence")) == {shop.pk: None, other_shop.pk: 1}
    reach(Step.COPYING)
    assert dispatch(clock.now()) == 1


@pytest.mark.parametrize("step", [Step.DRAINING, Step.SWITCHING])
def test_webhooks_of_others_are_sent_and_those_of_the_shop_wait(shop, other_shop, reach, step):
    for each in (shop, other_shop):
        register(listener(each), HOOK)
        emit(each)
    dispatch(clock.now())
    slots = dict.fromkeys(Delivery.objects.values_list("receiver", flat=True), 9)
    reach(step)
    claimed = claim(slots, lease="one", now=clock.now())
    assert [message.shop_id for message in claimed] == [other_shop.pk]
    reach(Step.COPYING)
    claimed = claim(slots, lease="two", now=clock.now())
    assert [message.shop_id for message in claimed] == [shop.pk]


def queue(shop) -> Any:
    return send_message.enqueue(shop.pk, "Ann", "ann@example.com", "Hello?")


def test_who_queues_a_task_holds_up_the_stop(shop, reach):
    reach(Step.DRAINING)
    mine = f"SELECT pg_try_advisory_lock({gate.WRITERS + shop.pk})"
    with psycopg.connect(url()) as stop:
        with transaction.atomic():
            task = queue(shop)
            assert stop.execute(mine).fetchone() == (False,)
        assert stop.execute(mine).fetchone() == (True,)
    assert DBTaskResult.objects.get(pk=task.id).status == HELD


@pytest.mark.parametrize("step", [Step.SWITCHING, Step.MOVED])
def test_a_task_that_would_stay_behind_is_refused(shop, other_shop, reach, step):
    reach(step)
    with pytest.raises(OperationalError, match="is being moved"):
        queue(shop)
    queue(other_shop)
    assert DBTaskResult.objects.count() == 1


def test_rows_that_arrive_do_not_hold_up_deleting_others(shop, other_shop, reach):
    """Those of a move that begins after the look whether there is one."""
    then = clock.now() - 190 * DAY
    with made_since(DELIVERIES, 200), made_since(ATTEMPTS, 200):
        for each in (shop, other_shop):
            register(listener(each), HOOK)
            emit(each)
        dispatch(then)
        for row in Delivery.objects.all():
            given = {"started_at": clock.now(), "duration_ms": 1, "status": 200, "number": 1}
            Attempt.objects.create(shop_id=row.shop_id, delivery=row, **given)
        (old,) = [each for each in DELIVERIES.partitions() if each.includes(then)]
        reach(Step.ARRIVING)
        with connection.execute_wrapper(AtMost(20)):
            jobs._delete_attempts_of(old)
        assert list(Attempt.objects.values_list("shop", flat=True)) == [shop.pk]
        reach(Step.COPYING)
        run("DELETE FROM webhooks_attempt", "DELETE FROM webhooks_delivery")


class AtMost:
    """Lets so many statements run."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, execute: Callable[..., Any], *given: Any) -> Any:
        self.left -= 1
        assert self.left, "it goes on and on"
        return execute(*given)


def test_the_file_of_a_row_that_arrives_stays(shop, other_shop, reach):
    mine, others = stored(shop), stored(other_shop)
    StoredFile.objects.update(unused_since=NOW)
    used = quotas.used("files", shop_id=shop.pk, now=NOW)
    reach(Step.ARRIVING)
    assert delete_unused_files(now=NOW + KEPT_UNUSED + DAY, limit=9) == 1
    assert list(StoredFile.objects.all()) == [mine]
    assert mine.file.storage.exists(mine.file.name)
    assert not others.file.storage.exists(others.file.name)
    assert quotas.used("files", shop_id=shop.pk, now=NOW) == used

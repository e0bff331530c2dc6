"""Tasks that a killed move has held go on."""

from datetime import timedelta

import pytest
from django_tasks_db.models import DBTaskResult

from storefront.customers.jobs import send_notice
from storefront.pods.models import ShopMove
from storefront.server.worker.moves import HELD, MAX_HELD, release_held_tasks
from tests.shops.factories import NOW

LATER = NOW + MAX_HELD + timedelta(seconds=1)


@pytest.fixture
def hold(shop, other_shop):
    """Queue a task of each of two shops, and hold them, as a move of the first does at its step."""

    def held(step: str) -> None:
        for each in (shop, other_shop):
            send_notice.enqueue(each.pk, "a@example.com", "password_changed")
        DBTaskResult.objects.update(status=HELD)
        ShopMove.objects.create(shop_id=shop.pk, domain=shop.domain, source=0, target=5, step=step, step_at=NOW)

    return held


def states() -> dict[int, str]:
    return {task.args_kwargs["args"][0]: task.status for task in DBTaskResult.objects.all()}


def test_tasks_of_an_interrupted_move_are_released(shop, other_shop, hold):
    hold(ShopMove.Step.DRAINING)
    assert release_held_tasks(now=NOW + MAX_HELD, limit=9) == 0
    assert release_held_tasks(now=LATER, limit=9) == 1
    assert states() == {shop.pk: "READY", other_shop.pk: HELD}
    assert ShopMove.objects.get().step == ShopMove.Step.COPYING
    assert release_held_tasks(now=LATER, limit=9) == 0


@pytest.mark.parametrize("step", [ShopMove.Step.SWITCHING, ShopMove.Step.MOVED])
def test_those_of_a_shop_that_has_stopped_stay(shop, hold, step):
    hold(step)
    assert release_held_tasks(now=LATER, limit=9) == 0
    assert states()[shop.pk] == HELD

"""Events, the webhooks that wait for them, and a worker's loop to deliver them."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Thread
from typing import Any

from django.db import connections

from storefront.kit import clock
from storefront.shops.models import Shop
from storefront.webhooks import actions
from storefront.webhooks.delivering import Deliverer
from storefront.webhooks.models import Event, Registration
from tests.factories.apps import Installed


def happen(shop: Shop, topic: str = "order.placed", *, now: datetime | None = None, **data: Any) -> Event:
    """Something that happened in the shop."""
    return actions.record_event(shop=shop, topic=topic, data={"id": 7, **data}, now=now or clock.now())


def register(installed: Installed, address: str, topic: str = "order.placed") -> Registration:
    shop, pk = installed.installation.shop, installed.installation.pk
    given = {"topic": topic, "address": address, "now": clock.now()}
    return actions.register_webhook(shop=shop, installation_id=pk, **given)[0]


@contextmanager
def delivering() -> Iterator[Deliverer]:
    """The loop of a worker, in a thread of its own, for as long as the block lasts."""
    deliverer, broken = Deliverer(), []

    def work() -> None:
        try:
            asyncio.run(deliverer.run())
        except BaseException as error:
            broken.append(error)

    thread = Thread(target=work)
    thread.start()
    try:
        yield deliverer
    finally:
        deliverer.stop()
        thread.join(20)
    assert not thread.is_alive()
    assert not broken, broken


def wait_until(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """The condition's first true answer."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.01)
    return found


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """The answers of the calls, each in a thread and on a connection of its own."""
    answers: dict[int, Any] = {}

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            answers[place] = call()
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[place] for place in range(len(calls))]

"""Events, webhooks, and a worker's delivery loop."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Thread
from typing import Any

from storefront.kit import clock
from storefront.shops.models import Shop
from storefront.webhooks import actions
from storefront.webhooks.delivering import Deliverer
from storefront.webhooks.models import Delivery, Event, Registration
from tests.factories.apps import Installed, install


def listener(shop: Shop, *scopes: str) -> Installed:
    """An installed app that no delivery waits for."""
    installed = install(shop, *scopes)
    Delivery.objects.all().delete()
    return installed


def emit(shop: Shop, topic: str = "order.placed", *, now: datetime | None = None, **data: Any) -> Event:
    """Record an event of the shop."""
    return actions.record_event(shop=shop, topic=topic, data={"id": 7, **data}, now=now or clock.now())


def register(installed: Installed, address: str, topic: str = "order.placed") -> Registration:
    shop, pk = installed.installation.shop, installed.installation.pk
    given = {"topic": topic, "address": address, "now": clock.now()}
    return actions.register_webhook(shop=shop, installation_id=pk, **given)[0]


@contextmanager
def delivering() -> Iterator[Deliverer]:
    """Run a worker's delivery loop in a thread until the `with` block ends."""
    deliverer, errors = Deliverer(), []

    def work() -> None:
        try:
            asyncio.run(deliverer.run())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=work)
    thread.start()
    try:
        yield deliverer
    finally:
        deliverer.stop()
        thread.join(20)
    assert not thread.is_alive()
    assert not errors, errors


def wait_until(condition: Callable[[], Any], seconds: float = 90) -> Any:
    """The first true result of the condition."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
    return found

"""The migration of pending deliveries to receiver numbers that include the installation."""

import pytest
from django.db import connection

from storefront.kit import clock
from storefront.server.migration_state import Executor
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery, Registration
from storefront.webhooks.rules import host_of
from tests.factories.apps import install
from tests.webhooks.factories import emit, register

BEFORE = [("webhooks", "0001_initial")]


def migrate(target=None) -> None:
    """To the target; by default to the latest migrations, as the next tests expect."""
    executor = Executor(connection)
    executor.migrate(target or executor.loader.graph.leaf_nodes())


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_pending_deliveries_get_the_receiver_number_of_their_installation(shop):
    two = [install(shop), install(shop)]
    for app in two:
        register(app, "https://hooks.example.com/")
    emit(shop)
    dispatch(clock.now())
    expected = {row.pk: row.receiver for row in Delivery.objects.filter(status="pending")}
    (host,) = {host_of(row.receiver) for row in Registration.objects.all()}
    migrate(BEFORE)
    try:
        for model in (Registration, Delivery):
            # The old numbers: the host's digest alone, with other bits of it at the end.
            model.objects.filter(topic="order.placed").update(receiver=host << 31 | 12345)
    finally:
        migrate()
    found = {row.pk: row.receiver for row in Delivery.objects.filter(status="pending")}
    assert found == expected
    assert len({row.receiver for row in Registration.objects.all()}) == 2

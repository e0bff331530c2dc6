"""Calls are stored for a week, at most the last thousand of an extension."""

from datetime import timedelta

import pytest

from storefront.apps import call_statistics
from storefront.apps.extensions import register_extension
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import clock
from storefront.server.worker.sweeps import SWEEPS
from tests.factories.apps import install

NOW = clock.now()


@pytest.fixture
def extension(shop):
    return make(shop)


def make(shop) -> Extension:
    installation = install(shop).installation
    given = {"type": "checkout_block", "callback_url": "https://app.example.com/", "now": NOW}
    return register_extension(shop=shop, installation_id=installation.pk, **given)[0]


def call(extension: Extension, *ages: timedelta) -> None:
    ExtensionCall.objects.bulk_create(
        ExtensionCall(
            shop=extension.shop, extension=extension, called_at=NOW - age, duration_ms=1, outcome="shown", request=""
        )
        for age in ages
    )


def test_deletes_calls_older_than_a_week(extension):
    call(extension, timedelta(days=7), timedelta(days=7, seconds=1), timedelta(days=30))
    assert call_statistics.delete_old_extension_calls(now=NOW, limit=500) == 2
    assert ExtensionCall.objects.get().called_at == NOW - timedelta(days=7)


def test_keeps_the_last_calls_of_each_extension(shop, extension, monkeypatch):
    monkeypatch.setattr(call_statistics, "MAX_CALLS_KEPT", 3)
    other = make(shop)
    for each in (extension, other):
        call(each, *[timedelta(minutes=age) for age in range(5)])
    call(other)
    assert call_statistics.delete_old_extension_calls(now=NOW, limit=500) == 4
    kept = ExtensionCall.objects.filter(extension=extension).values_list("called_at", flat=True)
    assert min(kept) == NOW - timedelta(minutes=2)
    assert ExtensionCall.objects.filter(extension=other).count() == 3


def test_deletes_at_most_one_batch(extension):
    call(extension, *[timedelta(days=8)] * 5)
    assert call_statistics.delete_old_extension_calls(now=NOW, limit=3) == 3
    assert call_statistics.delete_old_extension_calls(now=NOW, limit=3) == 2
    assert call_statistics.delete_old_extension_calls(now=NOW, limit=3) == 0


def test_the_worker_runs_the_sweep(extension):
    assert call_statistics.delete_old_extension_calls in [sweep.batch for sweep in SWEEPS]

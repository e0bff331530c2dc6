"""Calls are kept for a week, and of one extension the last thousand."""

from datetime import timedelta

import pytest

from storefront.apps import jobs
from storefront.apps.extensions import register_extension
from storefront.apps.models import Extension, ExtensionCall
from storefront.kit import clock
from storefront.server.sweeps import SWEEPS
from tests.factories.apps import install

NOW = clock.now()


@pytest.fixture
def extension(shop):
    return make(shop)


def make(shop) -> Extension:
    installation = install(shop).installation
    given = {"type": "checkout_block", "callback_url": "https://app.example.com/", "now": NOW}
    return register_extension(shop=shop, installation_id=installation.pk, **given)


def call(extension: Extension, *ages: timedelta) -> None:
    ExtensionCall.objects.bulk_create(
        ExtensionCall(
            shop=extension.shop, extension=extension, called_at=NOW - age, duration_ms=1, outcome="shown", request=""
        )
        for age in ages
    )


def test_a_week_is_kept(extension):
    call(extension, timedelta(days=7), timedelta(days=7, seconds=1), timedelta(days=30))
    assert jobs.delete_old_extension_calls(now=NOW, limit=500) == 2
    assert ExtensionCall.objects.get().called_at == NOW - timedelta(days=7)


def test_of_each_extension_the_last_ones_are_kept(shop, extension, monkeypatch):
    monkeypatch.setattr(jobs, "MOST_KEPT", 3)
    other = make(shop)
    for each in (extension, other):
        call(each, *[timedelta(minutes=age) for age in range(5)])
    call(other)
    assert jobs.delete_old_extension_calls(now=NOW, limit=500) == 4
    kept = ExtensionCall.objects.filter(extension=extension).values_list("called_at", flat=True)
    assert min(kept) == NOW - timedelta(minutes=2)
    assert ExtensionCall.objects.filter(extension=other).count() == 3


def test_a_batch_has_an_end(extension):
    call(extension, *[timedelta(days=8)] * 5)
    assert jobs.delete_old_extension_calls(now=NOW, limit=3) == 3
    assert jobs.delete_old_extension_calls(now=NOW, limit=3) == 2
    assert jobs.delete_old_extension_calls(now=NOW, limit=3) == 0


def test_the_worker_does_it(extension):
    assert jobs.delete_old_extension_calls in [sweep.batch for sweep in SWEEPS]

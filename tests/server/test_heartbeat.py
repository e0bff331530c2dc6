"""Workers that run are counted, and those that were killed are forgotten."""

from datetime import timedelta

import pytest
from django.db import OperationalError

from storefront.kit import clock
from storefront.server.models import WorkerHeartbeat
from storefront.server.worker.alive import NAME as ALIVE
from storefront.server.worker.heartbeat import KEPT, LIVE, Heartbeat, live_workers
from storefront.server.worker.worker import Worker

pytestmark = pytest.mark.django_db


def test_each_worker_has_one_row():
    now, workers = clock.now(), [Heartbeat(), Heartbeat()]
    for seconds in (0, 10, 20):
        for worker in workers:
            assert worker.beat(now=now + timedelta(seconds=seconds), limit=100) == 0
    assert live_workers(now + timedelta(seconds=20)) == WorkerHeartbeat.objects.count() == 2
    assert {row.started_at for row in WorkerHeartbeat.objects.all()} == {now}


def test_a_worker_that_is_silent_is_dead_and_its_row_is_deleted_later():
    now = clock.now()
    Heartbeat().beat(now=now, limit=100)
    assert live_workers(now + LIVE - timedelta(seconds=1)) == 1
    assert live_workers(now + LIVE) == 0
    assert Heartbeat().beat(now=now + KEPT + timedelta(seconds=1), limit=100) == 1
    assert WorkerHeartbeat.objects.count() == 1


def test_the_file_of_a_worker_is_touched_while_the_database_is_away(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path

    def away(*_: object, **_kwargs: object) -> None:
        raise OperationalError("away")

    monkeypatch.setattr("storefront.server.worker.heartbeat.Heartbeat.beat", away)
    (lane,) = [thread for thread in Worker().threads if thread.name == "sweeps"]
    with pytest.raises(OperationalError):
        lane.run_once()
    assert (tmp_path / ALIVE).exists()


def test_a_worker_beats():
    sweeps = [sweep for lane in Worker().threads for sweep in getattr(lane, "sweeps", [])]
    (heartbeat,) = [sweep for sweep in sweeps if sweep.name == "heartbeat"]
    assert heartbeat.every < LIVE / 3
    heartbeat.run(now=clock.now())
    assert live_workers(clock.now()) == 1

"""Tables that are divided by time: `storefront/kit/time_partitions.py`."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
import pytest
from django.db import connection, transaction

from storefront.kit import clock
from storefront.kit.time_partitions import ByTime, Partition
from storefront.pods.models import ShopMove
from storefront.server.doctor import databases
from storefront.server.partitions import DIVIDED, add_partitions
from storefront.shops.models import AuditEntry
from storefront.sync.log import CHANGES
from storefront.sync.models import Change
from tests.partitions import made_since, run
from tests.races import run_concurrently

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no partitions"),
    pytest.mark.django_db(transaction=True),
]
DAY = timedelta(days=1)
NEXT_YEAR = 400 * DAY


def written(shop, at: datetime) -> str:
    """The partition of a change of this time."""
    row = Change.objects.create(shop=shop, kind="product", object_id=1, xact=0, at=at)
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM sync_change WHERE id = %s", [row.pk])
        return cursor.fetchone()[0]


def names(divided: ByTime = CHANGES) -> list[str]:
    return [each.name for each in divided.partitions()]


@pytest.fixture
def past() -> Iterator[None]:
    with made_since(CHANGES, 60):
        yield


@pytest.fixture
def next_year() -> Iterator[datetime]:
    """A moment without a partition, whose partitions go after the test."""
    moment, before = clock.now() + NEXT_YEAR, names()
    yield moment
    run(*(f"DROP TABLE {name}" for name in names() if name not in before))


def test_periods_begin_on_mondays_and_first_days():
    moment = datetime(2028, 2, 29, 23, 59, tzinfo=UTC)
    weeks, months = ByTime("a", "b", "week").periods(moment), ByTime("a", "b", "month").periods(moment)
    assert [f"{begin:%m-%d}" for begin, _ in weeks] == ["02-28", "03-06", "03-13"]
    assert [f"{begin:%m-%d}" for begin, _ in months] == ["02-01", "03-01", "04-01"]
    assert all(first[1] == second[0] for periods in (weeks, months) for first, second in pairwise(periods))


@pytest.mark.parametrize("divided", DIVIDED, ids=lambda divided: divided.table)
def test_a_new_database_has_partitions_of_this_period_and_of_those_ahead(divided):
    existing = divided.partitions()
    assert names(divided)[0] == f"{divided.table}_before"
    assert names(divided)[-1] == divided.default
    for begin, end in divided.periods(clock.now()):
        assert (begin, end) in [(each.begin, each.end) for each in existing]
    assert add_partitions(now=clock.now()) == 0
    assert divided.partitions() == existing


def test_partitions_have_the_keys_and_the_room_of_the_pattern():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.inhrelid::regclass::text, c.reloptions::text, (SELECT count(*) FROM pg_index x WHERE"
            " x.indrelid = c.oid), (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = c.oid)"
            " FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = 'webhooks_event'::regclass"
        )
        found = {tuple(each) for _, *each in cursor.fetchall()}
    assert found == {("{fillfactor=70}", 6, 4)}


def test_a_row_at_the_boundary_belongs_to_the_period_that_begins(shop):
    (begin, end), (_, later), *_ = CHANGES.periods(clock.now())
    assert written(shop, end - timedelta(microseconds=1)) == f"sync_change_{begin:%Y%m%d}"
    assert written(shop, end) == f"sync_change_{end:%Y%m%d}"
    assert written(shop, later) == f"sync_change_{later:%Y%m%d}"
    assert written(shop, begin - timedelta(microseconds=1)) == "sync_change_before"


def test_a_row_without_a_partition_is_kept_and_reported_and_moved_into_its_own(shop, next_year):
    assert written(shop, next_year) == "sync_change_default"
    assert any("sync_change_default" in finding.text for finding in databases.look())
    assert CHANGES.add_missing(now=next_year) == 3
    begin = CHANGES.start(next_year)
    assert written(shop, next_year) == f"sync_change_{begin:%Y%m%d}"
    assert (Change.objects.filter(at=next_year).count(), CHANGES.has_unfitting()) == (2, False)
    assert not any("sync_change_default" in finding.text for finding in databases.look())


def test_more_rows_than_can_be_moved_stay_and_later_periods_get_their_partition(shop, next_year, monkeypatch):
    monkeypatch.setattr("storefront.kit.time_partitions.MAX_MOVED", 1)
    for _ in range(2):
        written(shop, next_year)
    assert CHANGES.add_missing(now=next_year) == 2
    assert written(shop, next_year) == "sync_change_default"


def test_a_moved_entry_of_the_audit_log_is_not_refused(shop, next_year):
    entries, before = DIVIDED[3], names(DIVIDED[3])
    try:
        given = {"keep_until": next_year.date(), "actor_kind": "worker", "action": "product.updated"}
        row = AuditEntry.objects.create(shop=shop, at=next_year, **given)
        assert entries.add_missing(now=next_year) == 3
        assert AuditEntry.objects.get(pk=row.pk).at == next_year
        with pytest.raises(Exception, match="before its day"), transaction.atomic():
            AuditEntry.objects.filter(pk=row.pk).delete()
    finally:
        run(*(f"DROP TABLE {name}" for name in names(entries) if name not in before))


def test_two_that_make_partitions_at_once_make_each_once(shop, next_year):
    made = run_concurrently(*[lambda: CHANGES.add_missing(now=next_year)] * 4)
    assert 0 < sum(made) <= 3
    CHANGES.add_missing(now=next_year)
    assert len(names()) == len(set(names()))
    assert all(any(each.includes(begin) for each in CHANGES.partitions()) for begin, _ in CHANGES.periods(next_year))


def test_only_partitions_whose_rows_are_all_old_are_dropped(shop, other_shop, past):
    now = clock.now()
    for owner in (shop, other_shop):
        for days in range(59, 0, -1):
            written(owner, now - days * DAY)
    cutoff = now - 31 * DAY
    assert CHANGES.drop_ended(now=now, age=31 * DAY) == len([1 for each in ends_of_past() if each <= cutoff])
    left = set(Change.objects.filter(at__lt=cutoff).values_list("at", flat=True))
    assert Change.objects.filter(at__gte=cutoff).count() == 2 * 31 - 2 * (31 * DAY + cutoff < now)
    # At most a week longer.
    assert all(at >= cutoff - 7 * DAY for at in left)


def ends_of_past() -> list[datetime]:
    begin = CHANGES.start(clock.now() - 60 * DAY)
    return [begin + 7 * number * DAY for number in range(10)]


def test_a_clock_that_jumps_ahead_drops_nothing_that_is_young(shop, past):
    written(shop, clock.now() - 40 * DAY)
    written(shop, clock.now() - 2 * DAY)
    before = names()
    assert CHANGES.drop_ended(now=clock.now() + NEXT_YEAR, age=50 * DAY) == len(set(before) - set(names()))
    assert Change.objects.count() == 2


def test_a_partition_in_use_stays_until_it_can_be_locked(shop, past, monkeypatch):
    monkeypatch.setattr("storefront.kit.time_partitions.MAX_TRIES", 2)
    written(shop, clock.now() - 59 * DAY)
    before = names()
    with psycopg.connect(url()) as reader:
        reader.execute("SELECT count(*) FROM sync_change")
        assert CHANGES.drop_ended(now=clock.now(), age=31 * DAY) == 0
        assert names() == before
        # Nobody waits behind it.
        assert written(shop, clock.now())
    assert CHANGES.drop_ended(now=clock.now(), age=31 * DAY) > 0
    assert Change.objects.count() == 1


def url() -> str:
    given = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    return psycopg.conninfo.make_conninfo("", **{name: given[name] for name in names if given.get(name)})


def test_two_that_drop_at_once_drop_each_once(shop, past):
    written(shop, clock.now() - 59 * DAY)
    dropped = run_concurrently(*[lambda: CHANGES.drop_ended(now=clock.now(), age=31 * DAY)] * 3)
    CHANGES.drop_ended(now=clock.now(), age=31 * DAY)
    assert sum(dropped) >= 1
    assert not Change.objects.exists()


def move(step: str) -> ShopMove:
    """A shop moves, and has come to this step."""
    given = {"domain": "moving.test", "source": 0, "target": 5, "step_at": clock.now()}
    return ShopMove.objects.create(shop_id=999, step=step, **given)


@pytest.mark.parametrize("step", [ShopMove.Step.COPYING, ShopMove.Step.ARRIVING])
def test_while_a_shop_moves_rows_stay_in_their_partition(shop, next_year, step):
    written(shop, next_year)
    moving = move(step)
    assert CHANGES.add_missing(now=next_year) == 2
    assert written(shop, next_year) == "sync_change_default"
    moving.delete()
    assert CHANGES.add_missing(now=next_year) == 1
    assert written(shop, next_year) != "sync_change_default"


@pytest.mark.parametrize(
    ("step", "is_dropped"),
    [
        (ShopMove.Step.ASKED, True),
        (ShopMove.Step.COPYING, False),
        (ShopMove.Step.ARRIVING, False),
        (ShopMove.Step.SHELVED, True),
    ],
)
def test_while_a_shop_moves_no_partition_is_dropped(shop, past, step, is_dropped):
    written(shop, clock.now() - 59 * DAY)
    move(step)
    emptied: list[Partition] = []
    assert bool(CHANGES.drop_ended(now=clock.now(), age=31 * DAY, first=emptied.append)) == is_dropped
    assert Change.objects.exists() != is_dropped
    # What belongs to its rows elsewhere stays, too.
    assert bool(emptied) == is_dropped


def test_a_move_that_begins_meanwhile_keeps_the_partition(shop, past):
    written(shop, clock.now() - 59 * DAY)

    def begin(_partition) -> None:
        if not ShopMove.objects.exists():
            move(ShopMove.Step.COPYING)

    assert CHANGES.drop_ended(now=clock.now(), age=31 * DAY, first=begin) == 0
    assert Change.objects.exists()

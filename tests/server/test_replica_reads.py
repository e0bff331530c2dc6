"""What the admin, exports, pages and the doctor read from a real replica, and what they write beside it."""

import resource
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from storefront.kit.replicas import asking
from tests.server.clusters import programs
from tests.server.programs import storefront
from tests.server.replicated import Replicated, replicated, server_in

pytestmark = [
    pytest.mark.proof,
    pytest.mark.any_database,
    pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc"),
    pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs are not installed"),
]
# Descriptors from here on do not fit into what select() takes.
FIRST_LARGE = 1024


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    with replicated() as found:
        yield found


@pytest.fixture
def shop(servers) -> Iterator[Replicated]:
    """The replica replays, whatever a test before did to it."""
    servers.resume()
    servers.catch_up()
    yield servers
    servers.resume()


# `mine` and `other` are the shops, and `reads` is how many reads a replica has answered.
BEGIN = """
import json
import psycopg
from django.db import connection
from storefront.kit import clock, metrics
from storefront.kit.replicas import reading, watching
from storefront.shops.models import Shop
from tests.server.programs import wait_until
# Replicas that are late, or answer slowly on a busy machine, are not what this is about.
watching.MAX_LAG_SECONDS = watching.DEADLINE_SECONDS = 3600
watching.start()
wait_until(lambda: watching.known()[0].trouble == "", what="reading")
mine, other = Shop.objects.order_by("pk")
def reads():
    return metrics.REPLICA_READS.labels("replica1")._value.get()
def pause():
    with psycopg.connect(REPLICA_URL, autocommit=True) as replica:
        replica.execute("SELECT pg_wal_replay_pause()")
        paused = lambda: replica.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",)
        wait_until(paused, what="the pause")
"""


def run(shop: Replicated, script: str) -> Any:
    return shop.shell(BEGIN.replace("REPLICA_URL", repr(shop.replica.url)) + script)


ADMIN = """
from django.contrib.admin import autodiscover
from django.urls import reverse
from storefront.catalogue.models import Product
from storefront.customers.models import Customer
from storefront.orders.models import Order
from tests.staff import admin_url, make_staff, open_desk
autodiscover()
desk, neighbour = (open_desk(make_staff(each, f"anna{each.pk}"), each) for each in (mine, other))
def shown(desk, url):
    before = reads()
    page = desk.get(url)
    return [page.status_code, reads() - before, "Mug of the staff" in page.content.decode()]
start, products = reverse("admin:index"), admin_url(Product, "changelist")
lists = [admin_url(model, "changelist") for model in (Product, Order, Customer)]
# Signing in and choosing a shop are writes.
with psycopg.connect(REPLICA_URL, autocommit=True) as replica:
    end = reading.current_position()
    behind = "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint >= %s"
    wait_until(lambda: replica.execute(behind, [end]).fetchone()[0], what="the replay")
found = [shown(desk, start), *(shown(desk, each) for each in lists)]
pause()
changed = desk.fill(Product.objects.get(shop=mine), name="Mug of the staff")
found += [changed.status_code, shown(desk, products), shown(desk, start), shown(neighbour, products)]
print(json.dumps(found))
"""


def test_start_page_and_lists_of_the_admin_are_read_there_and_show_what_staff_have_written(shop):
    script = ADMIN.replace("REPLICA_URL", repr(shop.replica.url))
    start, *lists, changed, own_list, own_start, others = run(shop, script)
    # Sales and best sellers.
    assert start == [200, 2, False]
    assert lists == [[200, 1, False]] * 3
    assert changed == 302
    assert own_list == [200, 0, True]
    assert own_start[:2] == [200, 0]
    assert others == [200, 1, False]


EXPORTS = """
import gzip
from django.core.files.storage import storages
from storefront.exports.jobs import run_export
from storefront.exports.models import Export
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.worker import run_due_tasks
api = ApiClient(TOKEN)
def exported():
    before = reads()
    started = api.post("/exports", {"kind": "products"})
    assert started.status_code == 201, started.content
    run_due_tasks()
    export = Export.objects.latest("pk")
    with storages["private"].open(export.file.name) as file:
        lines = gzip.decompress(file.read()).decode().splitlines()
    return [export.state, reads() - before, sorted(json.loads(line)["slug"] for line in lines)]
found = [exported()]
pause()
make_product(other, "Cup", slug="cup")
found.append(exported())
print(json.dumps(found))
"""


def test_an_export_is_read_there_once_the_replica_has_what_was_written_before_it(shop):
    script = EXPORTS.replace("TOKEN", repr(shop.shops[1]["token"]))
    assert run(shop, script) == [["done", 1, ["mug"]], ["done", 0, ["cup", "mug"]]]


BESIDE = """
from django_tasks_db.models import DBTaskResult
from storefront.catalogue.media.thumbnails import request_thumbnails
from storefront.catalogue.models import CleanedText, WantedThumbnails
from storefront.website.texts import safe_html
seen = []
def show():
    seen.append(connection.alias)
    request_thumbnails(mine, "mug.png", now=clock.now())
    safe_html(mine, "<p>" + "blue " * 2000 + "</p>", now=clock.now())
    seen.append(connection.alias)
reading.read(show, lambda: 0)
tasks = DBTaskResult.objects.filter(task_path__endswith=".make_thumbnails")
print(json.dumps([seen, *(rows.count() for rows in (WantedThumbnails.objects, CleanedText.objects, tasks))]))
"""


def test_what_a_page_of_the_replica_writes_beside_is_written_on_the_primary(shop):
    assert run(shop, BESIDE) == [["replica1", "replica1"], 1, 1, 1]


def doctor(shop: Replicated, **environment: str) -> str:
    """The line of the doctor about the replica."""
    done = storefront("doctor", **shop.environment | environment)
    (found,) = [line for line in done.stdout.splitlines() if " replicas " in line]
    return found


FORKED = """
import json
from storefront.kit.replicas import watching
from tests.server.programs import wait_until
watching.start()
(replica,) = watching.known()
wait_until(lambda: replica.trouble not in (watching.UNASKED, watching.UNMEASURED), what="an answer")
print(json.dumps(replica.trouble))
"""


def test_a_replica_that_follows_the_primary_from_before_a_failover_is_not_asked(shop):
    with server_in(shop.directory / "promoted") as promoted:
        promoted.make_replica_of(shop.primary)
        promoted.execute("SELECT pg_promote()")
        environment = {"DATABASE_URL": promoted.url}
        reason = "it does not follow the primary: their timelines are 1 and 2"
        assert shop.shell(FORKED, **environment) == reason
        assert f"is not read from: {reason}" in doctor(shop, **environment)


def test_the_doctor_finds_a_replica_that_follows_and_one_that_is_away(shop):
    assert "follows the primary" in doctor(shop)
    with server_in(shop.directory / "away") as away:
        assert "is not read from: it is away" in doctor(shop, DATABASE_REPLICA_URLS=away.url)


def test_a_process_with_more_than_a_thousand_descriptors_asks_its_replicas(shop):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 2 * FIRST_LARGE), limits[1]))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        while stack.enter_context(Path("/dev/null").open("rb")).fileno() < FIRST_LARGE:
            pass
        connection = stack.enter_context(asking.connect(conninfo_to_dict(shop.replica.url)))
        assert connection.fileno() > FIRST_LARGE
        answer = asking.ask(connection, 10)
    assert answer.is_replica
    assert answer.position > 0

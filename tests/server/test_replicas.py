"""Reads on a streaming replica: nobody reads less than they wrote, and no request fails because it is away."""

import random
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.server.bouncers import pooled
from tests.server.clusters import programs
from tests.server.programs import free_port, storefront, wait_until
from tests.server.replicated import Replicated, Web, replicated, server_in, web_process

pytestmark = [
    pytest.mark.proof,
    pytest.mark.any_database,
    pytest.mark.skipif(sys.platform != "linux", reason="looks through /proc"),
    pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs are not installed"),
]
NO_EDGE = {"STOREFRONT_EDGE_CACHE_BYTES": "0"}
# Seconds in which a request is answered whose replica stops answering: the question that goes without an answer, and
# that of a busy machine.
PATIENCE = 10


@pytest.fixture(scope="module")
def servers() -> Iterator[Replicated]:
    with replicated() as found:
        yield found


@pytest.fixture(scope="module")
def processes(servers) -> Iterator[list[Web]]:
    """Two web processes that know nothing of each other, and answer nothing from memory."""
    with ExitStack() as stack:
        yield [stack.enter_context(web_process(servers, **NO_EDGE)) for _ in range(2)]


@pytest.fixture
def shop(servers) -> Iterator[Replicated]:
    """The replica replays, whatever a test before did to it."""
    servers.resume()
    servers.catch_up()
    yield servers
    servers.resume()


@pytest.fixture
def webs(shop, processes) -> list[Web]:
    for web in processes:
        wait_until(web.is_reading, what="reading from the replica")
    return processes


def test_two_callers_read_at_least_what_they_wrote_while_the_replica_pauses(shop, webs):
    chance = random.Random(20260)
    written = {0: "Mug", 1: "Mug"}
    for number, each in enumerate(shop.shops):
        webs[0].rename(each, written[number])
    for step in range(120):
        number = chance.randrange(2)
        each = shop.shops[number]
        match chance.choice(("write", "read", "read", "read", "turn")):
            case "write":
                written[number] = f"Mug {step}"
                chance.choice(webs).rename(each, written[number])
            case "read":
                assert chance.choice(webs).name(each) == written[number]
            case "turn":
                chance.choice((shop.pause, shop.resume))()


ONE_WHO_WROTE = """
import json
import psycopg
from django.test import Client
from storefront.kit import metrics
from storefront.kit.replicas import watching
from tests.server.programs import wait_until
# Replicas that are late, or answer slowly on a busy machine, are not what this is about.
watching.MAX_LAG_SECONDS = watching.DEADLINE_SECONDS = 3600
watching.start()
wait_until(lambda: watching.known()[0].trouble == "", what="reading")
mine, other = SHOPS
reads = metrics.REPLICA_READS.labels("replica1")
def name(shop):
    found = Client().get(f"/api/v1/products/{shop['mug']}", headers={"Authorization": f"Bearer {shop['token']}"})
    return found.json()["data"]["name"], reads._value.get()
before, count = name(mine)
with psycopg.connect(REPLICA_URL, autocommit=True) as replica:
    replica.execute("SELECT pg_wal_replay_pause()")
    wait_until(
        lambda: replica.execute("SELECT pg_get_wal_replay_pause_state()").fetchone() == ("paused",), what="the pause"
    )
    renamed = Client().patch(
        f"/api/apps/products/{mine['mug']}",
        {"name": "Written during the pause"},
        "application/json",
        headers={"Authorization": f"Bearer {mine['app']}"},
    )
    found = [renamed.status_code, count, name(mine)[1], name(other)[1], name(mine)]
    replica.execute("SELECT pg_wal_replay_resume()")
def goes_back():
    return name(mine)[1] > 2
wait_until(goes_back, what="reading from the replica")
print(json.dumps([*found, name(mine)[0]]))
"""


def test_one_who_wrote_reads_on_the_primary_while_others_read_on_the_paused_replica(shop):
    script = ONE_WHO_WROTE.replace("SHOPS", repr(shop.shops)).replace("REPLICA_URL", repr(shop.replica.url))
    new = "Written during the pause"
    assert shop.shell(script) == [200, 1, 1, 2, [new, 2], new]


def test_an_answer_from_memory_never_goes_back(shop):
    mine = shop.shops[0]
    with web_process(shop) as one, web_process(shop) as two:
        two.name(mine)
        shop.pause()
        for number in range(10):
            one.rename(mine, f"Cup {number}")
            wait_until(lambda number=number: two.name(mine) == f"Cup {number}", what="the change", seconds=10)
            assert {two.name(mine) for _ in range(20)} == {f"Cup {number}"}


def test_a_change_of_another_process_is_read_by_who_is_notified_of_it(shop):
    """The importer's way: a program changes products and ends; nobody answers it."""
    mine = shop.shops[0]
    with web_process(shop) as web:
        web.name(mine)
        shop.pause()
        shop.shell(f"""
from storefront.catalogue import actions
from storefront.catalogue.models import Product
from storefront.kit import clock
product = Product.objects.select_related("shop").get(pk={mine["mug"]})
actions.update_product(shop=product.shop, product=product, now=clock.now(), name="From a program")
print(0)
""")
        wait_until(lambda: web.name(mine) == "From a program", what="the change", seconds=4)


def test_a_late_replica_is_left_out_until_it_has_caught_up(shop, webs):
    web, other = webs[0], shop.shops[1]
    shop.pause()
    web.rename(shop.shops[0], "Late")
    wait_until(lambda: not web.is_reading(), what="leaving out the replica")
    before = web.reads()
    web.name(other)
    assert web.reads() == before
    shop.resume()
    wait_until(web.is_reading, what="reading from the replica")
    web.name(other)
    assert web.reads() == before + 1


def test_requests_go_on_while_the_replica_is_killed_and_come_back_to_it(shop, webs):
    web, mine = webs[0], shop.shops[0]
    name = web.name(mine)
    shop.replica.kill()
    began = time.monotonic()
    assert [web.name(mine) for _ in range(20)] == [name] * 20
    assert time.monotonic() - began < PATIENCE
    wait_until(lambda: not web.is_reading(), what="leaving out the replica")
    shop.replica.start()
    wait_until(web.is_reading, what="reading from the replica")
    before = web.reads()
    web.name(mine)
    assert web.reads() == before + 1


def test_a_replica_that_hangs_holds_no_request(shop, webs):
    web, mine = webs[0], shop.shops[0]
    name = web.name(mine)
    shop.replica.send(signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert web.name(mine) == name
        assert time.monotonic() - began < PATIENCE
    finally:
        shop.replica.send(signal.SIGCONT)
    wait_until(web.is_reading, what="reading from the replica")


def test_an_order_list_and_pages_are_read_on_the_replica(shop, webs):
    web, mine = webs[0], shop.shops[0]
    for path, token in (
        ("/api/v1/products", mine["token"]),
        ("/api/v1/products?q=mug", mine["token"]),
        ("/api/v1/categories", mine["token"]),
        ("/api/apps/orders", mine["app"]),
        ("/api/apps/products", mine["app"]),
        (f"/api/apps/products/{mine['mug']}", mine["app"]),
    ):
        before = web.reads()
        web.call(path, token)
        assert web.reads() == before + 1, path
    before = web.reads()
    for copied in ("?after=", "?updated_since=2026-01-01T00:00:00Z"):
        web.call(f"/api/apps/orders{copied}", mine["app"])
    assert web.reads() == before


MARKED = """
import json
from django.db import connections
from django.test import Client
from storefront.kit import metrics
from storefront.kit.replicas import watching
from storefront.shops.models import Shop
from tests.server.programs import wait_until
watching.start()
wait_until(lambda: watching.known()[0].trouble == "", what="reading")
primary = connections["default"]
def guard(execute, sql, params, many, context):
    assert connections["default"] is primary, f"on the primary: {sql}"
    return execute(sql, params, many, context)
def refuse(execute, sql, params, many, context):
    assert sql.lstrip().upper().startswith(("SELECT", "WITH")), sql
    return execute(sql, params, many, context)
def total(counter):
    return sum(
        each.value for found in counter.collect() for each in found.samples if "_total" in each.name
    )
out = []
with primary.execute_wrapper(guard), connections["replica1"].execute_wrapper(refuse):
    for path in PATHS:
        before = total(metrics.REPLICA_READS)
        response = Client().get(path, HTTP_HOST="localhost", headers=HEADERS)
        out.append([path, response.status_code, total(metrics.REPLICA_READS) - before, total(metrics.PRIMARY_READS)])
print(json.dumps(out))
"""


def test_what_is_marked_asks_the_primary_nothing_and_writes_nothing(shop):
    mine = shop.shops[0]
    paths = ["/", "/products/mug", f"/api/v1/products/{mine['mug']}", "/api/v1/products", "/api/v1/categories"]
    script = MARKED.replace("PATHS", repr(paths)).replace("HEADERS", repr({"Authorization": f"Bearer {mine['token']}"}))
    assert shop.shell(script) == [[path, 200, 1, 0] for path in paths]


WRITES = """
import json
from django.db import InternalError, connection, transaction
from storefront.kit.replicas import reading, watching
from storefront.shops.models import Shop
from tests.server.programs import wait_until
watching.start()
wait_until(lambda: watching.known()[0].trouble == "", what="reading")
seen = []
def attempt():
    seen.append(connection.alias)
    if connection.alias == "replica1":
        with transaction.atomic():
            try:
                DO
            except InternalError as error:
                seen.append(type(error.__cause__).__name__)
                raise
    return connection.alias
seen.append(reading.read(attempt, lambda: 0)[0])
print(json.dumps(seen))
"""


@pytest.mark.parametrize("do", ["Shop.objects.select_for_update().first()", "Shop.objects.update(name='x')"])
def test_a_lock_or_a_write_is_refused_by_the_replica_and_the_whole_runs_on_the_primary(shop, do):
    found = shop.shell(WRITES.replace("DO", do))
    assert found == ["replica1", "ReadOnlySqlTransaction", "default", "default"]


CONFLICT = """
import json, threading, time
import psycopg
from django.conf import settings
from django.db import connection
from storefront.kit.replicas import reading, watching
from tests.server.programs import wait_until
watching.start()
wait_until(lambda: watching.known()[0].trouble == "", what="reading")
seen = []
def change():
    with psycopg.connect(PRIMARY, autocommit=True) as other:
        other.execute("DELETE FROM conflict")
        other.execute("VACUUM conflict")
def report():
    seen.append(connection.alias)
    with connection.cursor() as cursor:
        if connection.alias == "replica1":
            thread = threading.Thread(target=change)
            cursor.execute("SELECT count(*) FROM conflict")
            thread.start()
            cursor.execute("SELECT count(*), pg_sleep(30) FROM (SELECT * FROM conflict LIMIT 1) c GROUP BY c.id")
        cursor.execute("SELECT count(*) FROM conflict")
        return cursor.fetchone()[0]
found, is_of_replica = reading.read(report, lambda: 0)
print(json.dumps([seen, found, is_of_replica]))
"""


def test_a_report_that_replay_cancels_runs_again_on_the_primary_once(shop):
    # Replay waits for nothing.
    shop.replica.execute("ALTER SYSTEM SET max_standby_streaming_delay = 0")
    shop.replica.execute("SELECT pg_reload_conf()")
    shop.primary.execute("CREATE TABLE IF NOT EXISTS conflict AS SELECT generate_series(1, 1000) AS id")
    shop.catch_up()
    found = shop.shell(CONFLICT.replace("PRIMARY", repr(shop.primary.url)))
    assert found == [["replica1", "default"], 0, False]


def test_a_promoted_replica_is_left_out(shop):
    with server_in(shop.directory / "second") as second:
        second.make_replica_of(shop.primary)
        with web_process(shop, DATABASE_REPLICA_URLS=second.url, **NO_EDGE) as web:
            second.execute("SELECT pg_promote()")
            wait_until(lambda: not web.is_reading(), what="leaving out the server")
            second.execute("UPDATE catalogue_product SET name = 'Of another history'")
            before = web.reads()
            assert web.name(shop.shops[0]) != "Of another history"
            assert web.reads() == before


def test_a_server_that_is_no_replica_of_this_primary_is_refused_in_words(shop):
    with server_in(shop.directory / "stranger") as stranger:
        stranger.make_empty()
        done = storefront(
            "serve", "--port", str(free_port()), **shop.environment | {"DATABASE_REPLICA_URLS": stranger.url}
        )
    assert done.returncode == 1
    assert "DATABASE_REPLICA_URLS: replica1" in done.stderr
    assert "it is no replica of DATABASE_URL's database" in done.stderr


def test_a_replica_that_is_away_stops_no_start(shop):
    with server_in(shop.directory / "away") as away, ExitStack() as stack:
        urls = f"{away.url}, {shop.replica.url}"
        web = stack.enter_context(web_process(shop, DATABASE_REPLICA_URLS=urls, **NO_EDGE))
        before = web.reads()
        web.name(shop.shops[0])
        assert web.reads() == before + 1


def test_behind_pgbouncer_it_holds_too(shop, tmp_path):
    folders = [tmp_path / name for name in ("primary", "replica")]
    for folder in folders:
        folder.mkdir(mode=0o755)
    script = ONE_WHO_WROTE.replace("SHOPS", repr(shop.shops)).replace("REPLICA_URL", repr(shop.replica.url))
    with pooled(shop.primary.url, folders[0]) as primary, pooled(shop.replica.url, folders[1]) as replica:
        found = shop.shell(
            script,
            STOREFRONT_PGBOUNCER="1",
            DATABASE_URL=primary,
            DATABASE_DIRECT_URL=shop.primary.url,
            DATABASE_REPLICA_URLS=replica,
        )
    new = "Written during the pause"
    assert found == [200, 1, 1, 2, [new, 2], new]

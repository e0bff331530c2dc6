"""The measurements on one prepared database: with answers cached in memory, and without."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from urllib.parse import quote

import orjson

from benchmarks import bars, shop
from benchmarks.measuring import Bench, Case, Durations, EmptyApp
from benchmarks.prepared import DOMAIN, FOLDER, STOREFRONT, Prepared, delete_carts
from benchmarks.processes import Broken, Cores, free_port, serving
from benchmarks.report import Row

LIST = "/api/v1/products?per_page=24"
CATEGORIES = "/api/v1/categories"
CART = "/api/v1/cart"
JSON = {"Content-Type": "application/json"}
# Products of a page that an integration reads, and how many such pages are compared.
LARGE, COMPARED = 100, 100
# How many deep pages are read at random, and how many pages of 24 a shopper goes through.
DEEP, BROWSED = 100, 40
# Below this size, start-up is too much of an import's time, and its first quarter too short to compare memory.
LONG_IMPORT = 100_000


@dataclass(frozen=True)
class Plan:
    """The plan of measurements: everything for the largest of `sizes`, the others for comparison. `reading` is the
    maximum time of reading pages in order, in seconds; after `limit` seconds, no measurement is started."""

    sizes: tuple[int, ...]
    durations: Durations
    reading: float
    limit: float


class TimeUp(Broken):
    """The plan's time limit is reached."""


@dataclass(frozen=True)
class Session:
    """What all sections share: the empty application, cores, plan, deadline, and callbacks for rows and failures."""

    empty_app: EmptyApp
    cores: Cores
    plan: Plan
    add_row: Callable[[Row], None]
    add_failure: Callable[[str], None]
    deadline: float

    def check_deadline(self) -> None:
        """Raises TimeUp after the deadline."""
        if time.monotonic() > self.deadline:
            raise TimeUp


@contextmanager
def serve(prepared: Prepared, session: Session, *, edge: bool) -> Iterator[Bench]:
    """The service on this database, with one web process and no background worker."""
    port = free_port()
    environment = prepared.environment | ({} if edge else {"STOREFRONT_EDGE_CACHE_BYTES": "0"})
    command = [STOREFRONT, "serve", "--port", str(port), "--workers", "1", "--no-worker"]
    log = FOLDER / "serve.log"
    with serving(command, core=session.cores.server, port=port, environment=environment, log=log) as server:
        bench = Bench(prepared, server, session.empty_app, session.cores, session.plan.durations)
        # Lets every thread open its database connection before the measurements.
        bench.load(Case("", LIST), None, seconds=1)
        # And has the filters' index of a large shop read, which otherwise goes on in the background for a minute.
        bench.client.time("/products?stock=1", headers={"Host": DOMAIN})
        yield bench


WHAT = {"import": "import", "update": "update that changes nothing", "export": "export"}


def import_rows(prepared: Prepared) -> list[Row]:
    """The rows of the import that filled the database, possibly in an earlier run, and of an update and an export."""
    rows = [
        Row(
            what=f"{WHAT[name]}, products a second",
            database=prepared.database,
            products=prepared.size,
            per_second=found.products / found.seconds,
            memory=found.resident,
            bar=bars.FILES[name] if found.products >= LONG_IMPORT else None,
            note=f"{found.products:,} products in {found.seconds:.0f} s, on {found.at}",
        )
        for name, found in prepared.runs.items()
    ]
    found = prepared.runs["import"]
    memory_row = Row(
        what="import, its own memory",
        database=prepared.database,
        products=prepared.size,
        memory=found.own_peak,
        compared=found.own_peak / found.own_early,
        bar=bars.FLAT,
    )
    return [*rows, memory_row] if found.products >= LONG_IMPORT else rows


def with_memory(prepared: Prepared, session: Session) -> None:
    """Measure answers from memory, carts, an integration that reads everything, and the memory after all of it."""
    try:
        with serve(prepared, session, edge=True) as bench:
            cached_reads(bench, measuring(bench, session))
            carts(bench, measuring(bench, session))
            read_everything(bench, session)
            soak(bench, session)
            measure_memory(bench, session, "memory after all this, edge on")
    finally:
        delete_carts(prepared)


def cached_reads(bench: Bench, measure: Callable[[Case], Row | None]) -> None:
    """Measure reads that are answered from memory."""
    listed = bench.probe(Case("list", LIST))
    first = orjson.loads(listed.body)["data"][0]["id"]
    conditional = {"If-None-Match": listed.header("ETag")}
    measure(Case("list of 24, from memory", LIST, bars.FROM_MEMORY))
    measure(Case("single, from memory", f"/api/v1/products/{first}", bars.FROM_MEMORY))
    measure(Case("categories, from memory", CATEGORIES, bars.FROM_MEMORY))
    measure(Case("list of 24, 304", LIST, bars.NOT_MODIFIED, headers=conditional, status=304))


def without_memory(prepared: Prepared, session: Session) -> Row | None:
    """Measure answers from the database, with the edge's cache off; returns the row of the first list."""
    with serve(prepared, session, edge=False) as bench:
        measure = measuring(bench, session)
        bench.client.warm_up(browsed(bench), seconds=10)
        first = measure(Case("list of 24, first page", LIST, bars.LIST))
        measure(Case("list of 24, pages 1 to 40", LIST, bars.LIST, turns=browsed(bench)))
        measure(Case("list of 24, of a category", LIST, bars.LIST, turns=by_category(bench)))
        measure(Case("single", singles(bench)[0], bars.SINGLE, turns=singles(bench)))
        with failures_reported(session, "deep pages"):
            deep_pages(bench, session)
        words = [f"{LIST}&q={quote(word)}" for word in shop.search_words(prepared.size, 2000)]
        measure(Case("q of 3 letters and more", words[0], bars.SEARCH, turns=words, connections=1))
        measure_memory(bench, session, "memory after all this, edge off")
    return first


def measuring(bench: Bench, session: Session) -> Callable[[Case], Row | None]:
    """A function that measures a case and adds its row, or adds a failure and returns None."""

    def measure(case: Case) -> Row | None:
        session.check_deadline()
        with failures_reported(session, f"{case.what}, {bench.prepared.database}, {bench.prepared.size:,}"):
            row = bench.measure(case)
            session.add_row(row)
            return row
        return None

    return measure


@contextmanager
def failures_reported(session: Session, what: str) -> Iterator[None]:
    """Add a failure instead of raising Broken or OSError, so that other measurements continue."""
    try:
        yield
    except TimeUp:
        raise
    except (Broken, OSError) as error:
        session.add_failure(f"{what}: {error}")


def carts(bench: Bench, measure: Callable[[Case], Row | None]) -> None:
    bodies, token = sellable(bench)
    add = Case("POST cart, new line, new cart", CART, bars.ADD, "POST", JSON, bodies, connections=4, status=201)
    measure(add)
    measure(replace(add, what="the same, 16 clients", bar=bars.MANY_ADD, connections=16))
    measure(Case("GET cart", CART, bars.CART, headers={"X-Cart-Token": token}, connections=4))


def sales(prepared: Prepared, session: Session) -> None:
    """Measure commits that change stocks. SQLite, which has one writer at a time, has no bar."""
    session.check_deadline()
    command = [sys.executable, "-m", "benchmarks.commits", str(session.plan.durations.seconds)]
    environment = prepared.environment | {"DJANGO_SETTINGS_MODULE": "storefront.server.settings"}
    cores = partial(os.sched_setaffinity, 0, {session.cores.server, session.cores.load})
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False, preexec_fn=cores
    )
    if finished.returncode:
        raise Broken(f"benchmarks.commits: {finished.stderr[-500:]}")
    row = Row(what="sales that change a stock, 16 clients", database=prepared.database, products=prepared.size)
    row.per_second, row.bar = float(finished.stdout), None if prepared.database == "SQLite" else bars.SALES
    session.add_row(row)


def sellable(bench: Bench) -> tuple[list[str], str]:
    """Bodies that add a product to a cart, and the token of a cart with one. Raises Broken if none can be added."""
    found, token = [], ""
    for product in orjson.loads(bench.client.ask(f"/api/v1/products?per_page={LARGE}").body)["data"]:
        body = orjson.dumps({"product_id": product["id"], "qty": 1}).decode()
        answer = bench.client.ask(CART, method="POST", headers=JSON, body=body)
        if answer.status.startswith("201"):
            found.append(body)
            token = orjson.loads(answer.body)["cart_token"]
    if not found:
        raise Broken("no product can be put into a cart")
    return found, token


def page(number: int) -> str:
    return f"/api/v1/products?per_page={LARGE}&page={number}"


def read_everything(bench: Bench, session: Session) -> None:
    """Read every page of 100 in order, like an integration, and compare the first pages with the last.

    If the time is up, skips to the last pages and notes it in the row.
    """
    last = last_page(bench)
    compared = min(COMPARED, last // 4)
    if compared < 10:
        return
    session.check_deadline()
    bench.client.warm_up(map(page, range(1, 11)), seconds=5)
    first = bench.read_in_order(f"pages of {LARGE} in order, 1 to {compared}", list(map(page, range(1, compared + 1))))
    session.add_row(first)
    deadline, reached = time.monotonic() + session.plan.reading, compared
    while reached < last - compared and time.monotonic() < deadline:
        reached += 1
        bench.client.time(page(reached))
    note = ""
    if reached < last - compared:
        note = f"read in order to page {reached:,}, then on from page {last - compared:,}, since time was up"
        bench.client.time(page(last - compared))
    tail = list(map(page, range(last - compared + 1, last + 1)))
    end = bench.read_in_order(f"pages of {LARGE} in order, {tail_of(last, compared)}", tail)
    end.bar, end.note = bars.IN_ORDER, note
    end.compared = max(ratio(end.p50, first.p50), ratio(end.cpu, first.cpu))
    session.add_row(end)


def tail_of(last: int, compared: int) -> str:
    return f"{last - compared + 1:,} to {last:,}"


def ratio(now: float | None, then: float | None) -> float:
    """The first time divided by the second. Raises Broken if one of them was not measured."""
    if not now or not then:
        raise Broken("there is nothing to compare with")
    return now / then


def last_page(bench: Bench) -> int:
    return int(orjson.loads(bench.client.ask(page(1)).body)["last_page"])


def deep_pages(bench: Bench, session: Session) -> None:
    """Measure random pages of 100, except from the beginning, compared with the first page."""
    last = last_page(bench)
    if last < 40:
        return
    session.check_deadline()
    first = bench.read_in_order("page 1 of 100", [page(1)] * 20)
    random = Random(shop.SEED)
    paths = [page(random.randint(last // 10 + 1, last)) for _ in range(DEEP)]
    began = time.monotonic()
    bench.client.time(paths[0])
    # If a page takes seconds, only a few are read.
    count = max(10, min(DEEP, int(session.plan.reading / 4 / (time.monotonic() - began))))
    row = bench.read_in_order(f"pages of {LARGE}, at random", paths[:count])
    row.bar, row.compared = bars.DEEP, ratio(row.p50, first.p50)
    session.add_row(row)


def soak(bench: Bench, session: Session) -> None:
    """Read lists, categories, single products and searches once each, to fill the memory before it is measured."""
    words = [f"{LIST}&q={quote(word)}" for word in shop.search_words(bench.prepared.size)]
    with failures_reported(session, "reading all sorts of things"):
        bench.client.warm_up([*browsed(bench), *by_category(bench), *singles(bench), *words], session.plan.reading / 4)


def measure_memory(bench: Bench, session: Session, what: str) -> None:
    memory = bench.server.memory()
    row = bench.row(what)
    row.memory, row.bar = memory.resident, bars.MEMORY
    row.note = f"{memory.own:.0f} MiB are the process's own, the rest are files it maps"
    session.add_row(row)


def browsed(bench: Bench) -> list[str]:
    pages = min(BROWSED, max(1, bench.prepared.size // 24))
    return [f"{LIST}&page={number}" for number in range(1, pages + 1)]


def by_category(bench: Bench) -> list[str]:
    found = orjson.loads(bench.client.ask(CATEGORIES).body)["data"]
    return [f"{LIST}&category={quote(category['slug'])}" for category in found if category["products_count"]][:200]


def singles(bench: Bench) -> list[str]:
    """Paths of single products from different parts of the list."""
    last = last_page(bench)
    pages = {1, last // 4 + 1, last // 2 + 1}
    found = [row for number in sorted(pages) for row in orjson.loads(bench.client.ask(page(number)).body)["data"]]
    return [f"/api/v1/products/{row['id']}" for row in found]


def against_smallest(row: Row, smallest: Row) -> Row:
    """The row that compares the list of the largest shop with that of the smallest."""
    return Row(
        what="the same, to the smallest shop",
        database=row.database,
        products=row.products,
        compared=ratio(row.cpu, smallest.cpu),
        bar=bars.ANY_SIZE,
        note=f"{ratio(row.cpu, smallest.cpu):.2f} times the CPU of a shop of {smallest.products:,}",
    )


def measure_all(shops: Sequence[Prepared], session: Session) -> None:
    """Measure every shop of one database, the smallest first."""
    smallest: Row | None = None
    for prepared in shops:
        session.check_deadline()
        for row in import_rows(prepared):
            session.add_row(row)
        is_largest = prepared is shops[-1]
        with failures_reported(session, f"{prepared.database}, {prepared.size:,}"):
            if is_largest:
                with_memory(prepared, session)
                with failures_reported(session, f"sales, {prepared.database}"):
                    sales(prepared, session)
            first = without_memory(prepared, session)
            if first and smallest and is_largest:
                session.add_row(against_smallest(first, smallest))
            smallest = smallest or first

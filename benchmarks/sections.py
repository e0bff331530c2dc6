"""What is measured of one prepared database: with the answers kept in memory, and without."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from urllib.parse import quote

import orjson

from benchmarks import bars, shop
from benchmarks.measuring import Bench, Case, Effort, Floor
from benchmarks.prepared import FOLDER, STOREFRONT, Prepared, forget_carts
from benchmarks.processes import Broken, Cores, free_port, serving
from benchmarks.report import Row

LIST = "/api/v1/products?per_page=24"
CATEGORIES = "/api/v1/categories"
CART = "/api/v1/cart"
JSON = {"Content-Type": "application/json"}
# Products of a page that an integration reads, and how many such pages are compared.
LARGE, COMPARED = 100, 100
# How many deep pages are read at random, and how many pages a shopper's list of 24 goes on for.
DEEP, BROWSED = 100, 40
# An import of fewer products is mostly its start, or has no quarter in which it runs steadily.
LONG_IMPORT, STEADY_IMPORT = 20_000, 100_000


@dataclass(frozen=True)
class Plan:
    """How much is measured, the largest of `sizes` whole and the others for comparison. `reading` bounds, in seconds,
    how long pages are read in order; after `limit` nothing more is begun."""

    sizes: tuple[int, ...]
    effort: Effort
    reading: float
    limit: float


class TimeUp(Broken):
    """The plan's time is over."""


@dataclass(frozen=True)
class Place:
    """Where a section is measured, and what it tells as it goes."""

    floor: Floor
    cores: Cores
    plan: Plan
    tell: Callable[[Row], None]
    lament: Callable[[str], None]
    deadline: float

    def go_on(self) -> None:
        """Raises TimeUp where nothing more may be begun."""
        if time.monotonic() > self.deadline:
            raise TimeUp


@contextmanager
def benched(prepared: Prepared, place: Place, *, edge: bool) -> Iterator[Bench]:
    """The service on this database, with one web process and no background worker."""
    port = free_port()
    environment = prepared.environment | ({} if edge else {"STOREFRONT_EDGE_CACHE_BYTES": "0"})
    command = [STOREFRONT, "serve", "--port", str(port), "--workers", "1", "--no-worker"]
    log = FOLDER / "serve.log"
    with serving(command, core=place.cores.server, port=port, environment=environment, log=log) as server:
        bench = Bench(prepared, server, place.floor, place.cores, place.plan.effort)
        # Every thread has its connection to the database before anything is measured.
        bench.load(Case("", LIST), None, seconds=1)
        yield bench


def imported(prepared: Prepared) -> list[Row]:
    """The import that filled the database, which may have been in an earlier run."""
    found = prepared.imported
    row = Row(
        what="import, products a second",
        database=prepared.database,
        products=prepared.size,
        per_second=found.products / found.seconds,
        memory=found.resident,
        bar=bars.IMPORT if found.products >= LONG_IMPORT else None,
        note=f"{found.products:,} products in {found.seconds:.0f} s, on {found.at}",
    )
    grown = Row(
        what="import, its own memory",
        database=prepared.database,
        products=prepared.size,
        memory=found.own_peak,
        compared=found.own_peak / found.own_early,
        bar=bars.FLAT,
    )
    return [row, grown] if found.products >= STEADY_IMPORT else [row]


def with_memory(prepared: Prepared, place: Place) -> None:
    """Answers from memory, carts, an integration that reads everything, and what all of it leaves resident."""
    try:
        with benched(prepared, place, edge=True) as bench:
            repeated(bench, measuring(bench, place))
            carts(bench, measuring(bench, place))
            read_everything(bench, place)
            soak(bench, place)
            tell_memory(bench, place, "memory after all this, edge on")
    finally:
        forget_carts(prepared)


def repeated(bench: Bench, measure: Callable[[Case], Row | None]) -> None:
    """Reads that were asked before."""
    listed = bench.probe(Case("list", LIST))
    first = orjson.loads(listed.body)["data"][0]["id"]
    known = {"If-None-Match": listed.header("ETag")}
    measure(Case("list of 24, from memory", LIST, bars.FROM_MEMORY))
    measure(Case("single, from memory", f"/api/v1/products/{first}", bars.FROM_MEMORY))
    measure(Case("categories, from memory", CATEGORIES, bars.FROM_MEMORY))
    measure(Case("list of 24, 304", LIST, bars.NOT_MODIFIED, headers=known, status=304))


def without_memory(prepared: Prepared, place: Place) -> Row | None:
    """Answers from the database, with nothing kept between requests by the edge; the row of the first list."""
    with benched(prepared, place, edge=False) as bench:
        measure = measuring(bench, place)
        bench.client.touch(browsed(bench), seconds=10)
        first = measure(Case("list of 24, first page", LIST, bars.LIST))
        measure(Case("list of 24, pages 1 to 40", LIST, bars.LIST, turns=browsed(bench)))
        measure(Case("list of 24, of a category", LIST, bars.LIST, turns=by_category(bench)))
        measure(Case("single", singles(bench)[0], bars.SINGLE, turns=singles(bench)))
        with survived(place, "deep pages"):
            deep_pages(bench, place)
        words = [f"{LIST}&q={quote(word)}" for word in shop.search_words(prepared.size, 2000)]
        measure(Case("q of 3 letters and more", words[0], bars.SEARCH, turns=words, connections=1))
        tell_memory(bench, place, "memory after all this, edge off")
    return first


def measuring(bench: Bench, place: Place) -> Callable[[Case], Row | None]:
    """Measures a case and tells its row; one that does not work is told too, and the others go on."""

    def measure(case: Case) -> Row | None:
        place.go_on()
        with survived(place, f"{case.what}, {bench.prepared.database}, {bench.prepared.size:,}"):
            row = bench.measure(case)
            place.tell(row)
            return row
        return None

    return measure


@contextmanager
def survived(place: Place, what: str) -> Iterator[None]:
    try:
        yield
    except TimeUp:
        raise
    except (Broken, OSError) as error:
        place.lament(f"{what}: {error}")


def carts(bench: Bench, measure: Callable[[Case], Row | None]) -> None:
    bodies, token = sellable(bench)
    add = Case("POST cart, new line, new cart", CART, bars.ADD, "POST", JSON, bodies, connections=4, status=201)
    measure(add)
    measure(Case("GET cart", CART, bars.CART, headers={"X-Cart-Token": token}, connections=4))


def sellable(bench: Bench) -> tuple[list[str], str]:
    """Bodies that add a product to a cart, and the token of a cart that has one. Raises Broken where none is taken."""
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


def read_everything(bench: Bench, place: Place) -> None:
    """Every page of 100 in order, as an integration does; the first and the last ones are compared.

    Where that takes too long, it goes on at the last ones, and says so.
    """
    last = last_page(bench)
    compared = min(COMPARED, last // 4)
    if compared < 10:
        return
    place.go_on()
    bench.client.touch(map(page, range(1, 11)), seconds=5)
    first = bench.read_in_order(f"pages of {LARGE} in order, 1 to {compared}", list(map(page, range(1, compared + 1))))
    place.tell(first)
    deadline, reached = time.monotonic() + place.plan.reading, compared
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
    end.compared = max(slower(end.p50, first.p50), slower(end.cpu, first.cpu))
    place.tell(end)


def tail_of(last: int, compared: int) -> str:
    return f"{last - compared + 1:,} to {last:,}"


def slower(now: float | None, then: float | None) -> float:
    """How many times as much. Raises Broken where one of them is not known."""
    if not now or not then:
        raise Broken("there is nothing to compare with")
    return now / then


def last_page(bench: Bench) -> int:
    return int(orjson.loads(bench.client.ask(page(1)).body)["last_page"])


def deep_pages(bench: Bench, place: Place) -> None:
    """Pages of 100 from anywhere but the beginning, compared with the first page."""
    last = last_page(bench)
    if last < 40:
        return
    place.go_on()
    first = bench.read_in_order("page 1 of 100", [page(1)] * 20)
    random = Random(shop.SEED)
    paths = [page(random.randint(last // 10 + 1, last)) for _ in range(DEEP)]
    began = time.monotonic()
    bench.client.time(paths[0])
    # A page that takes seconds is read a few times only.
    fitting = max(10, min(DEEP, int(place.plan.reading / 4 / (time.monotonic() - began))))
    row = bench.read_in_order(f"pages of {LARGE}, at random", paths[:fitting])
    row.bar, row.compared = bars.DEEP, slower(row.p50, first.p50)
    place.tell(row)


def soak(bench: Bench, place: Place) -> None:
    """All that the memory must bear as well: lists, categories, single reads and searches, each once more."""
    words = [f"{LIST}&q={quote(word)}" for word in shop.search_words(bench.prepared.size)]
    with survived(place, "reading all sorts of things"):
        bench.client.touch([*browsed(bench), *by_category(bench), *singles(bench), *words], place.plan.reading / 4)


def tell_memory(bench: Bench, place: Place, what: str) -> None:
    memory = bench.server.memory()
    row = bench.row(what)
    row.memory, row.bar = memory.resident, bars.MEMORY
    row.note = f"{memory.own:.0f} MiB are the process's own, the rest are files it maps"
    place.tell(row)


def browsed(bench: Bench) -> list[str]:
    pages = min(BROWSED, max(1, bench.prepared.size // 24))
    return [f"{LIST}&page={number}" for number in range(1, pages + 1)]


def by_category(bench: Bench) -> list[str]:
    found = orjson.loads(bench.client.ask(CATEGORIES).body)["data"]
    return [f"{LIST}&category={quote(category['slug'])}" for category in found if category["products_count"]][:200]


def singles(bench: Bench) -> list[str]:
    """By id, of products from all over the list."""
    last = last_page(bench)
    pages = {1, last // 4 + 1, last // 2 + 1}
    found = [row for number in sorted(pages) for row in orjson.loads(bench.client.ask(page(number)).body)["data"]]
    return [f"/api/v1/products/{row['id']}" for row in found]


def against_smallest(row: Row, smallest: Row) -> Row:
    """The list of the largest shop beside that of the smallest."""
    return Row(
        what="the same, to the smallest shop",
        database=row.database,
        products=row.products,
        compared=slower(row.cpu, smallest.cpu),
        bar=bars.ANY_SIZE,
        note=f"{slower(row.cpu, smallest.cpu):.2f} times the CPU of a shop of {smallest.products:,}",
    )


def measure_all(shops: Sequence[Prepared], place: Place) -> None:
    """Every shop of one database, the smallest first."""
    smallest: Row | None = None
    for prepared in shops:
        place.go_on()
        for row in imported(prepared):
            place.tell(row)
        is_largest = prepared is shops[-1]
        with survived(place, f"{prepared.database}, {prepared.size:,}"):
            if is_largest:
                with_memory(prepared, place)
            first = without_memory(prepared, place)
            if first and smallest and is_largest:
                place.tell(against_smallest(first, smallest))
            smallest = smallest or first

"""The edge's memory has a bound in bytes, lets go of what was used least recently, and bears many threads."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from django.db import connections

from storefront.catalogue import actions
from storefront.kit import clock
from storefront.server.edge import canonical
from storefront.server.memory import Memory
from tests.catalogue.factories import make_product
from tests.server.edges import Asked
from tests.shops.factories import make_token


@dataclass(eq=False)
class Value:
    size: int


def test_the_least_recently_used_goes_first():
    memory: Memory[Value] = Memory(30)
    values = {name: Value(10) for name in "abc"}
    for name, value in values.items():
        memory.put(name, value)
    assert memory.get("a") is values["a"]
    memory.put("d", Value(10))
    assert [name for name in "abcd" if memory.get(name)] == ["a", "c", "d"]
    assert (memory.size, memory.evictions) == (30, 1)


def test_what_is_larger_than_all_of_it_is_not_kept():
    memory: Memory[Value] = Memory(30)
    memory.put("a", Value(10))
    memory.put("b", Value(31))
    assert memory.get("b") is None
    assert memory.get("a") is not None


def test_what_grows_pushes_others_out():
    memory: Memory[Value] = Memory(30)
    a, b = Value(10), Value(15)
    memory.put("a", a)
    memory.put("b", b)
    memory.grow("b", b, 10)
    assert (memory.get("a"), memory.get("b"), memory.size) == (None, b, 25)
    # Replaced meanwhile: the one that grew is nobody's any more.
    memory.put("b", Value(5))
    memory.grow("b", b, 10)
    assert memory.size == 5


def test_dropping_leaves_what_took_the_place():
    memory: Memory[Value] = Memory(30)
    old, new = Value(10), Value(10)
    memory.put("a", old)
    memory.put("a", new)
    memory.drop("a", old)
    assert (memory.get("a"), memory.size) == (new, 10)
    memory.drop("a", new)
    assert (memory.get("a"), memory.size) == (None, 0)


@pytest.fixture
def token(transactional_db, shop):
    for number in range(3):
        make_product(shop, f"Mug {number}", description="Clay. " * 500)
    return make_token(shop, "read_products")


def test_many_different_questions_stay_within_the_bound(token):
    asked = Asked(capacity=100_000)
    for number in range(60):
        asked.ask(f"/products?q=mug&page={number + 1}", token)
        asked.ask(f"/products?per_page={number + 1}", token, Accept_Encoding="gzip")
        assert asked.edge.counters()["bytes"] <= 100_000
    counters = asked.edge.counters()
    assert counters["evictions"] > 0
    assert counters["misses"] == 120
    assert 0 < counters["entries"] < 60


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_what_it_counts_is_what_it_holds(token, encoding):
    """Large answers and small ones, with all of Python's objects around them: at most what is counted, mostly that."""
    asked = Asked(capacity=10_000_000)
    canonical.cache_clear()
    tracemalloc.start()
    try:
        for number in range(40):
            asked.ask(f"/products?per_page={number + 1}", token, Accept_Encoding=encoding)
            asked.ask(f"/products?page={number + 10}", token, Accept_Encoding=encoding)
        counted, before = asked.edge.counters()["bytes"], tracemalloc.get_traced_memory()[0]
        asked.edge.memory.clear()
        canonical.cache_clear()
        held = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert counted / 2 < held <= counted, (held, counted)


def test_zero_remembers_nothing(token):
    asked = Asked(capacity=0)
    asked.ask("/products", token)
    assert not asked.is_hit("/products", token)
    assert asked.edge.counters() == {"hits": 0, "misses": 2, "evictions": 0, "entries": 0, "bytes": 0}


def test_threads_that_read_while_others_write_see_what_is_committed(shop, token):
    """Each reader sees names in the order in which they were written, and the last one at the end."""
    asked = Asked(capacity=60_000)
    mug = make_product(shop, "Written")
    names = [f"Name {number:03}" for number in range(40)]
    done: list[bool] = []

    def write() -> None:
        try:
            for name in names:
                actions.update_product(shop=shop, product=mug, now=clock.now(), name=name)
        finally:
            done.append(True)
            connections.close_all()

    def read(path: str) -> list[str]:
        seen = []
        try:
            while not done:
                committed = len(seen)
                answer = asked.ask(path, token, Accept_Encoding="gzip" if committed % 2 else "identity")
                assert answer.status_code == 200
                if not committed % 2:
                    seen.append(answer.json["data"]["name"])
                else:
                    seen.append(seen[-1])
            seen.append(asked.ask(path, token).json["data"]["name"])
            return seen
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read, f"/products/{mug.pk}") for _ in range(4)]
        pool.submit(write).result()
        for reader in readers:
            seen = [name for name in reader.result() if name in names]
            assert seen == sorted(seen)
            assert seen[-1] == names[-1]
    assert asked.edge.memory.size == sum(value.size for value in asked.edge.memory._held.values())

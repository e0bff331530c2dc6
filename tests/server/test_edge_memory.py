"""The edge's cache is bounded in bytes, evicts the least recently used entry, and is thread-safe."""

import gzip
import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from threading import Event

import pytest
from django.db import connections

from storefront.catalogue import actions
from storefront.kit import clock
from storefront.server.edge.edge import canonical_target
from storefront.server.edge.memory import MemoryCache
from tests.catalogue.factories import make_product
from tests.server.edges import EdgeClient
from tests.shops.factories import make_token

pytestmark = [pytest.mark.any_database, pytest.mark.slow]


@dataclass(eq=False)
class Value:
    size: int


def test_the_least_recently_used_entry_is_evicted_first():
    cache: MemoryCache[Value] = MemoryCache(30)
    values = {name: Value(10) for name in "abc"}
    for name, value in values.items():
        cache.put(name, value)
    assert cache.get("a") is values["a"]
    cache.put("d", Value(10))
    assert [name for name in "abcd" if cache.get(name)] == ["a", "c", "d"]
    assert cache.size == 30


def test_a_value_larger_than_the_capacity_is_not_kept():
    cache: MemoryCache[Value] = MemoryCache(30)
    cache.put("a", Value(10))
    cache.put("b", Value(31))
    assert cache.get("b") is None
    assert cache.get("a") is not None


def test_a_growing_value_evicts_others():
    cache: MemoryCache[Value] = MemoryCache(30)
    a, b = Value(10), Value(15)
    cache.put("a", a)
    cache.put("b", b)
    cache.grow("b", b, 10)
    assert (cache.get("a"), cache.get("b"), cache.size) == (None, b, 25)
    # A value that was replaced before it grew no longer counts.
    cache.put("b", Value(5))
    cache.grow("b", b, 10)
    assert cache.size == 5


def test_drop_leaves_a_newer_value():
    cache: MemoryCache[Value] = MemoryCache(30)
    old, new = Value(10), Value(10)
    cache.put("a", old)
    cache.put("a", new)
    cache.drop("a", old)
    assert (cache.get("a"), cache.size) == (new, 10)
    cache.drop("a", new)
    assert (cache.get("a"), cache.size) == (None, 0)


@pytest.fixture
def token(transactional_db, shop):
    for number in range(3):
        make_product(shop, f"Mug {number}", description="Clay. " * 500)
    return make_token(shop, "read_products")


def test_many_different_requests_stay_within_the_capacity(token):
    asked = EdgeClient(capacity=100_000)
    for number in range(60):
        asked.ask(f"/products?q=mug&page={number + 1}", token)
        asked.ask(f"/products?per_page={number + 1}", token, Accept_Encoding="gzip")
        assert asked.edge.cache.size <= 100_000
    assert asked.misses == 120
    assert 0 < len(asked.edge.cache) < 60


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_the_counted_size_matches_the_memory_used(token, encoding):
    """Compares the counted size with the memory that Python allocates for the entries."""
    asked = EdgeClient(capacity=10_000_000)
    canonical_target.cache_clear()
    tracemalloc.start()
    try:
        for number in range(40):
            asked.ask(f"/products?per_page={number + 1}", token, Accept_Encoding=encoding)
            asked.ask(f"/products?page={number + 10}", token, Accept_Encoding=encoding)
        counted, before = asked.edge.cache.size, tracemalloc.get_traced_memory()[0]
        asked.edge.cache.clear()
        canonical_target.cache_clear()
        held = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert counted / 2 < held <= counted, (held, counted)


def test_capacity_zero_caches_nothing(token):
    asked = EdgeClient(capacity=0)
    asked.ask("/products", token)
    assert not asked.is_hit("/products", token)
    assert (asked.hits, asked.misses, len(asked.edge.cache), asked.edge.cache.size) == (0, 2, 0, 0)


def test_concurrent_readers_see_committed_writes(shop, token):
    """Whoever asks after a write has returned gets what it wrote, or what was written since."""
    asked = EdgeClient(capacity=60_000)
    mug = make_product(shop, "Name 000")
    names = [f"Name {number:03}" for number in range(41)]
    written, has_ended = [names[0]], Event()

    def write() -> None:
        try:
            for name in names[1:]:
                actions.update_product(shop=shop, product=mug, now=clock.now(), name=name)
                written.append(name)
        finally:
            has_ended.set()
            connections.close_all()

    def read() -> None:
        try:
            for encoding in cycle(["identity", "gzip"]):
                is_last, before = has_ended.is_set(), written[-1]
                answer = asked.ask(f"/products/{mug.pk}", token, Accept_Encoding=encoding)
                body = gzip.decompress(answer.data) if answer.content_encoding else answer.data
                assert before <= json.loads(body)["data"]["name"] <= names[-1]
                if is_last:
                    return
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        pool.submit(write).result()
        for reader in readers:
            reader.result()
    assert written == names
    assert asked.edge.cache.size == sum(value.size for value in asked.edge.cache._entries.values())

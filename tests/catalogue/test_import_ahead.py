"""A large file is read in a process of its own; what comes of it is the same."""

import os
import signal
from itertools import count

import orjson
import pytest

from storefront.catalogue import importing, reading
from storefront.catalogue.delimited import UnreadableFile
from storefront.catalogue.models import Product
from tests.shops.factories import NOW

LINES = [
    {"name": f"Mug {n}", "price": "9.50", "categories": [f"Cups > C{n % 3}"], "media": ["https://a.example/m.png"]}
    | ({"price": "nine"} if n == 7 else {})
    | ({"variants": [{"option_values": {"Colour": "Blue"}, "price": "9.00"}]} if n % 5 == 0 else {})
    for n in range(25)
]


@pytest.fixture(autouse=True)
def a_process_for_every_file(monkeypatch):
    monkeypatch.setattr(reading, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(reading, "BATCH", 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def records(work):
    """What reading gives out, each record with the process that read it."""
    return ((os.getpid(), work(number)) for number in count())


def test_the_same_comes_of_it(shop, tmp_path):
    (tmp_path / "file").write_bytes(b"\n".join(map(orjson.dumps, LINES)))
    told = []
    report = importing.import_products(
        shop=shop, file=tmp_path / "file", now=NOW, progress=lambda *position: told.append(position)
    )
    assert report.counts() == {"created": 24, "updated": 0, "skipped": 0, "failed": 1}
    assert [(problem.line, problem.column) for problem in report.problems] == [(8, "price")]
    assert Product.objects.get(shop=shop, slug="mug-5").variants.get().option_values == {"Colour": "Blue"}
    assert told == sorted(told)
    assert len(told) == 8


def test_it_is_another_process():
    with reading.read_ahead(records(int), lambda: 0, 1) as batches:
        batch, _ = next(batches)
    assert [number for _, number in batch] == [0, 1, 2, 3]
    assert {pid for pid, _ in batch}.isdisjoint({os.getpid()})


def test_what_reading_raises_is_raised_after_what_was_read():
    def work(number: int) -> int:
        if number == 6:
            raise UnreadableFile("The file is neither UTF-8, UTF-16 nor Windows-1252; expected UTF-8.")
        return number

    with reading.read_ahead(records(work), lambda: 0, 1) as batches:
        assert len(next(batches)[0]) == 4
        with pytest.raises(UnreadableFile, match="expected UTF-8"):
            next(batches)


def test_a_reader_that_is_killed_is_no_end_of_the_file():
    def work(number: int) -> int:
        if number == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with reading.read_ahead(records(work), lambda: 0, 1) as batches:
        next(batches)
        with pytest.raises(RuntimeError, match="ended before the file"):
            next(batches)


def test_the_reader_ends_with_whoever_takes():
    def interrupted() -> None:
        with reading.read_ahead(records(int), lambda: 0, 1) as batches:
            pids.update(pid for pid, _ in next(batches)[0])
            raise KeyboardInterrupt

    pids: set[int] = set()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

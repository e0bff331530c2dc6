"""A large file is read in a separate process, with the same result."""

import os
import signal
from itertools import count

import orjson
import pytest

from storefront.catalogue.models import Product
from storefront.product_files import importing, read_ahead
from storefront.product_files.csv_reading import UnreadableFile
from tests.shops.factories import NOW

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

LINES = [
    {"name": f"Mug {n}", "price": "9.50", "categories": [f"Cups > C{n % 3}"], "media": ["https://a.example/m.png"]}
    | ({"price": "nine"} if n == 7 else {})
    | ({"variants": [{"option_values": {"Colour": "Blue"}, "price": "9.00"}]} if n % 5 == 0 else {})
    for n in range(25)
]


@pytest.fixture(autouse=True)
def a_process_for_every_file(monkeypatch):
    monkeypatch.setattr(read_ahead, "MIN_BYTES_FOR_A_PROCESS", 0)
    monkeypatch.setattr(read_ahead, "BATCH_PRODUCTS", 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def items(work):
    """Endless items, each with the id of the process that read it."""
    return ((os.getpid(), work(number)) for number in count())


def test_the_import_has_the_same_result(shop, tmp_path):
    (tmp_path / "file").write_bytes(b"\n".join(map(orjson.dumps, LINES)))
    progress = []
    report = importing.import_products(
        shop=shop, file=tmp_path / "file", now=NOW, progress=lambda read, size, _: progress.append((read, size))
    )
    assert report.counts() == {"created": 24, "updated": 0, "skipped": 0, "failed": 1, "conflicts": 0}
    assert [(problem.line, problem.column) for problem in report.problems] == [(8, "price")]
    assert Product.objects.get(shop=shop, slug="mug-5").variants.get().option_values == {"Colour": "Blue"}
    assert progress == sorted(progress)
    assert len(progress) == 8


def test_the_file_is_read_in_another_process():
    with read_ahead.read_batches(items(int), lambda: 0, 1) as batches:
        batch, _ = next(batches)
    assert [number for _, number in batch] == [0, 1, 2, 3]
    assert {pid for pid, _ in batch}.isdisjoint({os.getpid()})


def test_an_error_of_reading_is_raised_after_the_earlier_batches():
    def work(number: int) -> int:
        if number == 6:
            raise UnreadableFile("The file is neither UTF-8, UTF-16 nor Windows-1252; expected UTF-8.")
        return number

    with read_ahead.read_batches(items(work), lambda: 0, 1) as batches:
        assert len(next(batches)[0]) == 4
        with pytest.raises(UnreadableFile, match="expected UTF-8"):
            next(batches)


def test_a_killed_reader_is_not_the_end_of_the_file():
    def work(number: int) -> int:
        if number == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with read_ahead.read_batches(items(work), lambda: 0, 1) as batches:
        next(batches)
        with pytest.raises(RuntimeError, match="stopped before the end of the file"):
            next(batches)


def test_the_reader_ends_with_the_receiving_block():
    def interrupted() -> None:
        with read_ahead.read_batches(items(int), lambda: 0, 1) as batches:
            pids.update(pid for pid, _ in next(batches)[0])
            raise KeyboardInterrupt

    pids: set[int] = set()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

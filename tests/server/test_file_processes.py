"""Imports run in processes of their own: one that is made to hurt ends alone, and another shop's starts at once."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.server.programs import running, storefront, wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

UPLOAD = """
from django.core.files import File
from storefront.kit import clock
from storefront.product_files.models import ProductImport
from storefront.product_files.jobs import run_product_import
from storefront.shops.models import Shop
shop = Shop.objects.get(domain={domain!r})
row = ProductImport(shop=shop, file_name="products.csv", created_at=clock.now())
with open({path!r}, "rb") as file:
    row.file.save("products.csv", File(file))
run_product_import.enqueue(shop.pk, row.pk)
"""
STATES = """
import json
from django_tasks_db.models import DBTaskResult
from storefront.product_files.models import ProductImport
for row in ProductImport.objects.order_by("pk"):
    ended = row.finished_at and row.finished_at.timestamp()
    print(json.dumps([row.shop.domain, row.state, row.created, row.failed, row.reason, ended]))
print(json.dumps([[row.status, len(row.worker_ids)] for row in DBTaskResult.objects.filter(queue_name="files")]))
"""
HEADER = "Name,SKU,Regular price\n"
# Each line opens a quotation mark that no line closes.
HOSTILE = HEADER + 'a","\n' * 8_000_000


def shell(environment: dict[str, str], script: str) -> list:
    done = storefront("shell", "--no-imports", "-c", script, **environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def shops(deployment) -> dict[str, str]:
    for name in ("a", "b"):
        address = f"{name}.example.com"
        made = storefront(
            "createshop", "--domain", address, "--name", name, "--base-url", f"https://{address}", **deployment
        )
        assert made.returncode == 0, made.stderr
    return deployment


def upload(environment: dict[str, str], path: Path, shop: str, text: str) -> None:
    path.write_text(text)
    shell(environment, UPLOAD.format(domain=f"{shop}.example.com", path=str(path)))


def file_processes() -> list[int]:
    """Process ids of imports and exports, oldest first."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cmdline").read_bytes().startswith(b"storefront file"):
                found.append(int(folder.name))
        except OSError:
            continue
    return sorted(found)


def test_another_shops_import_starts_at_once_and_a_killed_one_ends_clearly(shops, tmp_path):
    """A kill is an end, with what was imported, and is not tried again."""
    upload(shops, tmp_path / "hostile.csv", "a", HOSTILE)
    with running("worker", log=tmp_path / "worker.log", **shops) as worker:
        wait_until(file_processes, what="the first import", process=worker)
        upload(shops, tmp_path / "small.csv", "b", HEADER + "Mug,M-1,9.50\n")

        def states() -> list:
            return shell(shops, STATES)

        found = wait_until(
            lambda: (s := states()) and s[1][1] == "done" and s, what="the other shop's import", process=worker
        )
        assert found[1][:4] == ["b.example.com", "done", 1, 0]
        assert found[0][1] == "running"
        os.kill(file_processes()[0], signal.SIGKILL)
        found = wait_until(lambda: (s := states()) and s[0][1] == "failed" and s, what="the end", process=worker)
    assert found[0][4] == (
        "The import was stopped, because it was killed, perhaps because the machine ran out of memory. Until then, "
        "0 products are new and 0 changed, which are kept. Split the file."
    )
    assert sorted(found[2]) == [["FAILED", 1], ["SUCCESSFUL", 1]]


BOUNDED = """
import json
from storefront.server.worker.file_process import bound_memory
bound_memory()
try:
    bytearray(300_000_000)
except MemoryError:
    print(json.dumps("bounded"))
"""


def test_the_memory_of_such_a_process_is_bounded(deployment):
    assert shell(deployment | {"STOREFRONT_FILE_BYTES": "268435456"}, BOUNDED) == ["bounded"]


@pytest.mark.parametrize("is_whole_group", [False, True])
def test_a_worker_that_stops_gives_an_import_back(shops, tmp_path, is_whole_group):
    """Also where all its processes get the signal, as systemd sends it by default."""
    upload(shops, tmp_path / "hostile.csv", "a", HOSTILE)
    with running("worker", log=tmp_path / "worker.log", **shops) as worker:
        wait_until(file_processes, what="the import", process=worker)
        (os.killpg if is_whole_group else os.kill)(worker.pid, signal.SIGTERM)
        assert worker.wait(timeout=60) == 0
        assert shell(shops, STATES)[-1] == [["READY", 1]]
        assert file_processes() == []

"""`storefront importproducts` and `exportproducts`, as scripts see them: stdout, stderr, exit code."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest
from django.core.management import call_command

from storefront.server.command import Failed
from storefront.server.management.commands import exportproducts
from tests.databases import database
from tests.product_files.files import as_csv, woo

pytestmark = [pytest.mark.any_database, pytest.mark.proof]


@pytest.fixture(scope="module")
def storefront(migrated, tmp_path_factory) -> Iterator[Callable[..., subprocess.CompletedProcess]]:
    """Runs the script on a database of its own, with one shop in it."""
    with database(tmp_path_factory.mktemp("commands"), copied_from=migrated) as variables:

        def run(*arguments: str) -> subprocess.CompletedProcess:
            command = [sys.executable, "-m", "storefront.server.cli", *arguments]
            environment = variables | {"PATH": ""}
            return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

        run("createshop", "--domain", "shop.example.com", "--name", "S", "--base-url", "https://shop.example.com")
        yield run


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mugs.csv").write_text(as_csv([woo(sku="A", stock="-1"), woo(sku="B", regular_price="ten")]))
    return str(tmp_path / "mugs.csv")


def test_import_dry_run_export_and_again(storefront, file, tmp_path):
    dry = storefront("importproducts", "--shop", "shop.example.com", file, "--dry-run")
    assert (dry.returncode, [json.loads(line) for line in dry.stdout.splitlines()]) == (
        1,
        [
            {"line": 2, "change": "create", "name": "Mug"},
            {"created": 1, "updated": 0, "skipped": 0, "failed": 1, "conflicts": 0},
        ],
    )
    done = storefront("importproducts", "--shop", "shop.example.com", file)
    assert (done.returncode, json.loads(done.stdout)) == (
        1,
        {"created": 1, "updated": 0, "skipped": 0, "failed": 1, "conflicts": 0},
    )
    assert done.stderr.splitlines() == [
        "error: line 3, Regular price: expected a number, found 'ten'",
        "warning: line 2, Stock: stock -1 was imported as 0, because backorders are not allowed",
    ]
    for format in ("native", "woocommerce", "shopify"):
        target = str(tmp_path / format)
        written = storefront("exportproducts", "--shop", "shop.example.com", "--format", format, target)
        assert (written.returncode, json.loads(written.stdout)) == (0, {"exported": 1})
        again = storefront("importproducts", "--shop", "shop.example.com", target, "--update")
        assert (again.returncode, json.loads(again.stdout)["skipped"], again.stderr) == (0, 1, "")
    shown = storefront("exportproducts", "--shop", "shop.example.com")
    assert json.loads(shown.stdout)["name"] == "Mug"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["importproducts", "--shop", "nowhere.example.com", "FILE"], "No shop has the domain nowhere.example.com."),
        (["importproducts", "--shop", "shop.example.com", "missing.csv"], "There is no file missing.csv."),
        (["importproducts", "--shop", "shop.example.com", "README.md"], "The "),
        (["importproducts", "FILE"], "--shop"),
        (["exportproducts", "--shop", "nowhere.example.com"], "No shop has the domain nowhere.example.com."),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_2(storefront, file, arguments, sentence):
    done = storefront(*[file if each == "FILE" else each for each in arguments])
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_target_that_cannot_be_written(storefront, tmp_path):
    done = storefront("exportproducts", "--shop", "shop.example.com", str(tmp_path / "no" / "folder"))
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_export_that_fails_leaves_the_old_file_and_no_other(shop, tmp_path, monkeypatch):
    target = tmp_path / "products.jsonl"
    target.write_text("as it was")

    def broken(*, out, **_given) -> int:
        out.write("half of")
        raise KeyboardInterrupt

    monkeypatch.setattr(exportproducts, "export_products", broken)
    with pytest.raises(KeyboardInterrupt):
        call_command("exportproducts", str(target), shop=shop.domain)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("products.jsonl", "as it was")]


@pytest.mark.parametrize("target", [[], ["products.jsonl"]], ids=["stdout", "file"])
def test_a_killed_process_of_an_export_is_a_sentence(shop, tmp_path, monkeypatch, target):
    def broken(**_given) -> int:
        raise BrokenProcessPool("killed")

    monkeypatch.setattr(exportproducts, "export_products", broken)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(Failed, match="A process of the export was killed"):
        call_command("exportproducts", *[str(tmp_path / name) for name in target], shop=shop.domain)
    assert list(tmp_path.iterdir()) == []


def test_a_large_export_by_several_processes_is_whole_and_in_order(storefront, tmp_path):
    products = [{"name": f"Mug {n}", "slug": f"mug-{n}", "price": "9.00", "tags": [str(n)]} for n in range(20_500)]
    file, target = tmp_path / "many.jsonl", tmp_path / "exported.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in products))
    storefront("createshop", "--domain", "large.example.com", "--name", "L", "--base-url", "https://large.example.com")
    assert storefront("importproducts", "--shop", "large.example.com", str(file)).returncode == 0
    written = storefront("exportproducts", "--shop", "large.example.com", str(target))
    assert (written.returncode, json.loads(written.stdout), written.stderr) == (0, {"exported": 20_500}, "")
    exported = [json.loads(line) for line in target.read_text().splitlines()]
    assert [{name: each[name] for name in products[0]} for each in exported] == products
    again = storefront("importproducts", "--shop", "large.example.com", str(target), "--update")
    assert (json.loads(again.stdout)["skipped"], again.stderr) == (20_500, "")


def test_a_report_lists_what_was_skipped_and_what_is_in_conflict(storefront, tmp_path):
    report = tmp_path / "report.csv"
    for sku, name in (("A-1", "Apple"), ("A-1", "Apple"), ("B-9", "Bicycle")):
        file = tmp_path / f"{name}.csv"
        file.write_text(as_csv([woo(id="1001", sku=sku, name=name)]))
        done = storefront("importproducts", "--shop", "shop.example.com", str(file), "--report", str(report))
        if name == "Apple":
            assert done.returncode == 0
    counts = {"created": 0, "updated": 0, "skipped": 0, "failed": 0, "conflicts": 1}
    assert (done.returncode, json.loads(done.stdout)) == (1, counts)
    assert done.stderr.startswith("conflict: line 2, ID 1001: ID 1001 is “Apple”")
    lines = report.read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "line,key,what,reason"
    assert lines[1].startswith("2,ID 1001,conflict,")

    named = storefront("importproducts", "--shop", "shop.example.com", str(file), "--source", "bikes")
    assert json.loads(named.stdout)["created"] == 1
    again = ["importproducts", "--shop", "shop.example.com", str(file), "--report", str(report)]
    assert (storefront(*again).returncode, storefront(*again).stderr) == (0, "")
    assert report.read_text(encoding="utf-8-sig").splitlines()[1:] == [
        '2,ID 1001,skipped,"“Bicycle” (bicycle, SKU B-9) is in the shop already"'
    ]
    refused = storefront("importproducts", "--shop", "shop.example.com", str(file), "--report", str(tmp_path))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "cannot be written: Is a directory" in refused.stderr


def test_an_encoding_can_be_stated_and_a_detected_one_is_said(storefront, tmp_path):
    file = tmp_path / "cups.csv"
    file.write_bytes(as_csv([woo(sku="R", name="Кружка для кофе") | {"Categorys": "x"}]).encode("cp1251"))
    found = storefront("importproducts", "--shop", "shop.example.com", str(file), "--dry-run")
    assert json.loads(found.stdout.splitlines()[0])["name"] == "Кружка для кофе"
    assert found.stderr.splitlines() == [
        "note: line 1: Read as windows-1251. If texts look wrong, state the encoding.",
        'warning: line 1, Categorys: is not a known column; not imported. Did you mean "Categories"?',
    ]
    stated = storefront("importproducts", "--shop", "shop.example.com", str(file), "--dry-run", "--encoding", "koi8-r")
    assert json.loads(stated.stdout.splitlines()[0])["name"] != "Кружка для кофе"
    wrong = storefront("importproducts", "--shop", "shop.example.com", str(file), "--encoding", "klingon")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Unknown encoding klingon; expected such as utf-8 or windows-1251." in wrong.stderr


def test_a_device_or_a_pipe_is_written_to_and_not_replaced(storefront, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as threads:
        read = threads.submit(pipe.read_text)
        done = storefront("exportproducts", "--shop", "shop.example.com", str(pipe))
        assert done.returncode == 0, done.stderr
        lines = read.result(30).splitlines()
    assert len(lines) == json.loads(done.stdout)["exported"]
    assert pipe.is_fifo()
    folder = storefront("exportproducts", "--shop", "shop.example.com", str(tmp_path))
    assert (folder.returncode, folder.stdout) == (1, "")
    assert "cannot be written: Is a directory" in folder.stderr


def test_an_export_says_on_stderr_what_its_format_cannot_hold(storefront, tmp_path):
    shop = ("--shop", "gifts.example.com")
    storefront("createshop", "--domain", shop[1], "--name", "G", "--base-url", "https://gifts.example.com")
    given = [{"name": name, "price": "9.50", "is_gift_card": True, "noindex": True} for name in ("Mug", "Jug")]
    (tmp_path / "gifts").write_text("".join(json.dumps(each) + "\n" for each in given))
    storefront("importproducts", *shop, str(tmp_path / "gifts"))
    shown = storefront("exportproducts", *shop, "--format", "woocommerce")
    assert [line for line in shown.stderr.splitlines() if line] == [
        "Not in the file, because WooCommerce has no place for it: Gift card (2 products).",
        "Not in the file, because WooCommerce has no place for it: Hide from search engines (2 products).",
    ]
    assert "no place" not in shown.stdout
    assert storefront("exportproducts", *shop).stderr == ""

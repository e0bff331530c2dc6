"""Archives that are broken, or made to do harm, change nothing: no row, and no file."""

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from storefront.catalogue.models import Product
from storefront.kit.refusals import InvalidFields
from storefront.server.archive import reading
from storefront.server.archive.rows import digest_of
from storefront.server.archive.tables import all_tables, every_row
from storefront.server.command import Failed
from tests.server.archive.shops import fill
from tests.server.archive.test_copies import COPY, export, run

pytestmark = pytest.mark.slow


def state(folder: Path) -> tuple:
    tables = {table._meta.label: digest_of(every_row(table, using="default")).value for table in all_tables()}
    return tables, sorted(str(path) for path in folder.rglob("*") if path.is_file() and path.suffix != ".zip")


@pytest.fixture
def archive(shop, storages):
    fill(shop)
    return export(shop, storages / "shop.zip")


def refused(path: Path, folder: Path, *arguments: str) -> str:
    """The sentence with which an archive is refused. Nothing may have changed."""
    before = state(folder)
    with pytest.raises((Failed, InvalidFields)) as error:
        run("importshop", path, *(arguments or COPY))
    assert state(folder) == before
    return str(getattr(error.value, "errors", None) or error.value)


def rewrite(path: Path, change) -> Path:
    """A copy of the archive whose entries, by name, `change` has changed; with digests and sizes that fit."""
    with zipfile.ZipFile(path) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    change(entries)
    manifest = json.loads(entries["manifest.json"])
    for name, part in {**manifest["tables"], "": manifest["files"]}.items():
        content = entries.get(f"tables/{name}.jsonl" if name else "files.jsonl", b"")
        part |= {"size": len(content), "lines": content.count(b"\n"), "sha256": hashlib.sha256(content).hexdigest()}
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path.with_name("changed.zip"), "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in entries.items():
            target.writestr(name, content)
    return path.with_name("changed.zip")


def edit(label: str, column: str, value):
    """Set a column of the first row of a table."""

    def change(entries):
        columns = json.loads(entries["manifest.json"])["tables"][label]["columns"]
        first, *others = entries[f"tables/{label}.jsonl"].splitlines()
        row = json.loads(first)
        row[columns.index(column)] = value
        entries[f"tables/{label}.jsonl"] = b"".join(line + b"\n" for line in [json.dumps(row).encode(), *others])

    return change


def edit_file(**values):
    """Set members of the first file of the list."""

    def change(entries):
        first, *others = entries["files.jsonl"].splitlines()
        changed = json.dumps(json.loads(first) | values).encode()
        entries["files.jsonl"] = b"".join(line + b"\n" for line in [changed, *others])

    return change


def edit_manifest(**values):
    def change(entries):
        entries["manifest.json"] = json.dumps(json.loads(entries["manifest.json"]) | values).encode()

    return change


def test_refuses_what_is_no_archive(archive, storages):
    other = storages / "other.zip"
    assert "cannot be read" in refused(storages / "none.zip", storages)
    other.write_bytes(b"PK no archive")
    assert "no ZIP file" in refused(other, storages)
    with zipfile.ZipFile(other, "w") as empty:
        empty.writestr("readme.txt", "hello")
    assert "no manifest.json" in refused(other, storages)


@pytest.mark.parametrize("kept", [0.2, 0.9, 0.999])
def test_refuses_a_part_of_an_archive(archive, storages, kept):
    part = storages / "part.zip"
    shutil.copy(archive, part)
    os.truncate(part, int(archive.stat().st_size * kept))
    assert "no ZIP file" in refused(part, storages)


def test_refuses_any_changed_byte_of_content(archive, storages):
    with zipfile.ZipFile(archive) as source:
        places = [(entry.filename, entry.header_offset) for entry in source.infolist() if entry.file_size > 10]
    for name, offset in places[:: len(places) // 8]:
        content = bytearray(archive.read_bytes())
        # After the header and the name.
        content[offset + 30 + len(name) + 24] ^= 0xFF
        (storages / "flipped.zip").write_bytes(content)
        refused(storages / "flipped.zip", storages)


@pytest.mark.parametrize("name", ["tables/catalogue.Product.jsonl", "files.jsonl"])
def test_refuses_lines_that_are_not_those_of_the_manifest(archive, storages, name):
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(storages / "changed.zip", "w") as target:
        for entry in source.namelist():
            content = source.read(entry)
            target.writestr(entry, content.replace(b"mug", b"rug") if entry == name else content)
    assert f"{name} was changed after the export" in refused(storages / "changed.zip", storages)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (edit_manifest(version=2), "of a later release"),
        (edit_manifest(format="other"), "not that of an archive"),
        (edit_manifest(migrations={"shops": "0001"}), "another release"),
        (lambda entries: entries.pop("files.jsonl"), "files.jsonl is missing"),
        (lambda entries: entries.pop("tables/shops.Shop.jsonl"), "shops.Shop.jsonl is missing"),
        (lambda entries: entries.update({"../evil": b"x"}), "an entry that is not listed"),
        (lambda entries: entries.update({"tables/shops.User.jsonl": b"[1]\n"}), "an entry that is not listed"),
        (edit_file(name="../../evil.png"), "describes no file"),
        (edit_file(name="/etc/evil.png"), "describes no file"),
        (edit_file(name="products/../../evil.png"), "describes no file"),
        (edit_file(name="products\\evil.png"), "not in a folder"),
        (edit_file(name="static/evil.png"), "not in a folder"),
        (edit_file(storage="pictures", name="products/evil.html"), "not a picture"),
        (edit_file(storage="private", name=f"downloads/{'a' * 300}"), "cannot be stored"),
        (edit_file(size=3), "was changed after"),
        (edit_file(entry="manifest.json"), "missing or listed twice"),
        (edit_file(entry="files/77"), "missing or listed twice"),
        (edit("catalogue.Product", "id", "1"), "do not ascend"),
        (edit("catalogue.Product", "brand_id", 4711), "catalogue.Product, brand_id"),
        (edit("catalogue.Product", "price", "cheap"), "catalogue.Product, price"),
        (edit("catalogue.Product", "stock_qty", "many"), "catalogue.Product, stock_qty"),
        (edit("catalogue.Product", "stock_qty", 1 << 63), "cannot be stored"),
        (edit("catalogue.Product", "publish_at", "0001-01-01T00:00:00+23:00"), "cannot be stored"),
        (edit("shops.Shop", "currency", 978), "cannot be stored"),
        (edit("orders.Order", "customer_id", 4711), "orders.Order, customer_id"),
        (edit("orders.OrderLine", "qty", -5), "expected another value."),
        (edit("orders.OrderLine", "stock_taken", "x"), "cannot be stored"),
        (edit("orders.Order", "placed_at", None), "cannot be stored"),
        (edit("shops.Shop", "timezone", "Nowhere"), ""),
        (lambda entries: entries.update({"tables/shops.Shop.jsonl": b""}), "does not have one shop"),
        (lambda entries: entries.update({"tables/orders.Order.jsonl": b"{}\n"}), "is not a list of"),
        (lambda entries: entries.update({"tables/orders.Order.jsonl": b"[1"}), "does not end"),
    ],
)
def test_refuses_a_made_up_archive(archive, storages, change, why):
    assert why in refused(rewrite(archive, change), storages)


def test_a_row_cannot_name_another_shop(archive, other_shop, storages):
    """There is one shop in an archive, and its rows are the copy's whatever they name."""
    run("importshop", rewrite(archive, edit("catalogue.Product", "shop_id", other_shop.pk)), *COPY)
    assert not Product.objects.filter(shop=other_shop).exists()
    assert Product.objects.filter(shop__domain="copy.example.com").count() == Product.objects.count() / 2


def test_refuses_content_that_is_far_larger_than_the_file(archive, storages, monkeypatch):
    monkeypatch.setattr(reading, "MAX_SMALL_BYTES", 1 << 20)
    bomb = rewrite(archive, lambda entries: entries.update({"files.jsonl": b" " * (200 << 20)}))
    assert "far larger" in refused(bomb, storages)


def test_refuses_an_entry_twice(archive, storages):
    with zipfile.ZipFile(archive, "a") as target, pytest.warns(UserWarning, match="Duplicate"):
        target.writestr("manifest.json", b"{}")
    assert "twice" in refused(archive, storages)


def test_refuses_a_domain_that_is_taken(archive, shop, storages):
    taken = refused(archive, storages, "--domain", shop.domain, "--base-url", "https://copy.example.com")
    assert "already has the domain" in taken

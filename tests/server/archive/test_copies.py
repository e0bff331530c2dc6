"""A copy of a shop by `exportshop` and `importshop`."""

import io
import json
import os
import stat
from pathlib import Path

import pytest
from django.core.management import call_command

from storefront.content.models import Page
from storefront.kit.refusals import InvalidFields
from storefront.orders.models import OrderLine
from storefront.server.archive import exporting
from storefront.server.archive.contents import archived_tables
from storefront.server.command import Failed
from storefront.server.verifying import deviations
from storefront.shops import quotas
from storefront.shops.models import Shop
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.server.archive.shops import content, digests, fill
from tests.shops.factories import NOW

COPY = ("--domain", "copy.example.com", "--base-url", "https://copy.example.com")


def run(command: str, *arguments: object) -> tuple[dict, str]:
    """What a command prints: its result, and its messages."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


def export(shop: Shop, path: Path) -> Path:
    run("exportshop", "--shop", shop.domain, "--output", path)
    return path


@pytest.mark.slow
def test_a_copy_has_the_content_of_its_original_and_verifies(filled, other_shop, tmp_path):
    first = content(export(filled, tmp_path / "first.zip"))
    before = digests(filled, other_shop)
    run("importshop", tmp_path / "first.zip", *COPY)
    assert digests(filled, other_shop) == before
    copy = Shop.objects.get(domain="copy.example.com")
    second = content(export(copy, tmp_path / "second.zip"))
    for rows in (first, second):
        for name in ("domain", "base_url", "created_at", "updated_at"):
            del rows["shops.Shop"][0][name]
    assert {label: rows for label, rows in second.items() if rows != first[label]} == {}
    filled_tables = [label for label, rows in first.items() if rows]
    assert len(filled_tables) > 40, sorted({t._meta.label for t in archived_tables()} - set(filled_tables))
    assert list(deviations(copy)) == []


@pytest.mark.slow
def test_a_file_that_cannot_be_read_is_named(filled, tmp_path):
    (picture,) = (path for path in (tmp_path / "media").rglob("mug.png"))
    picture.unlink()
    # A socket, since for root there is no file that may not be read.
    os.mknod(picture, stat.S_IFSOCK | 0o600)
    with pytest.raises(Failed, match=r"mug.png cannot be read; nothing was exported: No such device"):
        export(filled, tmp_path / "shop.zip")
    assert not (tmp_path / "shop.zip").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../private/secret", "/etc/passwd", f"products/{'a' * 300}", "products"])
def test_a_picture_of_an_order_leads_to_no_other_file(filled, tmp_path, name):
    """Its URL can be one that a merchant's product file had."""
    before = run("exportshop", "--shop", filled.domain, "--output", tmp_path / "first.zip")[0]
    (tmp_path / "private" / "secret").write_text("secret")
    line = OrderLine.objects.filter(shop=filled).exclude(image__contains="/media/")[0]
    OrderLine.objects.filter(pk=line.pk).update(image=f"{filled.base_url}/media/{name}")
    after = run("exportshop", "--shop", filled.domain, "--output", tmp_path / "second.zip")[0]
    assert (after["files"], after["files_missing"]) == (before["files"], before["files_missing"] + 1)


@pytest.mark.slow
def test_files_of_the_copy_count_in_its_quota(filled, tmp_path, settings):
    settings.QUOTAS = settings.QUOTAS | {"files": 1}
    run("importshop", export(filled, tmp_path / "shop.zip"), *COPY)
    copy = Shop.objects.get(domain="copy.example.com")
    sizes = [path.stat().st_size for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".zip"]
    # Two shops and the copy have the same files.
    assert quotas.used("files", shop_id=copy.pk, now=NOW) == sum(sizes) // 3 > 0
    with pytest.raises(quotas.QuotaReached):
        quotas.use("files", shop_id=copy.pk, now=NOW)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_copies_at_once_do_not_mix(shop, storages):
    """Two under different domains, and one of two under the same; the original sells meanwhile."""
    fill(shop)
    path = export(shop, storages / "shop.zip")

    def copy(domain: str):
        return lambda: run("importshop", path, "--domain", domain, "--base-url", f"https://{domain}")

    def sell() -> None:
        mug = shop.products.get(name="Mug")
        make_order(shop, sale_line(mug))

    made = run_concurrently(
        copy("a.example.com"), copy("b.example.com"), copy("b.example.com"), sell, refusal=(Failed, InvalidFields)
    )
    assert sum(isinstance(each, Failed | InvalidFields) for each in made) == 1
    copies = list(Shop.objects.exclude(pk=shop.pk).order_by("domain"))
    assert [each.domain for each in copies] == ["a.example.com", "b.example.com"]
    for each in [shop, *copies]:
        assert list(deviations(each)) == []
    first, second = (content(export(each, storages / f"{each.pk}.zip")) for each in copies)
    assert {label for label, rows in first.items() if rows != second[label]} == {"shops.Shop"}
    # Nothing is left of the files of the refused one.
    names = [path.name for path in (storages / "media").rglob("mug*.png")]
    assert len(names) == 3


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_archive_is_of_one_moment(shop, storages, monkeypatch):
    """An order that is placed while the tables are read is in none of them."""
    fill(shop)
    orders, read = shop.orders.count(), exporting.archived_rows

    def selling(table, of):
        found = read(table, of)
        if table is Page:
            run_concurrently(lambda: make_order(shop, sale_line(shop.products.get(name="Mug"))))
        return found

    monkeypatch.setattr(exporting, "archived_rows", selling)
    rows = content(export(shop, storages / "shop.zip"))
    assert (shop.orders.count(), len(rows["orders.Order"])) == (orders + 1, orders)
    assert len(rows["orders.OrderLine"]) == sum(order.lines.count() for order in shop.orders.all()) - 1

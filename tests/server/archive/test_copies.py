"""A copy of a shop by `exportshop` and `importshop`."""

import io
import json
from pathlib import Path

from django.core.management import call_command

from storefront.server.archive.contents import archived_tables
from storefront.server.verifying import deviations
from storefront.shops.models import Shop
from tests.server.archive.shops import content, digests

COPY = ("--domain", "copy.example.com", "--base-url", "https://copy.example.com")


def run(command: str, *arguments: object) -> tuple[dict, str]:
    """What a command prints: its result, and its messages."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=err)
    return json.loads(out.getvalue()), err.getvalue()


def export(shop: Shop, path: Path) -> Path:
    run("exportshop", "--shop", shop.domain, "--output", path)
    return path


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

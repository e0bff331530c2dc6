"""Helpers to write and import product files, and to find the real ones in ../shared/data."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from storefront.product_files.exporting import export_products
from storefront.product_files.importing import Report, import_products
from storefront.shops.models import Shop
from tests.shops.factories import NOW

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
WOOCOMMERCE = ("ID", "Type", "SKU", "Name", "Published", "In stock?", "Stock", "Regular price")


def header(text: str) -> list[str]:
    """The columns of a header row without quotes."""
    return text.split(",")


def real_file(name: str) -> Path:
    if not (REAL / name).is_file():
        pytest.skip(f"{REAL / name} is not there; the import of real shops' files is NOT tested")
    return REAL / name


def as_csv(rows: list[dict[str, str]], separator: str = ",", line_end: str = "\n") -> str:
    """The rows as CSV text, below a header of all their columns."""
    header = list(dict.fromkeys(column for row in rows for column in row))
    text = io.StringIO()
    table = csv.DictWriter(
        text, header, delimiter=separator, lineterminator=line_end, restval="", quoting=csv.QUOTE_ALL
    )
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def imported(shop: Shop, content: str | bytes | list[dict], path: Path, **given) -> Report:
    """Import the text, bytes, or rows as CSV; `path` is a folder to write into."""
    file = path / "products"
    if isinstance(content, list):
        content = as_csv(content)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return import_products(shop=shop, file=file, **{"now": NOW, **given})


def exported(shop: Shop, format: str = "native") -> str:
    out = io.StringIO(newline="")
    export_products(shop=shop, format=format, out=out)
    return out.getvalue()


def after_batch(number: int, action: Callable[[], object]) -> Callable[[int, int], None]:
    """A `progress` that does the action once, when this many batches are imported."""
    batches: list[int] = []

    def progress(done: int, total: int, report: object) -> None:
        batches.append(done)
        if len(batches) == number:
            action()

    return progress


def zipped(name: str) -> bytes:
    """A ZIP archive with a file of this name, such as a workbook is."""
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr(name, "")
    return content.getvalue()


def as_lines(*products: dict) -> str:
    return "".join(json.dumps(product) + "\n" for product in products)


def woo(**given: str) -> dict[str, str]:
    """A row of a WooCommerce file; names of columns are given in lower case with underscores."""
    titles = {"id": "ID", "sku": "SKU", "in_stock": "In stock?", "backorders_allowed": "Backorders allowed?"}
    row = {"ID": "", "Type": "simple", "SKU": "", "Name": "Mug", "Published": "1", "Regular price": "9.50"}
    for name, value in given.items():
        row[titles.get(name, name.replace("_", " ").capitalize())] = value
    return row


def errors(report: Report) -> list[str]:
    return [str(problem) for problem in report.problems if problem.severity == "error"]


def warnings(report: Report) -> list[str]:
    return [str(problem) for problem in report.problems if problem.severity == "warning"]

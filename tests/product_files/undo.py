"""Imports a file with a journal, as the command and the worker do, and undoes it."""

from pathlib import Path

from storefront.product_files.importing import Report
from storefront.product_files.models import ProductImport
from storefront.product_files.undoing import UndoReport, undo_import
from storefront.shops.models import Shop
from tests.product_files.files import imported
from tests.shops.factories import NOW


def kept_import(shop: Shop, **given) -> ProductImport:
    return ProductImport.objects.create(shop=shop, file_name="products", created_at=NOW, **{"state": "running"} | given)


def import_kept(shop: Shop, content, path: Path, **given) -> tuple[ProductImport, Report]:
    """Import the file, keeping what it changes; returns the import, which has ended, and its report."""
    row = kept_import(shop)
    report = imported(shop, content, path, product_import=row, **{"update": True} | given)
    ProductImport.objects.filter(pk=row.pk).update(state="done", finished_at=NOW)
    row.refresh_from_db()
    return row, report


def undo(shop: Shop, row: ProductImport, **given) -> UndoReport:
    row.refresh_from_db()
    return undo_import(shop=shop, row=row, **{"now": NOW} | given)

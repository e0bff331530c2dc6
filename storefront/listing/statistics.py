"""Keeps PostgreSQL's plans good while products are imported, since autovacuum runs only once a minute."""

import structlog
from django.db import DatabaseError, connection, transaction

log = structlog.get_logger(__name__)

_COLUMNS = {
    "catalogue_product": ("shop_id", "deleted_at", "legacy_source_id", "sku", "slug"),
    "catalogue_productsearch": ("product_id",),
    "catalogue_productcategory": ("product_id",),
}
_TABLES = (
    "catalogue_product",
    "catalogue_productsearch",
    "catalogue_productcategory",
    "catalogue_searchword",
    "catalogue_variant",
    "catalogue_media",
    "catalogue_option",
    "catalogue_optionvalue",
    "catalogue_bundleitem",
)


def refresh_statistics() -> None:
    """Update the statistics of the columns by which an import finds existing rows. Does nothing on SQLite."""
    if connection.vendor == "postgresql":
        for table, columns in _COLUMNS.items():
            _run(f"ANALYZE {table} ({', '.join(columns)})")


def settle_after_import() -> None:
    """Update the statistics of all tables that an import writes, and sort its texts into the search index: until then,
    each search reads them one by one. Does nothing on SQLite."""
    if connection.vendor == "postgresql":
        for table in _TABLES:
            _run(f"ANALYZE {table}")
        _run("SELECT gin_clean_pending_list('catalogue_searchindex')")


def _run(statement: str) -> None:
    """Run the statement. Without the right to it, which only the tables' owner has, autovacuum does it later."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        log.warning("statistics_not_refreshed", statement=statement, reason=str(error).strip())

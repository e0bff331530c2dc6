# ruff: noqa: S608, the statements consist of column lists and conditions of this file.
"""Triggers that keep derived data up to date with every write to the catalogue: how many products each list has
(`ListingTotal`), which search texts are listed (`ProductSearch.listed`), on SQLite the search index; the stock
ledger (`StockAdjustment`), and past prices (`PastPrice`).

These are triggers and not Python code, because totals must stay correct with every kind of write: actions, the admin's
bulk updates, imports by COPY, an operator's SQL. A sale of stock changes no column that they watch.

`migrate` creates them after all migrations (`kit/triggers.py`). They are created again when Django remakes a table on
SQLite (`server/sqlite3`). A migration that removes a column named here drops them first: `remove(editor)`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, transaction

from storefront.catalogue.listable import listable
from storefront.kit.triggers import TriggerSet

# Columns that decide whether lists show a product, and where.
PLACED_BY = (
    "publish_at",
    "unpublish_at",
    "is_pinned",
    "sort_order",
    "created_at",
    "price",
    "sort_name",
    "is_featured",
)
# The columns of a row of the stock ledger. The cause of the change comes last (`_cause`).
LEDGER = (
    "shop_id, product_id, variant_id, of_damaged, delta, stock_after, made_at,"
    " kind, reason, reference, installation_id, token_id, user_id"
)
# A rowid of the search index contains the shop's and the product's id, so that a search reads only rows of its shop.
SHOP_BITS = 40

FILL_INDEX = (
    "INSERT INTO catalogue_searchindex (rowid, text)"
    f" SELECT (shop_id << {SHOP_BITS}) + product_id, text FROM catalogue_productsearch"
)
# Separates the statements of a file.
BREAK = "\n;;\n"
EXTENSIONS = ("pg_trgm", "btree_gin")
_P = f"({listable('p')})"


def install(editor: Any) -> None:
    """Does nothing. Migration 0002 calls it, when tables still lack columns that triggers now name."""


fill = install


def remove(editor: Any) -> None:
    """Drop the triggers. The tables and their rows stay."""
    for statement in _file(f"remove_{editor.connection.vendor}.sql").split(BREAK):
        editor.execute(statement)


def create_search_index(editor: Any) -> None:
    """Create the search index, empty on SQLite. Raises ImproperlyConfigured if PostgreSQL's extensions are missing."""
    if editor.connection.vendor == "sqlite":
        # Texts are casefolded already, hence case_sensitive. Results are not ranked, hence no column sizes. Without
        # positions, which double the cost of a text, a search looks at the texts that have all parts of a word.
        editor.execute(
            "CREATE VIRTUAL TABLE catalogue_searchindex USING fts5"
            "(text, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')"
        )
        # For imports, which write many rows at once: a larger buffer (in bytes), merged less often.
        for setting, value in (("hashsize", 8_000_000), ("automerge", 8)):
            editor.execute(
                f"INSERT INTO catalogue_searchindex (catalogue_searchindex, rank) VALUES ('{setting}', {value})"
            )
        return
    for name in EXTENSIONS:
        _create_extension(editor, name)
    editor.execute(
        "CREATE INDEX catalogue_searchindex ON catalogue_productsearch"
        " USING gin (shop_id, text gin_trgm_ops) WHERE listed"
    )


def drop_search_index(editor: Any) -> None:
    kind = "TABLE" if editor.connection.vendor == "sqlite" else "INDEX"
    editor.execute(f"DROP {kind} IF EXISTS catalogue_searchindex")


def _refill(editor: Any) -> None:
    """Recompute all derived data from the rows, while the triggers do not exist."""
    is_sqlite = editor.connection.vendor == "sqlite"
    if not is_sqlite:
        # SQLite has one writer at a time anyway.
        tables = "catalogue_product, catalogue_productcategory, catalogue_productsearch"
        editor.execute(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")
    # A random version, so that it equals none that a process has cached.
    version = "random() & 1073741823" if is_sqlite else "floor(random() * 1073741824)::bigint"
    totals = "INSERT INTO catalogue_listingtotal (shop_id, category, products, version)"
    editor.execute(
        "UPDATE catalogue_productsearch SET listed = NOT listed WHERE listed <> EXISTS (SELECT 1 FROM"
        f" catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {_P})"
    )
    if is_sqlite:
        rebuild_search_index(editor)
    open_ledger(editor)
    # Counted again, since writes without the triggers left no trace.
    for table in ("frequentword", "wordcount", "textchange", "listingtotal"):
        editor.execute(f"DELETE FROM catalogue_{table}")
    editor.execute(
        f"{totals} SELECT shop_id, category, products, {version} FROM ("
        f"SELECT p.shop_id, 0 AS category, count(*) AS products FROM catalogue_product p WHERE {_P} GROUP BY p.shop_id"
        " UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM catalogue_productcategory l"
        f" JOIN catalogue_product p ON p.id = l.product_id WHERE {_P} GROUP BY l.shop_id, l.category_id) counted"
    )


def open_ledger(editor: Any) -> None:
    """Add an opening row to the ledger of every stock that it does not explain."""
    now = "CURRENT_TIMESTAMP"
    for owner, product, variant, damaged, qty in _STOCKS:
        of_stock = f"a.product_id = {product} AND a.of_damaged = {damaged}"
        of_stock += f" AND a.variant_id = {variant}" if variant != _NONE else " AND a.variant_id IS NULL"
        last = f"SELECT a.stock_after FROM catalogue_stockadjustment a WHERE {of_stock} ORDER BY a.id DESC LIMIT 1"
        editor.execute(
            f"INSERT INTO catalogue_stockadjustment ({LEDGER}) SELECT k.shop_id, k.product, k.variant, {damaged},"
            f" k.qty - k.known, k.qty, {now}, 'opening', '', '', NULL, NULL, NULL FROM (SELECT s.shop_id, {product} AS"
            f" product, {variant} AS variant, {qty} AS qty, COALESCE(({last}), 0) AS known FROM {owner} s) k"
            " WHERE k.qty <> k.known"
        )


# PostgreSQL would read a bare NULL as a text.
_NONE = "CAST(NULL AS bigint)"
# Every stock `s`: its table, product, variant, a flag for damaged units, and its column.
_STOCKS = (
    ("catalogue_product", "s.id", _NONE, "false", "s.stock_qty"),
    ("catalogue_product", "s.id", _NONE, "true", "s.damaged_qty"),
    ("catalogue_variant", "s.product_id", "s.id", "false", "s.stock_qty"),
)


def rebuild_search_index(editor: Any) -> None:
    """Rebuild SQLite's search index from the search texts. `editor` can be a cursor: only `execute` is needed."""
    editor.execute("INSERT INTO catalogue_searchindex (catalogue_searchindex) VALUES ('delete-all')")
    editor.execute(f"{FILL_INDEX} WHERE listed ORDER BY 1")


@contextmanager
def deferred_totals(connection: Any, products: Sequence[int], *, with_texts: bool = True) -> Iterator[None]:
    """Count and index the products that the block creates, with their links and search texts, once at its end instead
    of once for each row. `products` are their ids. Without texts, on PostgreSQL, the block writes none.

    Call it in a transaction. The block must write no other rows of the catalogue.
    """
    if not products:
        yield
        return
    # As a text, so that the driver does not parse an array.
    array = f"{{{','.join(map(str, products))}}}"
    ids = {"products": array} if connection.vendor == "postgresql" else _span(products)
    with quiet(connection):
        yield
    statements = [*_TEXTS[connection.vendor], *_TOTALS[connection.vendor]]
    with connection.cursor() as cursor:
        for statement in statements if with_texts else _TOTALS[connection.vendor]:
            cursor.execute(statement, ids)


@contextmanager
def quiet(connection: Any) -> Iterator[None]:
    """Neither count nor index rows that the block adds to the catalogue. Call it in a transaction."""
    begin, end = _QUIET[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(begin)
        yield
        cursor.execute(end)


@contextmanager
def later_texts(connection: Any, *, shop: int, first: int, last: int) -> Iterator[None]:
    """Index the search texts that the block adds, of the shop's products between two ids, once at its end, on
    PostgreSQL. The caller's transaction locks the products, and knows that `listed` is right."""
    with quiet(connection):
        yield
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO catalogue_textchange (shop_id, first_product, last_product) VALUES (%s, %s, %s)",
            [shop, first, last],
        )
        cursor.execute("SELECT catalogue_note(%s, 0, 0)", [shop])


def _span(products: Sequence[int]) -> dict[str, int]:
    # SQLite has one writer at a time, so all ids between two new ones are new.
    return {"first": min(products), "last": max(products)}


# Product by product: with outdated statistics, PostgreSQL would read whole tables for each batch. OFFSET 0 keeps it
# from doing so.
_MADE = f"""
    WITH made AS MATERIALIZED (
        SELECT p.id, p.shop_id, {_P} AS listed FROM unnest(CAST(%(products)s AS bigint[])) given (id),
        LATERAL (SELECT * FROM catalogue_product WHERE id = given.id OFFSET 0) p
    )
"""
# The statements before and after.
_QUIET = {
    "sqlite": ("INSERT INTO catalogue_quiet VALUES (1)", "DELETE FROM catalogue_quiet"),
    # With a longer list of texts that the index has not sorted yet (in KiB), a second connection can sort them
    # (`listing.statistics.Upkeep`).
    "postgresql": (
        "SELECT set_config('storefront.quiet', 'on', true), set_config('gin_pending_list_limit', '65536', true)",
        "SELECT set_config('storefront.quiet', '', true)",
    ),
}
# Replaces the triggers for these products: records the changes of totals.
_TOTALS = {
    "sqlite": [
        f"""
        INSERT INTO catalogue_note SELECT p.shop_id, 0, count(*) FILTER (WHERE {_P})
        FROM catalogue_product p WHERE p.id BETWEEN %(first)s AND %(last)s GROUP BY p.shop_id
        UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM catalogue_productcategory l
        JOIN catalogue_product p ON p.id = l.product_id
        WHERE l.product_id BETWEEN %(first)s AND %(last)s AND {_P} GROUP BY l.shop_id, l.category_id
        """,
    ],
    "postgresql": [
        f"""
        {_MADE}
        SELECT catalogue_note(noted.shop_id, noted.category, noted.products) FROM (
            SELECT made.shop_id, 0 AS category, count(*) FILTER (WHERE made.listed) AS products
            FROM made GROUP BY made.shop_id
            UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM made,
            LATERAL (SELECT * FROM catalogue_productcategory WHERE product_id = made.id OFFSET 0) l
            WHERE made.listed GROUP BY l.shop_id, l.category_id
        ) noted
        """
    ],
}
_TEXT_CHANGES = (
    "INSERT INTO catalogue_textchange (shop_id, first_product, last_product)"
    " SELECT shop_id, min(product_id), max(product_id) FROM catalogue_productsearch"
)
# Replaces the triggers for their texts: indexes them, corrects a wrong `listed`, and records the change.
_TEXTS = {
    "sqlite": [
        f"{FILL_INDEX} WHERE listed AND product_id BETWEEN %(first)s AND %(last)s ORDER BY 1",
        f"""
        UPDATE catalogue_productsearch SET listed = NOT listed WHERE product_id BETWEEN %(first)s AND %(last)s
        AND listed <> EXISTS (
            SELECT 1 FROM catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {_P}
        )
        """,
        f"{_TEXT_CHANGES} WHERE product_id BETWEEN %(first)s AND %(last)s GROUP BY shop_id",
    ],
    "postgresql": [
        f"""
        {_MADE}
        UPDATE catalogue_productsearch s SET listed = made.listed FROM made
        WHERE s.product_id = made.id AND s.listed <> made.listed
        """,
        f"{_TEXT_CHANGES} WHERE product_id = ANY (CAST(%(products)s AS bigint[])) GROUP BY shop_id",
    ],
}


def _create_extension(editor: Any, name: str) -> None:
    try:
        with transaction.atomic(using=editor.connection.alias):
            editor.execute(f"CREATE EXTENSION IF NOT EXISTS {name}")
    except DatabaseError:
        raise ImproperlyConfigured(
            f"The database's search needs its extension {name}, which this database user may not create or which is "
            f"not installed. Have a superuser run CREATE EXTENSION {name}; in this database, then run "
            "storefront migrate again."
        ) from None


def statements(vendor: str) -> list[str]:
    """The statements that create the triggers and what they need, for 'sqlite' or 'postgresql'."""
    text = _file(f"install_{vendor}.sql")
    for mark, sql in {
        "LEDGER": LEDGER,
        **{f"SAID_{kind.upper()}": _cause(vendor, kind) for kind in ("created", "changed", "removed")},
        **{f"LISTABLE_{row.upper()}": f"({listable(row)})" for row in ("NEW", "OLD", "p", "n", "o")},
        "PLACED_BY": ", ".join(PLACED_BY),
        "PLACED_NEW": ", ".join(f"NEW.{column}" for column in PLACED_BY),
        "PLACED_OLD": ", ".join(f"OLD.{column}" for column in PLACED_BY),
        "PLACED_N": ", ".join(f"n.{column}" for column in PLACED_BY),
        "PLACED_O": ", ".join(f"o.{column}" for column in PLACED_BY),
        "NOT_QUIET": "current_setting('storefront.quiet', true) IS DISTINCT FROM 'on'",
        "SHOP_BITS": str(SHOP_BITS),
    }.items():
        text = text.replace(f"<{mark}>", sql)
    return text.split(BREAK)


def _cause(vendor: str, kind: str) -> str:
    """The cause of a change, as the last columns of LEDGER; `kind` without a cause."""
    texts = {"kind": kind, "reason": "", "reference": ""}
    authors = ("installation", "token", "user")
    if vendor == "sqlite":
        # The row of `catalogue_stockchange`, if there is one. The kind of a removal is always `removed`.
        recorded = "NULL" if kind == "removed" else "said.kind"
        found = [
            f"COALESCE({recorded if name == 'kind' else f'said.{name}'}, '{text}')" for name, text in texts.items()
        ]
        return ", ".join([*found, *(f"said.{name}" for name in authors)])
    found = [f"COALESCE(said ->> '{name}', '{text}')" for name, text in texts.items()]
    return ", ".join([*found, *(f"(said ->> '{name}')::bigint" for name in authors)])


def _file(name: str) -> str:
    return (files(__package__) / "trigger_sql" / name).read_text()


TRIGGERS = TriggerSet(
    app_label="catalogue",
    consequence="the totals of product lists and the search go wrong with the next product that is written",
    statements=statements,
    remove=remove,
    refill=_refill,
)

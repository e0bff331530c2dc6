# ruff: noqa: S608, what is put together here is column lists and conditions of this file.
"""What the database itself keeps in step with the catalogue, whoever writes it: how many products each list has
(`ListingTotal`), which search texts are listed (`ProductSearch.listed`), and on SQLite the search index.

Triggers and not code of ours, because totals must stay right through every way of writing: actions, the admin's
bulk updates, imports by COPY, an operator's SQL. A stock sale changes nothing that they watch.

SQLite drops a table's triggers with the table, and Django makes some changes by making a table anew. A migration that
does so to a table named here takes them down first and puts them up again: `remove(editor)`, `install(editor)`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, transaction

# What decides whether lists can show a product, and what decides where it stands in them.
LISTABLE = "({0}.status = 'active' AND {0}.deleted_at IS NULL AND NOT {0}.exclude_from_catalog)"
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
# A row of the search index is numbered by shop and product together, so that a search reads its own shop's rows only.
SHOP_BITS = 40

FILL_INDEX = (
    "INSERT INTO catalogue_searchindex (rowid, text)"
    f" SELECT (shop_id << {SHOP_BITS}) + product_id, text FROM catalogue_productsearch"
)
# What stands between two statements of a file.
BREAK = "\n;;\n"
EXTENSIONS = ("pg_trgm", "btree_gin")


def install(editor: Any) -> None:
    """Put everything up; what stands already is replaced."""
    remove(editor)
    for statement in statements(editor.connection.vendor):
        editor.execute(statement)


def remove(editor: Any) -> None:
    """Take the triggers down; tables and what they hold stay."""
    for statement in _file(f"remove_{editor.connection.vendor}.sql").split(BREAK):
        editor.execute(statement)


def create_search_index(editor: Any) -> None:
    """Make the index that `q` is answered from, empty on SQLite. Raises ImproperlyConfigured where it may not."""
    if editor.connection.vendor == "sqlite":
        # Texts come folded, so that case means nothing here; ranking is not asked for, so that no sizes are kept.
        editor.execute(
            "CREATE VIRTUAL TABLE catalogue_searchindex USING fts5"
            "(text, content='', columnsize=0, tokenize='trigram case_sensitive 1')"
        )
        # An import writes much at once: let it come together in memory (bytes), and be merged less often.
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


def fill(editor: Any) -> None:
    """Work out everything from what stands; the triggers must be down and the SQLite index empty."""
    listable = LISTABLE.format("p")
    totals = "INSERT INTO catalogue_listingtotal (shop_id, category, products, version)"
    editor.execute("DELETE FROM catalogue_listingtotal")
    editor.execute(f"{totals} SELECT p.shop_id, 0, count(*), 0 FROM catalogue_product p WHERE {listable} GROUP BY 1")
    editor.execute(
        f"{totals} SELECT l.shop_id, l.category_id, count(*), 0 FROM catalogue_productcategory l"
        f" JOIN catalogue_product p ON p.id = l.product_id WHERE {listable} GROUP BY 1, 2"
    )
    editor.execute(
        "UPDATE catalogue_productsearch SET listed = EXISTS (SELECT 1 FROM catalogue_product p"
        f" WHERE p.id = catalogue_productsearch.product_id AND {listable})"
    )
    if editor.connection.vendor == "sqlite":
        editor.execute(f"{FILL_INDEX} WHERE listed ORDER BY 1")


@contextmanager
def noted_together(connection: Any, products: Sequence[int]) -> Iterator[None]:
    """Have new products, their links and search texts noted and indexed once for all of them, where each would be by
    itself.

    Belongs into a transaction, which makes nothing else of the catalogue meanwhile.
    """
    if not products:
        yield
        return
    among = {"products": list(products)} if connection.vendor == "postgresql" else _span(products)
    with connection.cursor() as cursor:
        for statement in _QUIET[connection.vendor]:
            cursor.execute(statement)
        yield
        for statement in _LOUD[connection.vendor]:
            cursor.execute(statement, among if "%(" in statement else None)


def _span(products: Sequence[int]) -> dict[str, int]:
    # SQLite has one writer at a time, so that all between two new ids are new.
    return {"first": min(products), "last": max(products)}


_QUIET = {
    "sqlite": ["INSERT INTO catalogue_quiet VALUES (1)"],
    "postgresql": ["SELECT set_config('storefront.quiet', 'on', true)"],
}
_P = LISTABLE.format("p")
# What the triggers would have noted of these products: (shop, category, products).
_NOTES = {
    "sqlite": f"""
        SELECT p.shop_id, 0 AS category, count(*) FILTER (WHERE {_P}) AS products
        FROM catalogue_product p WHERE p.id BETWEEN %(first)s AND %(last)s GROUP BY p.shop_id
        UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM catalogue_productcategory l
        JOIN catalogue_product p ON p.id = l.product_id
        WHERE l.product_id BETWEEN %(first)s AND %(last)s AND {_P} GROUP BY l.shop_id, l.category_id
    """,
    # Product by product: where nobody has told PostgreSQL lately how large the tables are, it would read the whole of
    # them for each batch. OFFSET 0 keeps it from arriving there again.
    "postgresql": f"""
        SELECT p.shop_id, 0 AS category, count(*) FILTER (WHERE {_P}) AS products
        FROM unnest(%(products)s::bigint[]) made (id),
        LATERAL (SELECT * FROM catalogue_product WHERE id = made.id OFFSET 0) p GROUP BY p.shop_id
        UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM unnest(%(products)s::bigint[]) made (id),
        LATERAL (SELECT * FROM catalogue_product WHERE id = made.id OFFSET 0) p,
        LATERAL (SELECT * FROM catalogue_productcategory WHERE product_id = made.id OFFSET 0) l
        WHERE {_P} GROUP BY l.shop_id, l.category_id
    """,
}
# Puts right what the writer of a search text took for listed.
_LISTED = {
    "sqlite": f"""
        UPDATE catalogue_productsearch SET listed = NOT listed WHERE product_id BETWEEN %(first)s AND %(last)s
        AND listed <> EXISTS (
            SELECT 1 FROM catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {_P}
        )
    """,
    "postgresql": f"""
        UPDATE catalogue_productsearch s SET listed = NOT s.listed FROM unnest(%(products)s::bigint[]) made (id),
        LATERAL (SELECT * FROM catalogue_product WHERE id = made.id OFFSET 0) p
        WHERE s.product_id = made.id AND s.listed <> ({_P})
    """,
}
_LOUD = {
    "sqlite": [
        "DELETE FROM catalogue_quiet",
        f"{FILL_INDEX} WHERE listed AND product_id BETWEEN %(first)s AND %(last)s ORDER BY 1",
        _LISTED["sqlite"],
        f"INSERT INTO catalogue_note {_NOTES['sqlite']}",
    ],
    "postgresql": [
        "SELECT set_config('storefront.quiet', '', true)",
        _LISTED["postgresql"],
        f"SELECT catalogue_note(made.shop_id, made.category, made.products) FROM ({_NOTES['postgresql']}) made",
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
    """The statements that put everything up on this kind of database."""
    text = _file(f"install_{vendor}.sql")
    for mark, sql in {
        "LISTABLE_NEW": LISTABLE.format("NEW"),
        "LISTABLE_OLD": LISTABLE.format("OLD"),
        "LISTABLE_P": LISTABLE.format("p"),
        "LISTABLE_N": LISTABLE.format("n"),
        "LISTABLE_O": LISTABLE.format("o"),
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


def _file(name: str) -> str:
    return (files(__package__) / "trigger_sql" / name).read_text()

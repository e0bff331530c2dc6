# ruff: noqa: S608, the statements consist of column lists and conditions of this package.
"""What the catalogue needs of PostgreSQL: what its triggers use, the search index, and how imports count and index a
batch at once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, transaction

from storefront.catalogue.listable import listable

# The triggers, with what replaces marks in them.
TRIGGER_FILE = "postgresql.sql"
MARKS = {"NOT_QUIET": "current_setting('storefront.quiet', true) IS DISTINCT FROM 'on'"}
# Says what changes of stock are for, until the end of the transaction, and ends that.
DECLARE_CAUSE = "SELECT set_config('storefront.stock_change', %(said)s, true)"
CLEAR_CAUSE = "SELECT set_config('storefront.stock_change', '', true)"
# Changes a total.
NOTE = "SELECT catalogue_note(%s, %s, %s)"
# Adds the words that a shop does not have, each with its first and last letters.
ADD_WORDS = (
    "INSERT INTO catalogue_searchword (shop_id, word, head, tail, language)"
    " SELECT %s, w ->> 0, w ->> 1, w ->> 2, w ->> 3 FROM jsonb_array_elements(CAST(%s AS jsonb)) w"
    " ON CONFLICT DO NOTHING"
)
# The slugs in further languages of a row `r`, as rows `e`, and their text.
SLUGS_OF = "jsonb_each(CASE WHEN jsonb_typeof(r.translations) = 'object' THEN r.translations END) e"
SLUG = "e.value ->> 'slug'"
# The slug of a row `r` in the language of a row `s` of that table.
TRANSLATED_SLUG = "r.translations -> s.language ->> 'slug'"
# The triggers of these slugs have a function of their own.
WRITE_SLUGS = ""
RANDOM_VERSION = "floor(random() * 1073741824)::bigint"
EXTENSIONS = ("pg_trgm", "btree_gin")
_P = f"({listable('p')})"


def cause_columns(kind: str, texts: dict[str, str], authors: Sequence[str]) -> str:
    """The cause of a change as the last columns of the ledger; `texts` are the values without a cause."""
    found = [f"COALESCE(said ->> '{name}', '{text}')" for name, text in texts.items()]
    return ", ".join([*found, *(f"(said ->> '{name}')::bigint" for name in authors)])


def create_search_index(editor: Any) -> None:
    """Create the search index. Raises ImproperlyConfigured if extensions are missing."""
    for name in EXTENSIONS:
        _create_extension(editor, name)
    editor.execute(
        "CREATE INDEX catalogue_searchindex ON catalogue_productsearch"
        " USING gin (shop_id, text gin_trgm_ops) WHERE listed"
    )


def drop_search_index(editor: Any) -> None:
    editor.execute("DROP INDEX IF EXISTS catalogue_searchindex")


def rebuild_search_index(editor: Any) -> None:
    """Does nothing: it is an ordinary index, which REINDEX rebuilds."""


def lock_catalogue(editor: Any) -> None:
    """Keep others from writing to the catalogue until the end of the transaction."""
    tables = "catalogue_product, catalogue_productcategory, catalogue_productsearch"
    editor.execute(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")


@contextmanager
def deferred_totals(connection: Any, products: Sequence[int], *, with_texts: bool = True) -> Iterator[None]:
    """Count and index the products that the block creates, with their links and search texts, once at its end instead
    of once for each row. `products` are their ids. Without texts, the block writes none.

    Call it in a transaction. The block must write no other rows of the catalogue.
    """
    if not products:
        yield
        return
    with _quiet(connection):
        yield
    # As a text, so that the driver does not parse an array.
    ids = {"products": f"{{{','.join(map(str, products))}}}"}
    with connection.cursor() as cursor:
        for statement in (*_TEXTS, _TOTALS) if with_texts else (_TOTALS,):
            cursor.execute(statement, ids)


@contextmanager
def later_texts(connection: Any, *, shop: int, first: int, last: int) -> Iterator[None]:
    """Index the search texts that the block adds, of the shop's products between two ids, once at its end. The caller's
    transaction locks the products, and knows that `listed` is right."""
    with _quiet(connection):
        yield
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO catalogue_textchange (shop_id, first_product, last_product) VALUES (%s, %s, %s)",
            [shop, first, last],
        )
        cursor.execute(NOTE, [shop, 0, 0])


@contextmanager
def _quiet(connection: Any) -> Iterator[None]:
    """Neither count nor index rows that the block adds to the catalogue. Call it in a transaction."""
    with connection.cursor() as cursor:
        # With a longer list of texts that the index has not sorted yet (in KiB), a second connection can sort them
        # (`listing.statistics.Upkeep`).
        cursor.execute(
            "SELECT set_config('storefront.quiet', 'on', true), set_config('gin_pending_list_limit', '65536', true)"
        )
        yield
        cursor.execute("SELECT set_config('storefront.quiet', '', true)")


# Product by product: with outdated statistics, PostgreSQL would read whole tables for each batch. OFFSET 0 keeps it
# from doing so.
_MADE = f"""
    WITH made AS MATERIALIZED (
        SELECT p.id, p.shop_id, {_P} AS listed FROM unnest(CAST(%(products)s AS bigint[])) given (id),
        LATERAL (SELECT * FROM catalogue_product WHERE id = given.id OFFSET 0) p
    )
"""
# Replaces the triggers for these products: records the changes of totals.
_TOTALS = f"""
    {_MADE}
    SELECT catalogue_note(noted.shop_id, noted.category, noted.products) FROM (
        SELECT made.shop_id, 0 AS category, count(*) FILTER (WHERE made.listed) AS products
        FROM made GROUP BY made.shop_id
        UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM made,
        LATERAL (SELECT * FROM catalogue_productcategory WHERE product_id = made.id OFFSET 0) l
        WHERE made.listed GROUP BY l.shop_id, l.category_id
    ) noted
"""
# The same for their texts: correct `listed` where the writer of a text set it wrongly, and note the change.
_TEXTS = (
    f"""
    {_MADE}
    UPDATE catalogue_productsearch s SET listed = made.listed FROM made
    WHERE s.product_id = made.id AND s.listed <> made.listed
    """,
    "INSERT INTO catalogue_textchange (shop_id, first_product, last_product)"
    " SELECT shop_id, min(product_id), max(product_id) FROM catalogue_productsearch"
    " WHERE product_id = ANY (CAST(%(products)s AS bigint[])) GROUP BY shop_id",
)


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

# ruff: noqa: S608, the statements consist of column lists and conditions of this package.
"""What the catalogue needs of SQLite: what its triggers use, and the search index."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from storefront.catalogue.listable import listable

# A rowid of the search index contains the shop's and the product's id, so that a search reads only rows of its shop.
SHOP_BITS = 40
FILL_INDEX = (
    "INSERT INTO catalogue_searchindex (rowid, text)"
    f" SELECT (shop_id << {SHOP_BITS}) + product_id, text FROM catalogue_productsearch"
)
_P = f"({listable('p')})"

# The triggers, with what replaces marks in them.
TRIGGER_FILE = "sqlite.sql"
# The slugs in further languages of a row `r`, as rows `e`, and their text.
_EACH = "json_each(CASE WHEN json_type({0}) = 'object' THEN {0} END)"
SLUGS_OF, SLUG = f"{_EACH.format('r.translations')} e", "CASE WHEN e.type = 'object' THEN e.value ->> '$.slug' END"
# The slug of a row `r` in the language of a row `s` of that table.
TRANSLATED_SLUG = f"(SELECT {SLUG} FROM {SLUGS_OF} WHERE e.key = s.language)"
_GIVEN = "json_each(CASE WHEN <LIVE> AND json_type(NEW.translations) = 'object' THEN NEW.translations END) e"
# What the triggers of these slugs do.
WRITE_SLUGS = f"""
  UPDATE catalogue_translatedslug SET current = 0 WHERE <KIND>_id = NEW.id AND current AND NOT EXISTS
    (SELECT 1 FROM {_GIVEN} WHERE e.key = catalogue_translatedslug.language AND {SLUG} = catalogue_translatedslug.slug);
  DELETE FROM catalogue_translatedslug WHERE shop_id = NEW.shop_id AND <KIND>_id IS NOT NULL AND NOT current
    AND (language, slug) IN (SELECT e.key, {SLUG} FROM {_GIVEN});
  INSERT INTO catalogue_translatedslug (shop_id, <KIND>_id, language, slug, current)
    SELECT NEW.shop_id, NEW.id, e.key, {SLUG}, 1 FROM {_GIVEN}
    WHERE length(e.key) <= 5 AND length({SLUG}) BETWEEN 1 AND 255 AND NOT EXISTS
      (SELECT 1 FROM catalogue_translatedslug t WHERE t.<KIND>_id = NEW.id AND t.language = e.key AND t.current);
  DELETE FROM catalogue_translatedslug WHERE <KIND>_id = NEW.id AND NOT current AND id NOT IN
    (SELECT id FROM catalogue_translatedslug WHERE <KIND>_id = NEW.id ORDER BY id DESC LIMIT <MAX_OLD_SLUGS>);
""".strip()
MARKS = {"SHOP_BITS": str(SHOP_BITS)}
# Says what changes of stock are for, and ends that.
DECLARE_CAUSE = (
    "REPLACE INTO catalogue_stockchange VALUES"
    " (1, %(kind)s, %(reason)s, %(reference)s, %(installation)s, %(token)s, %(user)s, %(made_at)s) RETURNING id"
)
CLEAR_CAUSE = "DELETE FROM catalogue_stockchange RETURNING id"
# Changes a total.
NOTE = "INSERT INTO catalogue_note VALUES (%s, %s, %s)"
# Adds the words that a shop does not have, each with its first and last letters.
ADD_WORDS = (
    "INSERT OR IGNORE INTO catalogue_searchword (shop_id, word, head, tail, language)"
    " SELECT %s, e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3 FROM json_each(%s) e"
)
RANDOM_VERSION = "random() & 1073741823"


def cause_columns(kind: str, texts: dict[str, str], authors: Sequence[str]) -> str:
    """The cause of a change as the last columns of the ledger; `texts` are the values without a cause."""
    # The row of `catalogue_stockchange`, if there is one. The kind of a removal is always `removed`.
    of_kind = "NULL" if kind == "removed" else "said.kind"
    found = [f"COALESCE({of_kind if name == 'kind' else f'said.{name}'}, '{text}')" for name, text in texts.items()]
    return ", ".join([*found, *(f"said.{name}" for name in authors)])


def create_search_index(editor: Any) -> None:
    """Create the search index, empty."""
    # Texts are casefolded already, hence case_sensitive. Results are not ranked, hence no column sizes. Without
    # positions, which double the cost of a text, a search looks at the texts that have all parts of a word.
    editor.execute(
        "CREATE VIRTUAL TABLE catalogue_searchindex USING fts5"
        "(text, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')"
    )
    # For imports, which write many rows at once: a larger buffer (in bytes), merged less often.
    for setting, value in (("hashsize", 8_000_000), ("automerge", 8)):
        editor.execute(f"INSERT INTO catalogue_searchindex (catalogue_searchindex, rank) VALUES ('{setting}', {value})")


def drop_search_index(editor: Any) -> None:
    editor.execute("DROP TABLE IF EXISTS catalogue_searchindex")


def rebuild_search_index(editor: Any) -> None:
    """Rebuild the search index from the search texts. `editor` can be a cursor: only `execute` is needed."""
    editor.execute("INSERT INTO catalogue_searchindex (catalogue_searchindex) VALUES ('delete-all')")
    editor.execute(f"{FILL_INDEX} WHERE listed ORDER BY 1")


def lock_catalogue(editor: Any) -> None:
    """Keep others from writing to the catalogue until the end of the transaction, as any write does."""


@contextmanager
def deferred_totals(connection: Any, products: Sequence[int], *, with_texts: bool = True) -> Iterator[None]:
    """Count and index the products that the block creates, with their links and search texts, once at its end instead
    of once for each row. `products` are their ids.

    Call it in a transaction. The block must write no other rows of the catalogue.
    """
    if not products:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO catalogue_quiet VALUES (1)")
        yield
        cursor.execute("DELETE FROM catalogue_quiet")
        for statement in _COUNT_AND_INDEX:
            # One transaction writes at a time, so all ids between two new ones are new.
            cursor.execute(statement, {"first": min(products), "last": max(products)})


# What the triggers would have done for these products: index their texts, correct `listed` where the writer of a text
# set it wrongly, and note the changes of totals.
_COUNT_AND_INDEX = (
    f"{FILL_INDEX} WHERE listed AND product_id BETWEEN %(first)s AND %(last)s ORDER BY 1",
    f"""
    UPDATE catalogue_productsearch SET listed = NOT listed WHERE product_id BETWEEN %(first)s AND %(last)s
    AND listed <> EXISTS (SELECT 1 FROM catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {_P})
    """,
    f"""
    INSERT INTO catalogue_note SELECT p.shop_id, 0, count(*) FILTER (WHERE {_P})
    FROM catalogue_product p WHERE p.id BETWEEN %(first)s AND %(last)s GROUP BY p.shop_id
    UNION ALL SELECT l.shop_id, l.category_id, count(*) FROM catalogue_productcategory l
    JOIN catalogue_product p ON p.id = l.product_id
    WHERE l.product_id BETWEEN %(first)s AND %(last)s AND {_P} GROUP BY l.shop_id, l.category_id
    """,
)

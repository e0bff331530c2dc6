# ruff: noqa: S608, the statements consist of column lists and conditions of this package.
"""What the catalogue needs of SQLite: what its triggers use, and the search index."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

# A rowid of the search index contains the shop's and the product's id, so that a search reads only rows of its shop.
SHOP_BITS = 40
FILL_INDEX = (
    "INSERT INTO catalogue_searchindex (rowid, text)"
    f" SELECT (shop_id << {SHOP_BITS}) + product_id, text FROM catalogue_productsearch"
)

# The triggers, with what replaces marks in them.
TRIGGER_FILE = "sqlite.sql"
MARKS = {"SHOP_BITS": str(SHOP_BITS)}
# Says what changes of stock are for, and ends that.
SAY = (
    "REPLACE INTO catalogue_stockchange VALUES"
    " (1, %(kind)s, %(reason)s, %(reference)s, %(installation)s, %(token)s, %(user)s, %(made_at)s) RETURNING id"
)
UNSAY = "DELETE FROM catalogue_stockchange RETURNING id"
# Changes a total.
NOTE = "INSERT INTO catalogue_note VALUES (%s, %s, %s)"
# Adds the words that a shop does not have.
ADD_WORDS = (
    "INSERT OR IGNORE INTO catalogue_searchword (shop_id, word, head, tail)"
    " SELECT %s, e.value, substr(e.value, 1, 2), substr(e.value, -2) FROM json_each(%s) e"
)
RANDOM_VERSION = "random() & 1073741823"


def said(kind: str, texts: dict[str, str], authors: Sequence[str]) -> str:
    """What is said of a change, as the last columns of the ledger: `texts` are the values without that."""
    # The row of `catalogue_stockchange`, if there is one. A removal is one, whatever removed the variant.
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


def deferred_totals(
    connection: Any, products: Sequence[int], *, with_texts: bool = True
) -> AbstractContextManager[None]:
    """Does nothing: triggers count and index each row."""
    return nullcontext()

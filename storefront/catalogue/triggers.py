# ruff: noqa: S608, the statements consist of column lists and conditions of this file.
"""Triggers that keep derived data up to date with every write to the catalogue: how many products each list has
(`ListingTotal`), which search texts are listed (`ProductSearch.listed`), on SQLite the search index; the stock
ledger (`StockAdjustment`), past prices (`PastPrice`), old slugs (`OldSlug`) and those in further languages
(`TranslatedSlug`), and the time of the last change (`LastChange`).

These are triggers and not Python code, because totals must stay correct with every kind of write: actions, the admin's
bulk updates, imports by COPY, an operator's SQL. A sale of stock changes no column that they watch.

`migrate` creates them after all migrations (`kit/triggers.py`). They are created again when Django remakes a table on
SQLite (`server/sqlite3`). A migration that removes a column named here drops them first: `TRIGGERS.remove(editor)`.
"""

from importlib.resources import files
from typing import Any

from storefront.catalogue import translated_slugs
from storefront.catalogue.dialect import dialect
from storefront.catalogue.listable import listable
from storefront.catalogue.sqlite import FILL_INDEX as FILL_INDEX
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
# Old slugs that a product or a category keeps: its latest ones.
MAX_OLD_SLUGS = 50
# Which rows have slugs in further languages, by table, and on which changes they are written.
_TRANSLATED = {
    "product": {
        "LIVE": "NEW.deleted_at IS NULL",
        "WATCHED": "translations, deleted_at",
        "OR_LIVE": " OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)",
    },
    "category": {"LIVE": "true", "WATCHED": "translations", "OR_LIVE": ""},
}
# Separates the statements of a file.
BREAK = "\n;;\n"
_P = f"({listable('p')})"


def _refill(editor: Any) -> None:
    """Recompute all derived data from the rows, while the triggers do not exist."""
    dialect.lock_catalogue(editor)
    totals = "INSERT INTO catalogue_listingtotal (shop_id, category, products, version)"
    editor.execute(
        "UPDATE catalogue_productsearch SET listed = NOT listed WHERE listed <> EXISTS (SELECT 1 FROM"
        f" catalogue_product p WHERE p.id = catalogue_productsearch.product_id AND {_P})"
    )
    dialect.rebuild_search_index(editor)
    open_ledger(editor)
    for statement in translated_slugs.refill():
        editor.execute(statement)
    editor.execute("DELETE FROM catalogue_lastchange")
    editor.execute(
        "INSERT INTO catalogue_lastchange (product_id, shop_id, updated_at, status)"
        " SELECT id, shop_id, updated_at, status FROM catalogue_product WHERE deleted_at IS NULL"
    )
    # Counted again, since writes without the triggers left no trace.
    for table in ("frequentword", "wordcount", "textchange", "listingtotal"):
        editor.execute(f"DELETE FROM catalogue_{table}")
    # A random version, so that it equals none that a process has cached.
    editor.execute(
        f"{totals} SELECT shop_id, category, products, {dialect.RANDOM_VERSION} FROM ("
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


def statements() -> list[str]:
    """The statements that create the triggers and what they need."""
    folder = files(__package__) / "trigger_sql"
    text = (folder / dialect.TRIGGER_FILE).read_text()
    slugs = (folder / f"translated_slugs_{dialect.TRIGGER_FILE}").read_text()
    for kind, marks in _TRANSLATED.items():
        # Marks in the text of a mark are replaced, too.
        of_kind = slugs.replace("<WRITE>", dialect.WRITE_SLUGS).replace("<KIND>", kind)
        for mark, sql in marks.items():
            of_kind = of_kind.replace(f"<{mark}>", sql)
        text += BREAK + of_kind
    for mark, sql in {
        "LEDGER": LEDGER,
        "MAX_OLD_SLUGS": str(MAX_OLD_SLUGS),
        **{f"SAID_{kind.upper()}": _cause_columns(kind) for kind in ("created", "changed", "removed")},
        **{f"LISTABLE_{row.upper()}": f"({listable(row)})" for row in ("NEW", "OLD", "p", "n", "o")},
        "PLACED_BY": ", ".join(PLACED_BY),
        "PLACED_NEW": ", ".join(f"NEW.{column}" for column in PLACED_BY),
        "PLACED_OLD": ", ".join(f"OLD.{column}" for column in PLACED_BY),
        "PLACED_N": ", ".join(f"n.{column}" for column in PLACED_BY),
        "PLACED_O": ", ".join(f"o.{column}" for column in PLACED_BY),
        **dialect.MARKS,
    }.items():
        text = text.replace(f"<{mark}>", sql)
    return text.split(BREAK)


def _cause_columns(kind: str) -> str:
    """The cause of a change as the last columns of LEDGER; `kind` without one."""
    return dialect.cause_columns(kind, {"kind": kind, "reason": "", "reference": ""}, ("installation", "token", "user"))


TRIGGERS = TriggerSet(
    app_label="catalogue",
    consequence="the totals of product lists and the search go wrong with the next product that is written",
    statements=statements,
    refill=_refill,
)
remove = TRIGGERS.remove
create_search_index, drop_search_index = dialect.create_search_index, dialect.drop_search_index

# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""What product lists and searches need of SQLite, which serves shops of up to 100,000 products."""

from collections.abc import Iterable, Sequence

from storefront.catalogue.search_texts import MARKUP
from storefront.catalogue.sqlite import SHOP_BITS

# Whether large shops' frequent words are counted (`frequent_words.py`): the search index is fast enough without.
COUNTS_WORDS = False
# The ids of a table `d`, with commas between; NULL if there are none.
JOINED_IDS = "group_concat(d.id)"
# A column, and a time, as the database has it: the plus keeps the driver from converting it to Python's types.
PLAIN = PLAIN_TIME = "+{}"
# The ids that are a list's filter (parameter `wanted`): their column, and the query for them.
WANTED_IDS = "e.value", "SELECT e.value AS id FROM json_each(%(wanted)s) e WHERE true"
# The condition that a column has one of some ids (parameter `ids`).
AMONG_IDS = "IN (SELECT e.value FROM json_each(%(ids)s) e)"
# The function that returns where a text first has another, 0 if nowhere; and the one for the least of some numbers.
POSITION, MINIMUM = "instr", "min"
# A search text without the words of its markup.
VISIBLE_TEXT = f"substr(s.text, 1, instr(s.text || '{MARKUP}', '{MARKUP}'))"
# The condition that a text has no such words. GLOB looks for a character in half of the time that `instr` takes.
HAS_NO_MARKUP = f"s.text NOT GLOB '*{MARKUP}*'"
# The condition that a text contains every word of a list, as `words_parameter` returns them.
HAS_REST = (
    "NOT EXISTS (SELECT 1 FROM json_each(%(rest)s) w WHERE NOT EXISTS"
    " (SELECT 1 FROM json_each(w.value) t WHERE instr({text}, t.value) > 0))"
)
_ID_BITS = (1 << SHOP_BITS) - 1


def ids_parameter(ids: Iterable[int | str]) -> str:
    """Ids as one parameter."""
    return f"[{','.join(map(str, ids))}]"


# The same for AMONG_IDS, where they are few.
few_ids_parameter = ids_parameter


def sought(text: str) -> str:
    """A text as `contains` takes it."""
    return text


def contains(name: str) -> str:
    """The condition that a text contains the parameter `sought_` and this name."""
    return f"instr(s.text, %(sought_{name})s) > 0"


def matches(conditions: Sequence[str], *, is_indexed: bool, has_others: bool) -> tuple[str, str]:
    """The shop's listed search texts `s` that fulfil the conditions: the column with their products' ids, and a FROM
    clause. `is_indexed`: the search index finds them by the parameter `match`. `has_others`: other filters may find
    fewer products."""
    if is_indexed:
        first = f"(%(shop)s << {SHOP_BITS})"
        return f"(i.rowid & {_ID_BITS})", (
            f"catalogue_searchindex i CROSS JOIN catalogue_productsearch s ON s.product_id = i.rowid & {_ID_BITS}"
            f" WHERE i.catalogue_searchindex MATCH %(match)s AND i.rowid BETWEEN {first} AND {first} + {_ID_BITS}"
            f" AND {' AND '.join(conditions)}"
        )
    # The plus keeps SQLite from reading all texts of the shop then.
    shop = f"{'+' if has_others else ''}s.shop_id = %(shop)s"
    return "s.product_id", f"catalogue_productsearch s WHERE {' AND '.join([shop, 's.listed', *conditions])}"


def products_of(ids: str, condition: str) -> str:
    """The products `p` with the ids of a query that fulfil the condition, as a FROM clause."""
    # CROSS JOIN keeps the order of the tables, as SQLite's documentation says.
    return f"({ids}) d CROSS JOIN catalogue_product p ON p.id = d.id WHERE {condition}"


def found_by_ids(ids: str, columns: str, condition: str) -> str:
    """A query for columns of the same products."""
    return f"SELECT {columns} FROM {products_of(ids, condition)}"


def found_texts(columns: str, condition: str) -> str:
    """A query for columns of the products `p` with the ids of a table `d`, and of their search texts `s`."""
    return (
        f"SELECT {columns} FROM d CROSS JOIN catalogue_product p ON p.id = d.id"
        f" CROSS JOIN catalogue_productsearch s ON s.product_id = d.id WHERE {condition}"
    )


def are_one_range(directions: Sequence[bool]) -> bool:
    """Returns whether the rows after an anchor, in an order by columns that descend or not, are one range of an index.
    By row values, SQLite would seek by the columns before the id only, and an import can create any number of products
    at one moment."""
    return len(directions) == 1

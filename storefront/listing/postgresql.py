# ruff: noqa: S608, the statements consist of conditions of this package; values are parameters.
"""What product lists and searches need of PostgreSQL."""

from collections.abc import Iterable, Sequence

from storefront.catalogue import rules
from storefront.catalogue.search_texts import MARKUP

# Whether large shops' frequent words are counted (`frequent_words.py`).
COUNTS_WORDS = True
# The ids of a table `d`, with commas between; NULL if there are none.
JOINED_IDS = "string_agg(CAST(d.id AS text), ',')"
# A column as the database has it, not converted to Python's types; and a time, which can be.
PLAIN, PLAIN_TIME = "CAST({} AS text)", "{}"
# The ids that are a list's filter (parameter `wanted`): their column, and the query for them.
WANTED_IDS = "e.id", "SELECT e.id FROM unnest(CAST(%(wanted)s AS bigint[])) e (id) WHERE true"
# The condition that a column has one of some ids (parameter `ids`).
AMONG_IDS = "= ANY (CAST(%(ids)s AS bigint[]))"
# The function that returns where a text first has another, 0 if nowhere; and the one for the least of some numbers.
POSITION, MINIMUM = "strpos", "LEAST"
# A search text without the words of its markup.
VISIBLE_TEXT = f"split_part(s.text, '{MARKUP}', 1)"
# The condition that a text has no such words, in a form that the planner takes for one that most texts fulfil.
HAS_NO_MARKUP = f"NOT strpos(s.text, '{MARKUP}') > 0"
# The condition that a text contains every word of a list, as `words_parameter` returns them.
HAS_REST = (
    "NOT EXISTS (SELECT 1 FROM jsonb_array_elements(CAST(%(rest)s AS jsonb)) w WHERE NOT EXISTS"
    " (SELECT 1 FROM jsonb_array_elements_text(w) t WHERE strpos({text}, t) > 0))"
)
# Elements that PostgreSQL expects an array to have whose values it does not know, and a few more.
PLANNED_IDS = 16


def ids_parameter(ids: Iterable[int | str]) -> str:
    """Ids as one parameter."""
    return f"{{{','.join(map(str, ids))}}}"


def few_ids_parameter(ids: Iterable[int]) -> str:
    """The same for AMONG_IDS, with one of them repeated if they are fewer than PLANNED_IDS: for fewer ids than its
    lasting plan expects, PostgreSQL would plan the statement again each time, which takes longer than running it."""
    found = list(ids)
    return ids_parameter(found + found[-1:] * (PLANNED_IDS - len(found)))


def sought(text: str) -> str:
    """A text as `contains` takes it."""
    return rules.like_pattern(text)


def contains(name: str) -> str:
    """The condition that a text contains the parameter `sought_` and this name."""
    return rf"s.text LIKE %(sought_{name})s ESCAPE '\'"


def matches(conditions: Sequence[str], *, is_indexed: bool, has_others: bool) -> tuple[str, str]:
    """The shop's listed search texts `s` that fulfil the conditions: the column with their products' ids, and a FROM
    clause. The planner decides whether the search index or other filters find fewer."""
    return "s.product_id", (
        f"catalogue_productsearch s WHERE {' AND '.join(['s.shop_id = %(shop)s', 's.listed', *conditions])}"
    )


def products_of(ids: str, condition: str) -> str:
    """The products `p` with the ids of a query that fulfil the condition, as a FROM clause."""
    return f"({ids}) d JOIN catalogue_product p ON p.id = d.id WHERE {condition}"


def found_by_ids(ids: str, columns: str, condition: str) -> str:
    """A query for columns of the same products. OFFSET 0 keeps the planner from reading a whole index instead: it
    overestimates how frequent a word is."""
    return (
        f"WITH d AS MATERIALIZED ({ids}) SELECT f.* FROM d CROSS JOIN LATERAL (SELECT {columns} FROM catalogue_product"
        f" p WHERE p.id = d.id AND {condition} OFFSET 0) f"
    )


def found_texts(columns: str, condition: str) -> str:
    """A query for columns of the products `p` with the ids of a table `d`, and of their search texts `s`."""
    return (
        f"SELECT f.* FROM d CROSS JOIN LATERAL (SELECT {columns} FROM catalogue_product p"
        " JOIN catalogue_productsearch s ON s.product_id = p.id"
        f" WHERE p.id = d.id AND {condition} OFFSET 0) f"
    )


def are_one_range(directions: Sequence[bool]) -> bool:
    """Returns whether the rows after an anchor, in an order by columns that descend or not, are one range of an index:
    of row values, if all have one direction."""
    return len(set(directions)) == 1

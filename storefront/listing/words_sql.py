"""The filters of a product list without their values, and the conditions and the rank of search words in SQL.

The statements are those of `page_sql.py`, which joins the search texts as `s`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from storefront.catalogue.search_texts import MARKUP, SECTION_ENDS
from storefront.listing.dialect import dialect

# Words of a search that have a condition of their own. Further words share one condition, so that searches need few
# different statements.
MAX_LONG_WORDS, MAX_SHORT_WORDS = 4, 2
# The rank of a word that a text does not have, which a part or the stem of it may have.
ABSENT = 1000


@dataclass(frozen=True)
class Shape:
    """Which filters a list has, without their values.

    `category` is a key of CATEGORIES_MEANT. `since`: whether `updated_since` is given. `ids`: whether `ids` are
    (parameter `wanted`, as `dialect.ids_parameter` returns it). `long_words` are the words that the search index can
    find: for each, by how many texts it is found (parameters as `names_of` returns them for `word0` and on, each also
    with `sought_` before its name, as `dialect.sought` returns it; and `match` for SQLite). `short_words` are those
    that the index cannot find (`short0` and on). `rest`: whether there are further words than MAX_LONG_WORDS and
    MAX_SHORT_WORDS, which are one parameter (`words_parameter`). `visible`: whether words in markup do not count.
    """

    category: str | None = None
    featured: bool = False
    since: bool = False
    ids: bool = False
    long_words: tuple[int, ...] = ()
    short_words: tuple[int, ...] = ()
    rest: bool = False
    visible: bool = False

    @property
    def is_unfiltered(self) -> bool:
        """Whether the list has no filters."""
        return not (self.category or self.featured or self.since or self.ids or self.has_words)

    @property
    def has_words(self) -> bool:
        """Whether there are words that matches are ranked by."""
        return bool(self.long_words or self.short_words)

    @property
    def has_stored_total(self) -> bool:
        """Whether the database stores the total (`ListingTotal`)."""
        return self.is_unfiltered or self == Shape(category="alone")

    @property
    def has_filter_index(self) -> bool:
        """Whether an index finds the products that match a filter."""
        return bool(self.category or self.featured or self.since or self.ids or self.long_words)


def words(shape: Shape, *, indexed: bool = True) -> list[str]:
    condition = dialect.contains if indexed else _anywhere
    return [_any(map(condition, names), names, shape) for names in _names("word", shape.long_words)]


def names_of(word: str, texts: int) -> list[str]:
    """The parameters with the texts of the word of this name."""
    return [word, *(f"{word}_{number}" for number in range(1, texts))]


def _names(kind: str, words: Iterable[int]) -> list[list[str]]:
    return [names_of(f"{kind}{number}", texts) for number, texts in enumerate(words)]


def match(texts: Iterable[str]) -> str:
    """A condition of SQLite's search index, which holds runs of three characters without their places: that it has
    those of one of these texts. Every third run is enough to leave few others, which the text itself then rules out."""
    parts = (sorted({*(text[at : at + 3] for at in range(0, len(text) - 3, 3)), text[-3:]}) for text in texts)
    quoted = (" AND ".join('"{}"'.format(part.replace('"', '""')) for part in each) for each in parts)
    return "({})".format(" OR ".join(f"({each})" for each in quoted))


def short_words(shape: Shape) -> list[str]:
    found = [_any(map(_anywhere, names), names, shape) for names in _names("short", shape.short_words)]
    text = dialect.VISIBLE_TEXT if shape.visible else "s.text"
    return [*found, dialect.HAS_REST.format(text=text)] if shape.rest else found


def words_parameter(words: Iterable[Iterable[str]]) -> str:
    """Words as one parameter, each as the texts it is found by."""
    return orjson.dumps([list(texts) for texts in words]).decode()


def contains(name: str, shape: Shape) -> str:
    """The condition that a text contains this parameter, where words of this shape are looked for."""
    return _any([_anywhere(name)], [name], shape)


def _anywhere(name: str) -> str:
    return f"{_place(name)} > 0"


def _place(name: str) -> str:
    return f"{dialect.POSITION}(s.text, %({name})s)"


def _any(conditions: Iterable[str], names: Iterable[str], shape: Shape) -> str:
    """One of the conditions that a text contains these parameters; and if markup does not count, before it. Markup is
    the last part of a text, so where it begins is enough, without a copy of the rest."""
    found = "({})".format(" OR ".join(conditions))
    if not shape.visible:
        return found
    markup = f"{dialect.POSITION}(s.text, '{MARKUP}')"
    before = " OR ".join(f"{_place(name)} BETWEEN 1 AND {markup}" for name in names)
    return f"{found} AND ({dialect.HAS_NO_MARKUP} OR {before})"


def rank(shape: Shape) -> str:
    """How far a product's text is from the words: lower is better. A word counts by the section of the text that has
    it, and within a section a whole word comes before a part of one, and that before its stem and other texts."""
    position = dialect.POSITION
    ends = [f"{position}(s.text, '{end}')" for end in SECTION_ENDS]

    def section(place: str) -> str:
        steps = " ".join(f"WHEN {place} < {end} THEN {3 * number}" for number, end in enumerate(ends))
        return f"CASE WHEN {place} = 0 THEN {ABSENT} {steps} ELSE {3 * len(ends)} END"

    def of_word(names: Sequence[str]) -> str:
        kinds = [f"' ' || ltrim(CAST(%({names[0]})s AS text)) || ' '", *(f"%({name})s" for name in names)]
        places = [section(f"{position}(s.text, {kind})") for kind in kinds]
        return f"{dialect.MINIMUM}({', '.join(f'{place} + {min(number, 2)}' for number, place in enumerate(places))})"

    return " + ".join(map(of_word, [*_names("word", shape.long_words), *_names("short", shape.short_words)]))

"""Bounds HTML from strangers before an HTML sanitizer parses it.

The sanitizer parses as browsers do, which takes quadratic time on deep nesting: thirty thousand nested `<div>` took
47 seconds. So it only gets text from `tidy`: every element is closed in order, none is nested too deeply, and none has
too many attributes. All functions here take linear time.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from html import unescape

from django.utils.translation import gettext as _

# Limits of a text when it is saved: characters, opening tags, depth of nested elements, depth of nested formatting
# elements (b, a, font and the like, as the HTML standard calls them), attributes of one tag.
MAX_TEXT_LENGTH, MAX_TAGS, MAX_DEPTH, MAX_MARK_DEPTH, MAX_ATTRIBUTES = 250_000, 5000, 100, 20, 100

# Tags as the HTML standard tokenizes them, with possessive quantifiers, so that matching never backtracks.
_SPACE = r"\t\n\f\r "
_ATTRIBUTE = (
    rf"[{_SPACE}/]*+[^{_SPACE}/>][^{_SPACE}/>=]*+"
    rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"[^\"]*+\"|'[^']*+'|(?=>)|[^{_SPACE}\"'>][^{_SPACE}>]*+)|(?![{_SPACE}]*+=))"
)
_TOKEN = re.compile(
    rf"<(?:(?P<end>/?+)(?P<name>[a-zA-Z][^{_SPACE}/>]*+)(?P<attributes>(?:{_ATTRIBUTE})*+)[{_SPACE}/]*+(?P<whole>>?+)"
    r"|!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>)?+)"
    r"|[!?/][^>]*+>?+)"
)
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Elements whose content is not shown as text of the page.
_NO_TEXT = _names(
    "script style template noscript iframe object svg math textarea title select noembed noframes xmp plaintext"
)
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_MARKS = _names("a b big code em font i nobr s small strike strong tt u")
_BLOCKS = _names(
    "address article aside blockquote center details dialog dd dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr li main menu nav ol p pre section summary table ul"
)
_CELLS, _ROWS, _GROUPS = _names("td th"), _names("tr"), _names("tbody thead tfoot caption colgroup")
# By element: the open elements that its start tag closes, and the elements that bound the search for them (a scope,
# in the HTML standard's words).
_LISTS, _TABLES = _names("ul ol menu dir dl"), _names("table")
_ENDS: dict[str, tuple[Collection[str], Collection[str]]] = {
    "li": ({"li"}, _LISTS | _TABLES | _CELLS),
    **dict.fromkeys(("dt", "dd"), ({"dt", "dd"}, _LISTS | _TABLES | _CELLS)),
    **dict.fromkeys(_CELLS, (_CELLS, _TABLES | _ROWS)),
    **dict.fromkeys(_ROWS, (_ROWS | _CELLS | {"caption"}, _TABLES)),
    **dict.fromkeys(_GROUPS, (_GROUPS | _ROWS | _CELLS, _TABLES)),
}
_OF_TABLE = _CELLS | _ROWS | _GROUPS
_MARK = re.compile(rf"<(?:{'|'.join(_MARKS)})[{_SPACE}/>]", re.IGNORECASE)
# A tag long enough to have too many attributes: each takes at least two characters.
_LARGE_TAG = re.compile(rf"<[^<>]{{{2 * MAX_ATTRIBUTES}}}")
_END_OF = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE) for name in _NO_TEXT}


@dataclass
class TidyResult:
    """`text` has every element closed in order; elements beyond a limit have lost their tags. The numbers count what
    the original text had."""

    text: str = ""
    tags: int = 0
    depth: int = 0
    formatting_depth: int = 0
    most_attributes: int = 0


def problem(text: str) -> str | None:
    """The reason why the text cannot be shown as HTML, as a phrase to put after the field's name; None if it can."""
    if len(text) > MAX_TEXT_LENGTH:
        return _("has %(count)s characters; at most %(most)s are allowed") % {
            "count": f"{len(text):,}",
            "most": f"{MAX_TEXT_LENGTH:,}",
        }
    if _is_harmless(text):
        return None
    found = tidy(text)
    for count, most, what in (
        (found.tags, MAX_TAGS, _("has {count:,} tags; at most {most:,} are allowed")),
        (found.depth, MAX_DEPTH, _("has elements nested {count} deep; at most {most} are allowed. Is one not closed?")),
        (
            found.formatting_depth,
            MAX_MARK_DEPTH,
            _("has {count} nested elements such as a, b and font; at most {most} are allowed"),
        ),
        (found.most_attributes, MAX_ATTRIBUTES, _("has a tag with {count:,} attributes; at most {most} are allowed")),
    ):
        if count > most:
            return what.format(count=count, most=most)
    return None


def problem_of_change(text: str, before: str | None) -> str | None:
    """Like `problem`, for a text that replaces `before`. An unchanged text passes even if it is too large, so that
    other fields of the form can still be saved. Browsers send line ends as CR LF, which is no change."""
    if before and text.replace("\r\n", "\n") == before.replace("\r\n", "\n"):
        return None
    return problem(text)


def _is_harmless(text: str) -> bool:
    """Returns True if the text has too few tags to exceed a limit. A shortcut, since most texts of a product file have
    few."""
    opened = text.count("<") - text.count("</")
    return not opened or (
        opened <= MAX_DEPTH and not _LARGE_TAG.search(text) and len(_MARK.findall(text)) <= MAX_MARK_DEPTH
    )


def tidy(text: str, *, allowed: Collection[str] | None = None) -> TidyResult:
    """The text with well-formed tags and without comments, scripts and styles. `allowed`: names of the tags to keep."""
    writer = _TagWriter(allowed)
    place = 0
    while token := _TOKEN.search(text, place):
        # A `<` that begins no tag is escaped, so that it does not begin one when the text after it is left out.
        writer.out.append(text[place : token.start()].replace("<", "&lt;"))
        place = token.end()
        name = (token["name"] or "").lower()
        if not name:
            continue
        if not token["whole"]:
            # The text ends within the tag. Browsers leave out such a tag.
            writer.count(token["attributes"])
            break
        if token["end"]:
            writer.end(name)
        elif name in _NO_TEXT:
            writer.found.tags += 1
            writer.count(token["attributes"])
            end = _END_OF[name].search(text, place)
            place = end.start() if end else len(text)
        else:
            writer.start(name, token["attributes"])
    else:
        writer.out.append(text[place:].replace("<", "&lt;"))
    while writer.open:
        writer.pop()
    writer.found.text = "".join(writer.out)
    return writer.found


def plain_text(text: str) -> str:
    """The text without tags and without hidden content. It is plain text: escape it before it goes into HTML."""
    return unescape(_without_tags(text))


def _without_tags(text: str) -> str:
    out, place = [], 0
    while token := _TOKEN.search(text, place):
        out += [text[place : token.start()], "" if (token["name"] or "").lower() in _MARKS else " "]
        place = token.end()
        name = (token["name"] or "").lower()
        if name and not token["whole"]:
            return "".join(out)
        if name in _NO_TEXT and not token["end"]:
            end = _END_OF[name].search(text, place)
            place = end.start() if end else len(text)
    out.append(text[place:])
    return "".join(out)


@dataclass
class _TagWriter:
    """Collects the output. `open` holds the elements that are not closed yet, each with its tag."""

    allowed: Collection[str] | None
    found: TidyResult = field(default_factory=TidyResult)
    out: list[str] = field(default_factory=list)
    open: list[tuple[str, str]] = field(default_factory=list)
    open_formatting: int = 0
    # Number of open elements that were left out because they were nested too deeply.
    skipped: int = 0

    def count(self, attributes: str) -> int:
        # Each attribute takes at least two characters, so a short text cannot have too many.
        number = sum(1 for _unused in _ONE_ATTRIBUTE.finditer(attributes)) if len(attributes) > MAX_ATTRIBUTES else 0
        self.found.most_attributes = max(self.found.most_attributes, number)
        return number

    def start(self, name: str, attributes: str) -> None:
        self.found.tags += 1
        is_bare = self.count(attributes) > MAX_ATTRIBUTES
        if (self.allowed is not None and name not in self.allowed) or self.found.tags > MAX_TAGS:
            return
        tag = f"<{name}>" if is_bare else f"<{name}{attributes.rstrip('/')}>"
        if name in _BLOCKS:
            self._end_nearest({"p"}, _TABLES | _CELLS | {"button"})
        if name in _ENDS:
            # A row closes the previous row, not only the last cell in it.
            while self._end_nearest(*_ENDS[name]):
                pass
        if name == "a":
            self._end_nearest({"a"}, _TABLES | _CELLS)
        if name in _VOID:
            self.out.append(tag)
        else:
            self.push(name, tag)

    def push(self, name: str, tag: str) -> None:
        is_formatting = name in _MARKS
        self.found.depth = max(self.found.depth, len(self.open) + 1 + self.skipped)
        self.found.formatting_depth = max(self.found.formatting_depth, self.open_formatting + is_formatting)
        if len(self.open) >= MAX_DEPTH:
            self.skipped += 1
        elif not is_formatting or self.open_formatting < MAX_MARK_DEPTH:
            self.out.append(tag)
            self.open.append((name, tag))
            self.open_formatting += is_formatting

    def pop(self) -> tuple[str, str]:
        name, tag = self.open.pop()
        self.out.append(f"</{name}>")
        self.open_formatting -= name in _MARKS
        return name, tag

    def end(self, name: str) -> None:
        scope = () if name in _OF_TABLE | _TABLES else _TABLES | _CELLS
        self._end_nearest({name}, scope, reopen=name in _MARKS)

    def _end_nearest(self, names: Collection[str], scope: Collection[str], *, reopen: bool = True) -> bool:
        """Close the nearest open element of these names and everything in it; False if there is none, or if an element
        of `scope` is nearer. Formatting elements in it are opened again after it, as browsers do."""
        for depth in range(len(self.open) - 1, -1, -1):
            name = self.open[depth][0]
            if name in names:
                break
            if name in scope:
                return False
        else:
            return False
        inside = [self.pop() for _unused in range(len(self.open) - depth)]
        if reopen:
            for name, tag in reversed(inside[:-1]):
                if name in _MARKS:
                    self.push(name, tag)
        return True

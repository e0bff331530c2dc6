"""A pseudo-language: every marked text is in brackets, so that a page shows by its own words what is not marked.

    with pseudo("de"):
        page = client.get("/", HTTP_HOST="shop.example.com")
    assert bare_words(page.content.decode()) == []

The merchant's texts in such a test are written in the same brackets, such as `shown("Mug")`.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from html.parser import HTMLParser

import pytest
from django.utils.translation import trans_real

OPENING, CLOSING = "⟦", "⟧"
# What stands between a context and its message in a catalogue.
_CONTEXT = "\x04"
# Attributes whose values shoppers see or hear. `value` is a text only on buttons.
_READ = ("alt", "title", "placeholder", "aria-label", "aria-roledescription")
_BUTTONS = ("submit", "button", "reset")
_SILENT = ("script", "style")
# Stands between the texts of a page.
_NEXT = "\0"
WORD = re.compile(r"[^\W\d_]{2,}")


def shown(text: str) -> str:
    """The text in the brackets of the pseudo-language."""
    return f"{OPENING}{text}{CLOSING}"


class _Pseudo(NullTranslations):
    """A catalogue in which each text stands in brackets. Django looks up a text with a context under both together."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def gettext(self, message: str) -> str:
        return shown(message.rpartition(_CONTEXT)[2]) if message.strip() else message

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        return self.gettext(singular if number == 1 else plural)

    def language(self) -> str:
        return self._name

    def to_language(self) -> str:
        return self._name


@contextmanager
def pseudo(code: str = "de") -> Iterator[None]:
    """Until the end of the block, the texts of this language are the pseudo-language's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(trans_real._translations, code, _Pseudo(code))
        yield


def bare_words(html: str, allowed: Iterable[str] = ()) -> list[str]:
    """The texts of a page, outside of brackets, that have words other than the `allowed` ones."""
    reader = _read(html)
    # A marked text can have tags in it, so that its brackets are in different texts of the page.
    between_tags = _outside(_NEXT.join(reader.texts)).split(_NEXT)
    return _bare([*between_tags, *map(_outside, reader.attributes)], allowed)


def texts_of_page(html: str) -> list[str]:
    """The texts of a page that shoppers see or hear."""
    reader = _read(html)
    return [*reader.texts, *reader.attributes]


def bare_lines(text: str, allowed: Iterable[str] = ()) -> list[str]:
    """The lines of a plain text, such as of a mail, that have words outside of brackets. A text of several lines stands
    in one pair of brackets. Addresses of pages and ends of codes are no words."""
    return _bare(_outside(text).splitlines(), allowed)


def _bare(texts: Iterable[str], allowed: Iterable[str]) -> list[str]:
    known = set(allowed)
    return [text.strip() for text in texts if set(WORD.findall(_without_addresses(text))) - known]


def _without_addresses(text: str) -> str:
    return re.sub(r"(https?:)?//\S+|\S+@\S+|…\w+", "", text)


def _outside(text: str) -> str:
    """What is outside of the brackets, which may stand in one another."""
    kept, depth = [], 0
    for character in text:
        depth += character == OPENING
        if not depth:
            kept.append(character)
        depth -= character == CLOSING and depth > 0
    return "".join(kept)


def _read(html: str) -> "_Reader":
    reader = _Reader()
    reader.feed(html)
    return reader


class _Reader(HTMLParser):
    """Collects the texts of a page: between tags, and in the attributes that are read to shoppers."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.attributes: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        found = dict(attrs)
        self.attributes += [found[name] or "" for name in _READ if name in found]
        self.attributes += [value or "" for name, value in attrs if name.startswith("data-text")]
        if tag == "input" and found.get("type") in _BUTTONS:
            self.attributes.append(found.get("value") or "")
        if tag == "meta" and "description" in (found.get("name"), (found.get("property") or "").removeprefix("og:")):
            self.attributes.append(found.get("content") or "")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.texts.append(data)

"""What merchants write, in a shop's further languages.

A row's column `translations` is an object such as {"de": {"name": "Becher"}}. A field without a text in a language is
shown as it was written in the shop's main language.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Translations = Mapping[str, Mapping[str, str]]
T = TypeVar("T")


def written(texts: Mapping[str, str], name: str) -> str:
    """The text of this name. Empty if there is none, and if it consists of white space, as an app could store it."""
    text = texts.get(name) or ""
    return "" if text.isspace() else text


def translated(fields: Mapping[str, Any], translations: Translations | None, language: str) -> dict[str, Any]:
    """The fields of a row with their texts in this language, where there are any. A text for a field that is not among
    `fields` is left out, and so is an empty one."""
    texts = (translations or {}).get(language) or {}
    return {name: written(texts, name) or value for name, value in fields.items()}


def translated_text(text: str, field: str, translations: Translations | None, language: str) -> str:
    """One field's text in this language; `text` if there is none."""
    return written((translations or {}).get(language) or {}, field) or text


def spoken(rows: Iterable[T], language: str, *fields: str) -> list[T]:
    """The rows, which are only shown and not saved, with their texts in this language."""
    rows = list(rows)
    for row in rows:
        texts = (row.translations or {}).get(language) or {} if language else {}  # type: ignore[attr-defined]
        for name in fields:
            if text := written(texts, name):
                setattr(row, name, text)
    return rows


def merged(
    translations: Translations | None, texts: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]] | None:
    """The translations with these texts, by language and field, in place of theirs; an empty text removes one. None if
    none is left."""
    found = {code: dict(fields) for code, fields in (translations or {}).items()}
    for code, fields in texts.items():
        found[code] = {name: text for name, text in (found.get(code, {}) | dict(fields)).items() if text}
    return {code: fields for code, fields in found.items() if fields} or None

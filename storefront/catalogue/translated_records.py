"""Records of the catalogue with their texts in a further language of the shop."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from storefront.catalogue.records import TRANSLATIONS_OF_CATEGORIES
from storefront.catalogue.translating import ATTRIBUTE, OPTION, PICTURE, TEXTS, of_part, of_variant
from storefront.kit.translations import translated

Record = dict[str, Any]

_OWN = (*TEXTS, "slug")


def members_to_read(members: frozenset[str] | None) -> frozenset[str] | None:
    """The members of a product to read where these are shown in another language."""
    return members and members | {"translations", TRANSLATIONS_OF_CATEGORIES}


def translated_json(text: str, language: str, *, shows_translations: bool = True) -> str:
    """The record of a product as JSON in this language. Without `translations`, if that was read only for this."""
    # Most products of a shop that has just begun to translate have no text in the language.
    if shows_translations and f'"{language}"' not in text and '"categories"' not in text:
        return text
    record = orjson.loads(text)
    translate_product(record, language)
    if not shows_translations:
        del record["translations"]
    return orjson.dumps(record).decode()


def translated_category_json(text: str, language: str) -> str:
    """The record of a category as JSON in this language, without `translations`."""
    record = orjson.loads(text)
    translate_category(record, language)
    return orjson.dumps(record).decode()


def translate_product(record: Record, language: str) -> None:
    """Give a product's record, with its `translations` and whichever other members, the texts of this language. Its
    categories have theirs, which are taken out."""
    for category in record.get("categories", ()):
        translate_category(category, language)
    found = (record["translations"] or {}).get(language)
    if not found:
        return
    record |= translated({name: record[name] for name in _OWN if name in record}, record["translations"], language)
    for picture in record.get("media", ()):
        picture["alt"] = of_part(found, PICTURE, picture["alt"])
    for option in record.get("options", ()):
        for value in option["values"]:
            value["label"] = of_part(found, OPTION, option["name"], value["label"])
        option["name"] = of_part(found, OPTION, option["name"])
    for attribute in record.get("attributes") or ():
        name = attribute["name"]
        if "values" in attribute:
            attribute["values"] = [of_part(found, ATTRIBUTE, name, value) for value in attribute["values"]]
        attribute["name"] = of_part(found, ATTRIBUTE, name)
    for variant in record.get("variants", ()):
        values = variant["option_values"]
        variant["name"] = of_variant(found, variant["name"], values)
        variant["option_values"] = _translated_values(found, values)


def translate_category(record: Record, language: str) -> None:
    """The same for a category's record, whose `translations` are taken out."""
    own = {name: record[name] for name in _OWN if name in record}
    record |= translated(own, record.pop("translations"), language)


def _translated_values(found: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    names = {name: of_part(found, ATTRIBUTE, name) for name in values}
    # Two names with one translation stay two.
    if not _are_different(names.values()):
        names = {name: name for name in values}
    return {names[name]: of_part(found, ATTRIBUTE, name, value) for name, value in values.items()}


def _are_different(texts: Iterable[str]) -> bool:
    texts = list(texts)
    return len(set(texts)) == len(texts)

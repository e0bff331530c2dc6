"""Records of the catalogue with their texts in a further language of the shop."""

import orjson

from storefront.catalogue import rules
from storefront.catalogue.records import TRANSLATIONS_OF_CATEGORIES
from storefront.catalogue.translated_slugs import own_slug
from storefront.catalogue.translating import CATEGORY_TEXTS, Record, in_language
from storefront.kit.translations import translated

_OF_CATEGORY = (*CATEGORY_TEXTS, "slug")


def members_to_read(members: frozenset[str] | None) -> frozenset[str] | None:
    """The members of a product to read where these are shown in another language."""
    return members and members | {"translations", TRANSLATIONS_OF_CATEGORIES}


def translated_json(text: str, language: str, *, shows_translations: bool = True) -> str:
    """The record of a product as JSON in this language. Without `translations`, if that was read only for this."""
    # Most products of a shop that has just begun to translate have no text in the language.
    if shows_translations and f'"{language}"' not in text and '"categories"' not in text:
        return text
    record = translated_product(orjson.loads(text), language)
    if not shows_translations:
        del record["translations"]
    return orjson.dumps(record).decode()


def translated_category_json(text: str, language: str) -> str:
    """The record of a category as JSON in this language, without `translations`."""
    return orjson.dumps(translated_category(orjson.loads(text), language)).decode()


def translated_product(record: Record, language: str) -> Record:
    """A product's record, with its `translations` and whichever other members, in this language. Its categories have
    theirs, which are taken out."""
    stored = record["translations"]
    found = (stored or {}).get(language) or {}
    shown = in_language(record, found)
    if "slug" in record:
        shown = shown | {"slug": own_slug(found) or record["slug"]}
    if "categories" in record:
        shown = shown | {"categories": [translated_category(each, language) for each in record["categories"]]}
    return shown


def translated_category(record: Record, language: str) -> Record:
    """The same of a category's record."""
    shown = {name: value for name, value in record.items() if name != "translations"}
    texts = translated({name: record[name] for name in _OF_CATEGORY}, record["translations"], language)
    # Translations that were stored before slugs had languages can have any text there.
    return shown | texts | {"slug": texts["slug"] if rules.is_slug(texts["slug"]) else record["slug"]}

"""Records of the catalogue with their texts in a further language of the shop."""

import re
from collections.abc import Sequence
from json import JSONDecoder

import orjson

from storefront.catalogue import records, rules
from storefront.catalogue.models import Product
from storefront.catalogue.records import TRANSLATIONS_OF_CATEGORIES
from storefront.catalogue.translated_slugs import own_slug
from storefront.catalogue.translating import CATEGORY_TEXTS, TEXTS, Record, Texts, in_language
from storefront.kit import json_sql
from storefront.kit.translations import translated, written
from storefront.shops.models import Shop

_OF_CATEGORY = (*CATEGORY_TEXTS, "slug")
# A product's columns with texts before and after its translations, in the order of its record.
_COLUMNS = [str(field.column) for field in Product._meta.concrete_fields]
_OWN_TEXTS = frozenset((*TEXTS, "slug"))
_BEFORE, _AFTER = (
    [name for name in names if name in _OWN_TEXTS]
    for names in (_COLUMNS[: _COLUMNS.index("translations")], _COLUMNS[_COLUMNS.index("translations") :])
)
_TRANSLATIONS = '"translations":'
# The member of a product without any.
_EMPTY = re.compile(r'"translations":(?:null|\{\}|\[\]),|,?"translations":(?:null|\{\}|\[\])')
# Members of a list's records whose parts have texts, and members that have too many for that.
_PARTS = ("media", "attributes")
_DECODED = frozenset(("categories", "variants", "options"))
_decode = JSONDecoder().raw_decode


def members_to_read(members: frozenset[str] | None) -> frozenset[str] | None:
    """The members of a product to read where these are shown in another language."""
    return members and members | {"translations", TRANSLATIONS_OF_CATEGORIES}


def translated_json(text: str, language: str, members: frozenset[str] | None = None) -> str:
    """The record of a product as JSON in this language, with these members. Without `translations`, if that was read
    only for this."""
    record = translated_product(orjson.loads(text), language)
    if members is not None and "translations" not in members:
        del record["translations"]
    return orjson.dumps(record).decode()


def translated_row(shop: Shop, row: str, language: str, members: frozenset[str] | None = None) -> str:
    """The same of a product in a list, as the database wrote it. Writes only the texts that differ: to decode and write
    whole records takes half as long again as to read the list."""
    if members and members & _DECODED:
        return translated_json(records.with_media_urls(shop, row), language, members)
    shows_translations = members is None or "translations" in members
    # Translations are the first of a record's stored JSON.
    head, *rest = row.split(json_sql.STORED_JSON, 2)
    if not head.endswith(_TRANSLATIONS):
        text = records.with_media_urls(shop, row)
        return text if shows_translations else _EMPTY.sub("", text, 1)
    stored, tail = orjson.loads(rest[0]), records.with_media_urls(shop, rest[1])
    if found := stored.get(language):
        head, tail = _spliced(head, _BEFORE, found, members), _spliced(tail, _AFTER, found, members)
        if not _OWN_TEXTS.issuperset(found):
            tail = _with_parts(tail, found, members)
    if shows_translations:
        return f"{head}{orjson.dumps(stored).decode()}{tail}"
    head = head.removesuffix(_TRANSLATIONS)
    return head.removesuffix(",") + tail if head.endswith(",") else head + tail.removeprefix(",")


def _spliced(text: str, names: Sequence[str], found: Texts, members: frozenset[str] | None) -> str:
    """A part of a record as JSON, with its members of these names, which are in this order, in the language of these
    texts."""
    pieces: list[str] = []
    end = 0
    for name in names:
        if name not in found or (members is not None and name not in members):
            continue
        if shown := own_slug(found) if name == "slug" else written(found, name):
            key = f'"{name}":'
            start = text.index(key, end) + len(key)
            pieces += text[end:start], orjson.dumps(shown).decode()
            end = _decode(text, start)[1]
    return "".join([*pieces, text[end:]]) if pieces else text


def _with_parts(text: str, found: Texts, members: frozenset[str] | None) -> str:
    """The same with the product's pictures and attributes."""
    for name in _PARTS:
        if members is None or name in members:
            key = f'"{name}":'
            start = text.index(key) + len(key)
            value, end = _decode(text, start)
            text = text[:start] + orjson.dumps(in_language({name: value}, found)[name]).decode() + text[end:]
    return text


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

"""The headers of WooCommerce's product CSV, which are in the shop's language, and the units in them.

`headers.csv` has each language's words as WooCommerce's translations have them, current and former ones; `#` stands for
a number, and `meta` is the word before the colon of a custom field's header. English words are not repeated where
another language has the same. In a few languages, one word heads two columns.
"""

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path

from django.utils.translation import gettext as _

from storefront.product_files import translated_columns
from storefront.product_files.csv_reading import UnreadableFile, normalised_header
from storefront.product_files.rows import OR, one_each, refusal_without, unknown_column

# The languages of `headers.csv`, for people.
LANGUAGES = {
    "en": "English", "ar": "Arabic", "eu": "Basque", "bg": "Bulgarian", "ca": "Catalan", "zh-CN": "Chinese",
    "zh-HK": "Chinese", "zh-TW": "Chinese", "hr": "Croatian", "cs": "Czech", "da": "Danish", "nl": "Dutch",
    "eo": "Esperanto", "et": "Estonian", "fi": "Finnish", "fr": "French", "gl": "Galician", "ka": "Georgian",
    "de": "German", "el": "Greek", "he": "Hebrew", "hu": "Hungarian", "id": "Indonesian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lv": "Latvian", "lt": "Lithuanian", "nb": "Norwegian", "fa": "Persian",
    "pl": "Polish", "pt-BR": "Portuguese", "pt-PT": "Portuguese", "ro": "Romanian", "ru": "Russian", "sr": "Serbian",
    "sk": "Slovak", "sl": "Slovenian", "es": "Spanish", "sv": "Swedish", "th": "Thai", "tr": "Turkish",
    "uk": "Ukrainian", "vi": "Vietnamese",
}  # fmt: skip

# Columns that tell WooCommerce's files from those of other programs, some of which have a sale price.
DISTINCTIVE = {"published", "featured", "visibility", "in stock", "backorders", "regular price"}
# Headers, without a currency or tax in brackets, that state a price in other programs' files.
_PRICE = re.compile(
    r"((variant|product|item|unit|list|retail|standard|base|selling|sales?|net|gross|normal|current|my) )?price"
    r"|msrp|rrp|(verkaufs|einzel|brutto|netto)?preis|prix|prix de vente|precio|precio de venta|prezzo|prijs|cena|preço"
    r"|pris|fiyat|цена|قیمت"
)
MEASURES = {"weight", "length", "width", "height"}

# Columns that are not imported, with the values that lose nothing (an empty one never does).
UNCARRIED: dict[str, set[str]] = {
    "sold individually": {"0"},
    "customer reviews": {"1", "0"},
    "purchase note": set(),
    "shipping class": {"parent"},
    "grouped products": set(),
    "external url": set(),
    "button text": set(),
    # Flags of an attribute: shown on the product's page, and shared with other products.
    "attribute # visible": {"0", "1"},
    "attribute # global": {"0", "1"},
    "download # id": set(),
    "download # name": set(),
    "download # url": set(),
}

# Custom fields that plugins add, by the word after `Meta:`; the first one with a value counts.
META = {
    "_yoast_wpseo_title": "yoast title",
    "_yoast_wpseo_metadesc": "yoast description",
    "_yoast_wpseo_canonical": "yoast canonical",
    "_yoast_wpseo_opengraph-image": "yoast picture",
    "_yoast_wpseo_meta-robots-noindex": "yoast noindex",
    "rank_math_title": "rank math title",
    "rank_math_description": "rank math description",
    "rank_math_canonical_url": "rank math canonical",
    "rank_math_facebook_image": "rank math picture",
    "rank_math_robots": "rank math robots",
    # What WPML adds (`translated_rows.py`).
    "_wpml_import_language_code": "wpml language",
    "_wpml_import_source_language_code": "wpml source",
    "_wpml_import_translation_group": "wpml group",
}
# What Polylang for WooCommerce adds (`translated_rows.py`). One without the other is somebody else's column.
POLYLANG = {"language": "polylang language", "translation group": "polylang group"}
_NUMBER = re.compile(r"\d+")
# The numbers that attributes can have.
_ATTRIBUTES = {str(number): number for number in range(1, 200)}
_UNIT = re.compile(r" ?\([^()]*\)\Z")

KILOGRAMS = {
    "kg": Decimal(1),
    "g": Decimal("0.001"),
    "lbs": Decimal("0.45359237"),
    "lb": Decimal("0.45359237"),
    "oz": Decimal("0.028349523125"),
}
# By unit of length: the stored unit, `cm` or `in`, and the factor to it.
LENGTHS = {
    "cm": ("cm", Decimal(1)),
    "mm": ("cm", Decimal("0.1")),
    "m": ("cm", Decimal(100)),
    "in": ("in", Decimal(1)),
    "yd": ("in", Decimal(36)),
}


@cache
def _rows() -> list[dict[str, str]]:
    with Path(__file__).with_name("headers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def _words() -> dict[str, tuple[str, dict[str, str]]]:
    """For each known header its column, and its spelling by language. A word of two columns has both, in the order in
    which WooCommerce writes them, as `rows.ColumnIndex` reads them."""
    columns: dict[str, dict[str, None]] = {}
    spellings: dict[str, dict[str, str]] = {}
    for row in _rows():
        if row["column"] != "meta":
            plain = normalised_header(row["header"])
            columns.setdefault(plain, {})[row["column"]] = None
            spellings.setdefault(plain, {})[row["language"]] = row["header"]
    order = [row["column"] for row in _rows() if row["language"] == "en"]
    return {plain: (OR.join(sorted(found, key=order.index)), spellings[plain]) for plain, found in columns.items()}


@cache
def _meta() -> re.Pattern[str]:
    """The header of a custom field, whose key is the group."""
    words = {normalised_header(row["header"]) for row in _rows() if row["column"] == "meta"}
    return re.compile(rf"(?:{'|'.join(map(re.escape, sorted(words)))}) ?[:\uff1a] ?(\S+)\Z")


def languages() -> str:
    """The languages that headers can be in, as the end of a sentence; English, which most files have, comes first."""
    *names, last = dict.fromkeys(LANGUAGES.values())
    return f"{', '.join(names)} or {last}"


@lru_cache(maxsize=10_000)
def column_of(header: str) -> str | None:
    """The header's column, such as `regular price` or `attribute 2 name`; None if the header is not known."""
    plain = normalised_header(header)
    if found := _words().get(plain):
        return found[0]
    if meta := _meta().match(plain):
        return META.get(meta[1], f"meta {meta[1]}")
    # Translations keep these words, but not the conjunction between them.
    if plain.startswith("gtin, upc, ean"):
        return "barcode"
    if (found := _words().get(_UNIT.sub("", plain))) and found[0] in MEASURES:
        return found[0]
    number = _NUMBER.search(plain)
    if number and (found := _words().get(_NUMBER.sub("#", plain))):
        return found[0].replace("#", number[0])
    return POLYLANG.get(plain) or translated_columns.column_of(header)


def harmless_values(header: str) -> set[str] | None:
    """The values that lose nothing, of a column that is not imported; None if it is imported, or not known."""
    column = column_of(header) or ""
    return set() if column.startswith("meta ") else UNCARRIED.get(_NUMBER.sub("#", column))


def attribute_columns(columns: Iterable[str]) -> Counter[int]:
    """How many columns each attribute has of those with its name and its values. An update reads as many columns for
    each of its products, so only those of the file are looked at."""
    parts = (column.split(" ", 2) for column in columns if column.startswith("attribute "))
    found = (_ATTRIBUTES.get(number) for _unused, number, part in parts if part in ("name", "values"))
    return Counter(number for number in found if number)


def lone_headers(headers: Mapping[str, str]) -> set[str]:
    """The headers, given by column, of attributes' names without values, of values or defaults without names, and of
    languages without groups or the reverse, which are not imported."""
    polylang = [headers[column] for column in POLYLANG.values() if column in headers]
    counted = attribute_columns(headers)
    numbered = {column: column.split(" ", 2) for column in headers if column.startswith("attribute ")}
    return {
        headers[column]
        for column, (_unused, number, part) in numbered.items()
        if part in ("name", "values", "default") and counted[int(number)] < 2
    } | {*polylang[: len(polylang) % 2]}


def warnings(headers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(column, reason) for each header that is not known, or is none of the file's language."""
    counted = Counter(language for header in headers for language in _spellings(header))
    language = max(counted, key=lambda each: (counted[each], each == "en"), default="en")
    in_language = [
        spellings[each] for _unused, spellings in _words().values() for each in {language, "en"} & {*spellings}
    ]
    columns = one_each(map(column_of, headers))
    for position, (header, column) in enumerate(zip(headers, columns, strict=True)):
        if column is None:
            yield unknown_column(position, header, in_language)
        elif meant := _MISSPELT.get(normalised_header(header)):
            yield header, f"is read as {meant}"
        elif _is_foreign(header, language) or (headers.count(header) == 1 and _is_guess(header, column)):
            yield header, f"is read as {_english(column)}"


def refusal(headers: Sequence[str], columns: Collection[str], *, update: bool) -> str:
    """The reason why a file with these headers is not imported, although it looks like WooCommerce's; empty if it is
    imported."""
    foreign = next((header for header in headers if column_of(header) is None and _states_price(header)), "")
    if foreign:
        return (
            f"The column {foreign} is none of WooCommerce's, but looks like a price, so it is unclear what the products"
            " cost. If the file is WooCommerce's, remove that column; else name its prices Regular price and Sale"
            " price."
        )
    missing = ["Name"] if "name" not in columns else []
    missing += ["Regular price"] if "regular price" not in columns else []
    return "" if update else refusal_without("WooCommerce", missing)


def _states_price(header: str) -> bool:
    return _PRICE.fullmatch(_UNIT.sub("", normalised_header(header))) is not None


def units(headers: Mapping[str, str]) -> tuple[Decimal, str | None, Decimal]:
    """From the headers by column: kilograms per unit of weight; the unit that lengths are stored in, None without
    lengths; how many of that a unit of length is. Raises UnreadableFile for units that are not known."""
    weight = _unit(headers.get("weight", "")) or "kg"
    named = {_unit(headers[name]) for name in ("length", "width", "height") if name in headers}
    length = next(iter(named - {""}), "cm")
    if weight not in KILOGRAMS or length not in LENGTHS or len(named - {""}) > 1:
        raise UnreadableFile(
            _(
                "The units in the header are not supported; expected one of %(kilograms)s for weight and one of "
                "%(lengths)s for length, width and height."
            )
            % {"kilograms": ", ".join(KILOGRAMS), "lengths": ", ".join(LENGTHS)}
        )
    unit, factor = LENGTHS[length]
    return KILOGRAMS[weight], unit if named else None, factor


def _unit(header: str) -> str:
    """The unit in a header such as `Weight (kg)`; empty if there is none."""
    found = re.search(r"\(([^)]*)\)", header)
    return found[1].strip().lower() if found else ""


def _spellings(header: str) -> dict[str, str]:
    return _words().get(normalised_header(header), ("", {}))[1]


def _is_foreign(header: str, language: str) -> bool:
    spellings = _spellings(header)
    return bool(spellings) and not spellings.keys() & {language, "en"}


def _is_guess(header: str, column: str) -> bool:
    """Whether the header could be another column; an attribute's name could not, since it would be none without one."""
    return OR in (column_of(header) or "") and not column.endswith(" name")


def _english(column: str | None) -> str:
    name, number = _NUMBER.sub("#", column or ""), _NUMBER.search(column or "")
    words = (spellings["en"] for each, spellings in _words().values() if each == name and "en" in spellings)
    return next(words, name).replace("#", number[0] if number else "")


# Misspelt by WooCommerce itself, in exports of older versions.
_MISSPELT = {normalised_header("Lieferrückstande erlaubt?"): "Lieferrückstände erlaubt?"}

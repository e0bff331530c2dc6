"""A mapping: which column of a table is which member of a product."""

import hashlib
import json
import tomllib
from collections import Counter
from collections.abc import Mapping as Dict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.product_files.csv_reading import MAX_COLUMNS, UnreadableFile, normalised_header
from storefront.product_files.woocommerce.headers import KILOGRAMS

MAX_CONSTANT_LENGTH = 500
MAX_SEPARATOR_LENGTH = 5
MAX_FILE_BYTES = 1 << 20

# Every member with its name on the mapping's page.
MEMBERS: dict[str, Any] = {
    "name": _lazy("Name"),
    "sku": _lazy("SKU"),
    "barcode": _lazy("Barcode"),
    "slug": _lazy("Slug"),
    "description": _lazy("Description"),
    "short_description": _lazy("Short description"),
    "price": _lazy("Price"),
    "compare_price": _lazy("Compare price"),
    "cost_price": _lazy("Cost price"),
    "stock_qty": _lazy("Stock"),
    "weight": _lazy("Weight"),
    "categories": _lazy("Categories"),
    "tags": _lazy("Tags"),
    "images": _lazy("Pictures (URLs)"),
    "brand": _lazy("Brand"),
    "status": _lazy("Status"),
    "group": _lazy("Product key that variants share"),
}
for _number in (1, 2, 3):
    MEMBERS[f"option{_number}_name"] = format_lazy(_lazy("Option {number} name"), number=_number)
    MEMBERS[f"option{_number}_value"] = format_lazy(_lazy("Option {number} value"), number=_number)
# Members that can come from several columns.
LISTS = ("categories", "tags", "images")
# Members that all products of a file can share.
CONSTANTS = ("brand", "status", "categories", "tags", "stock_qty", "option1_name", "option2_name", "option3_name")
WEIGHT_UNITS = tuple(KILOGRAMS)

# Headers, in plain form, by which a member is guessed.
_USUAL: dict[str, tuple[str, ...]] = {
    "name": ("product name", "title", "product", "item", "item name", "artikel", "artikelname", "bezeichnung", "nom"),
    "sku": ("article number", "item number", "artikelnummer", "art.-nr.", "article", "reference", "code", "item no"),
    "barcode": ("ean", "gtin", "upc", "isbn"),
    "slug": ("handle", "url key"),
    "description": ("long description", "beschreibung", "body", "details"),
    "short_description": ("summary", "kurzbeschreibung"),
    "price": ("retail price", "sales price", "unit price", "preis", "vk", "prix", "precio"),
    "compare_price": ("rrp", "msrp", "uvp", "list price", "old price", "compare at price"),
    "cost_price": ("cost", "purchase price", "ek"),
    "stock_qty": ("stock", "quantity", "qty", "inventory", "bestand", "lager", "menge"),
    "weight": ("gewicht", "poids"),
    "categories": ("category", "kategorie", "kategorien", "product type", "collection"),
    "tags": ("keywords", "labels"),
    "images": ("image", "image url", "picture", "pictures", "bild", "photo", "image link"),
    "brand": ("manufacturer", "vendor", "marke", "hersteller"),
    "status": ("published", "active", "visible"),
    "group": ("parent", "parent sku", "group id", "item group id", "product id"),
    "option1_value": ("colour", "color", "farbe"),
    "option2_value": ("size", "grösse", "größe"),
}
_MEMBER_OF = {header: member for member, headers in _USUAL.items() for header in headers}


@dataclass(frozen=True)
class Mapping:
    """`columns` has the member of each header that is read, as `named` has it. `constants` are values of members that
    have no column."""

    columns: dict[str, str]
    constants: dict[str, str] = field(default_factory=dict)
    weight_unit: str = "kg"
    list_separator: str = ","
    level_separator: str = ">"

    def problems(self, headers: Sequence[str] = ()) -> list[str]:
        """The reasons why it cannot be used, for a table with these headers if there are any."""
        members = Counter(self.columns.values())
        known = {*members, *self.constants}
        found = [
            _("%(value)s is not a member of products") % {"value": name[:40]} for name in sorted(known - MEMBERS.keys())
        ]
        found += [
            _("%(name)s has %(count)s columns") % {"name": MEMBERS.get(name, name), "count": count}
            for name, count in members.items()
            if count > 1 and name not in LISTS
        ]
        found += [
            _("%(value)s cannot be a constant") % {"value": MEMBERS[name]}
            for name in self.constants
            if name in MEMBERS.keys() - CONSTANTS
        ]
        found += [
            _("%(value)s has both a column and a constant") % {"value": MEMBERS[name]}
            for name in members
            if name in self.constants
        ]
        if not known & {"name", "sku", "slug"}:
            found.append(_("no column is the name, SKU or slug, by which a product is recognised"))
        for n in (1, 2, 3):
            if f"option{n}_value" in known and f"option{n}_name" not in known:
                found.append(_("option %(n)s has values, but no name") % {"n": n})
        if "group" in known and "option1_value" not in known:
            found.append(_("variants share a key, but no column has the values of option 1"))
        if self.weight_unit not in WEIGHT_UNITS:
            found.append(_("the unit of weight must be one of %(units)s") % {"units": ", ".join(WEIGHT_UNITS)})
        for separator in (self.list_separator, self.level_separator):
            if not 1 <= len(separator) <= MAX_SEPARATOR_LENGTH:
                found.append(_("a separator must have 1 to %(most)s characters") % {"most": MAX_SEPARATOR_LENGTH})
        if any(len(text) > MAX_CONSTANT_LENGTH for text in self.constants.values()):
            found.append(_("a constant can have at most %(most)s characters") % {"most": MAX_CONSTANT_LENGTH})
        return found + (self._missing(headers) if headers else [])

    def _missing(self, headers: Sequence[str]) -> list[str]:
        found = set(map(normalised_header, headers))
        return [
            _("the file has no column %(value)s") % {"value": each[:40]}
            for each in self.columns
            if normalised_header(each) not in found
        ]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def named(headers: Sequence[str]) -> list[str]:
    """A name for each column: its header, with a number from the second column of the same header on, as in `Price`
    and `Price (2)`; or its place, as in `column 3`."""
    taken = set(map(normalised_header, headers))
    seen: set[str] = set()
    found = []
    for place, header in enumerate(headers, 1):
        name, number = header or _("column %(place)s") % {"place": place}, 1
        while normalised_header(name) in (taken if number > 1 else seen):
            number += 1
            name = f"{header} ({number})"
        seen.add(normalised_header(name))
        taken.add(normalised_header(name))
        found.append(name)
    return found


def digest_of(headers: Sequence[str]) -> str:
    """The digest by which a mapping is found again for a file with the same header row."""
    return hashlib.sha256(json.dumps([normalised_header(header) for header in headers]).encode()).hexdigest()


def guessed_members(headers: Sequence[str]) -> dict[str, str]:
    """The likely member of each header, as far as one is; each but those of lists once."""
    found: dict[str, str] = {}
    for header in headers:
        plain = normalised_header(header)
        name = plain.replace(" ", "_")
        member = name if name in MEMBERS else _MEMBER_OF.get(plain.rstrip("0123456789 ") if "image" in plain else plain)
        if member and (member in LISTS or member not in found.values()):
            found.setdefault(header, member)
    return found


def from_toml(path: Path) -> Mapping:
    """The mapping in a TOML file: `[columns]` with `member = "Header"`, or a list of headers; `[constants]`; and
    `[settings]`. Raises UnreadableFile, which names the line or the key."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise UnreadableFile(
                _("The mapping %(path)s is larger than %(most)s bytes.") % {"path": path, "most": f"{MAX_FILE_BYTES:,}"}
            )
        given = tomllib.loads(content.decode())
    except OSError as error:
        raise UnreadableFile(
            _("The mapping %(path)s cannot be read: %(reason)s.") % {"path": path, "reason": error.strerror}
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableFile(
            _("The mapping %(path)s is not valid TOML: %(value)s.") % {"path": path, "value": str(error)[:200]}
        ) from None
    return _from_tables(given, path)


def _from_tables(given: Dict[str, Any], path: Path) -> Mapping:
    tables = {name: given.get(name, {}) for name in ("columns", "constants", "settings")}
    settings = ("weight_unit", "list_separator", "level_separator")
    problems = [
        _("%(value)s is not one of %(tables)s") % {"value": name[:40], "tables": ", ".join(tables)}
        for name in given
        if name not in tables
    ]
    problems += [
        _("%(name)s is not a table") % {"name": name} for name, table in tables.items() if not isinstance(table, dict)
    ]
    if not problems:
        problems += [
            _("%(value)s is not one of %(settings)s") % {"value": name[:40], "settings": ", ".join(settings)}
            for name in tables["settings"]
            if name not in settings
        ]
        texts = [*tables["constants"].items(), *tables["settings"].items()]
        problems += [
            _("%(value)s is not a text") % {"value": name[:40]} for name, value in texts if not isinstance(value, str)
        ]
    columns: dict[str, str] = {}
    for member, stated in tables["columns"].items() if not problems else ():
        headers = stated if isinstance(stated, list) else [stated]
        if not all(isinstance(header, str) and header for header in headers):
            problems.append(_("%(value)s is not the header of a column, or a list of headers") % {"value": member[:40]})
            continue
        problems += [
            _("the column %(value)s has two members") % {"value": header[:40]}
            for header in headers
            if header in columns
        ]
        columns |= dict.fromkeys(headers, member)
    if not problems and len(columns) <= MAX_COLUMNS:
        mapping = Mapping(columns, tables["constants"], **tables["settings"])
        if not (problems := mapping.problems()):
            return mapping
    raise UnreadableFile(
        _("The mapping %(path)s cannot be used: %(names)s.") % {"path": path, "names": "; ".join(problems[:10])}
    )

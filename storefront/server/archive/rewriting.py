"""Turns a row of an archive into one of the copy: new ids and UUIDs, new names of files, values of Python."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import FileField, JSONField, UUIDField

from storefront.catalogue.records import media_url
from storefront.server.archive.addresses import ADDRESSED, TRANSLATED, Addresses
from storefront.server.archive.contents import (
    JSON_REFERENCES,
    OWN_PICTURE,
    REFERENCES,
    card_of_payment,
    json_reference,
)
from storefront.server.archive.exporting import NAMES_OF_FILES, storage_of
from storefront.server.archive.identities import Identities, Unknown
from storefront.server.archive.tables import Table
from storefront.shops.models import Shop


class Rewriting:
    """`names` has the new name of each file, by storage and old name; `addresses` rewrites those of pictures."""

    def __init__(self, ids: Identities, shop: Shop, names: Mapping[tuple[str, str], str], addresses: Addresses) -> None:
        self.ids, self.shop, self._names, self._addresses = ids, shop, names, addresses

    def row(self, table: Table, row: dict[str, Any]) -> dict[str, Any]:
        """The row of the copy. Raises Unknown and ValidationError, which name the column."""
        label = table._meta.label
        found = dict(row)
        for field in table._meta.concrete_fields:
            name = field.attname
            if row[name] is not None:
                try:
                    found[name] = self._value(label, field, row[name])
                except (Unknown, ValidationError, TypeError, ValueError) as error:
                    text = "; ".join(error.messages) if isinstance(error, ValidationError) else str(error)
                    raise ValidationError(f"{label}, {name}: {text}") from None
        self._change(label, row, found)
        return found

    def _value(self, label: str, field: Any, value: Any) -> Any:
        name = field.attname
        if field.is_relation:
            return self.ids.of_row(field.remote_field.model._meta.label, value)
        if field.primary_key:
            return self.ids.of_row(label, value) if self.ids.keeps(label) or label == "shops.Shop" else value
        if isinstance(field, UUIDField):
            return self.ids.uuid(value)
        if isinstance(field, JSONField):
            return self._document(label, name, value) if (label, name) in JSON_REFERENCES else value
        if isinstance(field, FileField):
            return self._file(storage_of(field), value)
        if other := REFERENCES.get(label, {}).get(name):
            return self._loose(label, other, value)
        return field.to_python(value)

    def _loose(self, label: str, other: str, value: int) -> int | None:
        if label == "catalogue.DigitalFile":
            return self.ids.last_up_to(other, value)
        try:
            return self.ids.of_row(other, value)
        except Unknown:
            return None

    def _document(self, label: str, column: str, value: Any) -> Any:
        return [self._entry(label, column, entry) for entry in value]

    def _entry(self, label: str, column: str, entry: dict[str, Any]) -> dict[str, Any]:
        found = dict(entry)
        for member, value in entry.items():
            other = json_reference(label, column, member, entry)
            if other and isinstance(value, list):
                known = [self._known_or_none(other, each) for each in value]
                found[member] = [each for each in known if each is not None]
            elif other and value is not None:
                found[member] = self._known_or_none(other, value)
        return found

    def _known_or_none(self, other: str, value: int) -> int | None:
        try:
            return self.ids.of_row(other, value)
        except Unknown:
            return None

    def _file(self, storage: str, name: str) -> str:
        # One that was missing at the export keeps its name, unless that is another shop's by now.
        return self._names.get((storage, name), "") if name else ""

    def _change(self, label: str, row: dict[str, Any], found: dict[str, Any]) -> None:
        """What depends on several columns, or on a text."""
        for column in ADDRESSED.get(label, ()):
            found[column] = self._addresses.rewritten(found[column]) if found[column] else found[column]
        for column in TRANSLATED.get(label, ()):
            found[column] = self._translated(found[column])
        if label in NAMES_OF_FILES:
            column = NAMES_OF_FILES[label]
            found[column] = self._file("pictures", row[column])
        elif label == "orders.OrderLine" and str(row["image"]).startswith(OWN_PICTURE):
            found["image"] = media_url(self.shop, self._file("pictures", row["image"].removeprefix(OWN_PICTURE)))
        elif label == "payments.Payment" and (card := card_of_payment(row)):
            found["reference"] = str(self.ids.of_row("gift_cards.GiftCard", card))
        elif label == "payments.OrderDraft" and row["sale"].get("redemption"):
            found["sale"] = row["sale"] | {"redemption": str(self.ids.uuid(row["sale"]["redemption"]))}

    def _translated(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._translated(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._translated(each) for each in value]
        return self._addresses.rewritten(value) if isinstance(value, str) else value

"""New ids for the rows of an archive: the ids of the copy are never those of the original.

A table's ids are two sorted arrays, of 16 bytes a row together, and kept only for tables that others refer to.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from uuid import UUID, uuid4, uuid5

from storefront.kit.bulk_insert import allocate_ids
from storefront.server.archive.contents import JSON_REFERENCES, REFERENCES, archived_tables
from storefront.server.archive.tables import Table, foreign_keys


class Unknown(Exception):
    """The archive has no row with this id."""


class Identities:
    """Maps the archive's ids and UUIDs. `old` are the ids of each table; `removed` those that rows without a constraint
    still name."""

    def __init__(self, shop: int, old: Mapping[str, array], removed: Mapping[str, set[int]]) -> None:
        self.shop = shop
        # UUIDs follow from those of the archive, so that a payment and the entries with its key stay together.
        self._namespace = uuid4()
        self._old = dict(old)
        self._new: dict[str, array] = {}
        self._removed: dict[str, dict[int, int]] = {}
        for table in archived_tables():
            label = table._meta.label
            if label in referenced_tables():
                gone = sorted(removed.get(label, ()))
                # One call for each table, since on SQLite ids are only reserved by using them. The rows come last.
                ids = allocate_ids(table, len(gone) + len(old[label]))
                self._removed[label] = dict(zip(gone, ids, strict=False))
                self._new[label] = array("q", ids[len(gone) :])

    def of_row(self, label: str, old: int) -> int:
        """The new id of a row. Raises Unknown."""
        if label == "shops.Shop":
            return self.shop
        known = self._old[label]
        place = bisect_left(known, old)
        if place < len(known) and known[place] == old:
            return self._new[label][place]
        try:
            return self._removed[label][old]
        except KeyError:
            raise Unknown(f"{label} {old}") from None

    def last_up_to(self, label: str, old: int) -> int:
        """The new id of the last row that is not after this id; 0 if there is none."""
        place = bisect_right(self._old[label], old)
        return self._new[label][place - 1] if place else 0

    def keeps(self, label: str) -> bool:
        """Returns True if the new ids of this table are known before its rows are inserted."""
        return label in self._new

    def uuid(self, old: str | UUID) -> UUID:
        """The UUID that takes the place of this one."""
        return uuid5(self._namespace, str(old))


def referenced_tables() -> set[str]:
    """The archived tables that others refer to, by foreign keys or in other columns."""
    found = {other for columns in REFERENCES.values() for other in columns.values()}
    found |= {other for members in JSON_REFERENCES.values() for other in members.values() if other}
    for table in archived_tables():
        found |= {field.remote_field.model._meta.label for field in foreign_keys(table)}
    return (found & {table._meta.label for table in archived_tables()}) - {"shops.Shop"}


def loose_references(table: Table) -> dict[str, str]:
    """The columns that are foreign keys without a constraint, whose rows can be gone, with their tables."""
    return {
        field.attname: field.remote_field.model._meta.label
        for field in foreign_keys(table)
        if not field.db_constraint and field.attname != "shop_id"
    }

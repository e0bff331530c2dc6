"""Rows that imported products refer to by name: categories by path, brands, vendors, shipping origins, tax classes.

Missing rows are created. Callers hold the lock of the shop's tree, so that two imports never create the same row twice.

In one import, a name stays that of the row that it was found for, also if somebody renames that row meanwhile: a later
batch makes no second brand of the old name. Only if there is a row of that name again, it is that one, and what was
removed is made again.
"""

from datetime import datetime
from itertools import chain, count
from typing import Any

from storefront.catalogue import rules, tree
from storefront.catalogue.models import Brand, Category, ShippingOrigin, TaxClass, Vendor
from storefront.catalogue.search_index import NewWords
from storefront.product_files.parsed_products import NAMED, CategoryPath, ParsedProduct
from storefront.shops.models import Shop

MODELS: dict[str, Any] = {"brand": Brand, "vendor": Vendor, "shipping_origin": ShippingOrigin, "tax_class": TaxClass}
Names = tuple[str, ...]


class References:
    """Ids by name for one shop, and `words`, its words for spelling, cached across the batches of one import."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self._ids: dict[str, dict[str, int]] = {name: {} for name in NAMED}
        self._paths: dict[Names, int] = {}
        self._slugs: set[str] = set()
        # The rows of the last `resolve`, whose transaction may be rolled back. SQLite gives their ids again then.
        self._newest: list[tuple[str, int]] = []
        self.clear()

    def clear(self) -> None:
        """Forget the rows of a transaction that was rolled back, and read all others again."""
        for kind, id in self._newest:
            known: dict[Any, int] = self._paths if kind == "category" else self._ids[kind]
            for name in [name for name, row in known.items() if row == id]:
                del known[name]
        self._newest, self._is_stale = [], bool(self._paths or any(self._ids.values()))
        # The rows that were created since `take_created`, as (kind, id, name).
        self._created: list[tuple[str, int, str]] = []
        self.words = NewWords(self.shop)

    def take_created(self) -> list[tuple[str, int, str]]:
        """Return the rows that were created since the last call, as (kind, id, name)."""
        created, self._created = self._created, []
        return created

    def resolve(self, products: list[ParsedProduct], now: datetime) -> None:
        """Create the missing rows that these products refer to, and renumber the tree."""
        # The rows of the batch before are known to be there.
        self._newest = []
        missing, unknown = self.look_up(products)
        before = len(self._created)
        for path in missing.values():
            self._create_path(path, now)
        if missing:
            tree.renumber(self.shop)
        for kind, wanted in unknown.items():
            rows = MODELS[kind].objects.bulk_create(MODELS[kind](shop=self.shop, name=name) for name in wanted.values())
            self._ids[kind].update(zip(wanted, (row.pk for row in rows), strict=True))
            self._created += [(kind, row.pk, row.name) for row in rows]
        self._newest = [(kind, id) for kind, id, _ in self._created[before:]]

    def look_up(self, products: list[ParsedProduct]) -> tuple[dict[Names, CategoryPath], dict[str, dict[str, str]]]:
        """Read the existing rows of each kind if these products refer to a name that is not cached yet. Returns the
        paths that the shop does not have, and the names by kind and without case."""
        missing, unknown = self._missing_paths(products), self._unknown_names(products)
        if not missing and not unknown and not self._is_stale:
            return missing, unknown
        if missing or self._is_stale:
            self._read_categories()
        for kind in NAMED if self._is_stale else unknown:
            rows = MODELS[kind].objects.filter(shop=self.shop).values_list("name", "pk")
            self._ids[kind] = _still_there(self._ids[kind], {name.casefold(): pk for name, pk in rows})
        self._is_stale = False
        # Reads all names again, since a cached one can have been removed since.
        return self._missing_paths(products), self._unknown_names(products)

    def category_id(self, path: CategoryPath) -> int | None:
        """The category's id; None if it does not exist yet."""
        return self._paths.get(path.key)

    def id_of(self, kind: str, name: str | None) -> int | None:
        """The id of the brand, vendor, shipping origin or tax class of this name; `kind` is one of NAMED."""
        return self._ids[kind].get(name.casefold()) if name else None

    def _missing_paths(self, products: list[ParsedProduct]) -> dict[Names, CategoryPath]:
        missing: dict[Names, CategoryPath] = {}
        for parsed in products:
            for path in parsed.categories or ():
                if path.key not in self._paths:
                    missing.setdefault(path.key, path)
        return missing

    def _unknown_names(self, products: list[ParsedProduct]) -> dict[str, dict[str, str]]:
        """The names that have no id yet, by kind and without case."""
        unknown: dict[str, dict[str, str]] = {}
        for parsed in products:
            for kind, name in parsed.related_names.items():
                if name and name.casefold() not in self._ids[kind]:
                    unknown.setdefault(kind, {}).setdefault(name.casefold(), name)
        return unknown

    def _read_categories(self) -> None:
        categories = Category.objects.filter(shop=self.shop).order_by("lft", "id")
        rows = list(categories.values_list("id", "parent_id", "name", "slug"))
        parents = {id: (parent, name.casefold()) for id, parent, name, _ in rows}
        found: dict[Names, int] = {}
        self._slugs = {slug for *_, slug in rows}
        for id in parents:
            names: list[str] = []
            node = id
            while node is not None and len(names) <= len(parents):
                node, name = parents[node]
                names.append(name)
            # The first of siblings with the same name is used.
            found.setdefault(tuple(reversed(names)), id)
        self._paths = _still_there(self._paths, found, set(parents))

    def _create_path(self, path: CategoryPath, now: datetime) -> None:
        """Create every category of the path that does not exist."""
        parent = None
        for depth, node in enumerate(path.nodes, 1):
            names = path.key[:depth]
            if names not in self._paths:
                slug = self._free_slug(node.fields.get("slug"), path.names[:depth])
                fields = {**node.fields, "slug": slug, "created_at": now, "updated_at": now}
                created = Category.objects.create(shop=self.shop, name=node.name, parent_id=parent, **fields)
                self._paths[names] = created.pk
                self._slugs.add(slug)
                self._created.append(("category", created.pk, node.name))
            parent = self._paths[names]

    def _free_slug(self, stated: str | None, names: Names) -> str:
        """The first slug that no category has: the stated one, the name's, that of parent and name, or that followed
        by a number. `look_up` has read the existing ones."""
        own = rules.slug_of(names[-1], fallback="category")
        together = rules.slug_of(" ".join(names[-2:]), fallback="category")
        numbered = (f"{together}-{number}" for number in count(2))
        candidates = chain(filter(None, [stated, own, together]), numbered)
        return next(slug for slug in candidates if slug not in self._slugs)


def _still_there(known: dict[Any, int], found: dict[Any, int], ids: set[int] | None = None) -> dict[Any, int]:
    """The rows that were found, and earlier names of those that exist. `ids` are all existing ones, if `found` lacks
    some."""
    existing = set(found.values()) if ids is None else ids
    return {name: id for name, id in known.items() if id in existing} | found

"""What imported products refer to by name: categories by their paths, brands, vendors, shipping origins, tax classes.

What is missing is made. Callers hold the lock of the shop's tree, so that two imports never make the same twice.
"""

from datetime import datetime
from itertools import chain, count
from typing import Any

from storefront.catalogue import rules, tree
from storefront.catalogue.incoming import NAMED, CategoryPath, ProductRecord
from storefront.catalogue.models import Brand, Category, ShippingOrigin, TaxClass, Vendor
from storefront.shops.models import Shop

MODELS: dict[str, Any] = {"brand": Brand, "vendor": Vendor, "shipping_origin": ShippingOrigin, "tax_class": TaxClass}
Names = tuple[str, ...]


class References:
    """Ids by name for one shop, remembered over the batches of one import."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.forget()

    def forget(self) -> None:
        """Read everything anew: after a rollback, what was made is gone."""
        self._named: dict[str, dict[str, int]] = {name: {} for name in NAMED}
        self._paths: dict[Names, int] = {}

    def resolve(self, records: list[ProductRecord], now: datetime) -> None:
        """Make whatever these records name that does not stand yet; the tree is right again afterwards."""
        self.look_up(records)
        missing: dict[Names, CategoryPath] = {}
        for record in records:
            for path in record.categories or ():
                if path.key not in self._paths:
                    missing.setdefault(path.key, path)
        for path in missing.values():
            self._make_path(path, now)
        if missing:
            tree.renumber(self.shop)
        for kind, known in self._named.items():
            wanted: dict[str, str] = {}
            for record in records:
                if (name := record.named.get(kind)) and name.casefold() not in known:
                    wanted.setdefault(name.casefold(), name)
            rows = MODELS[kind].objects.bulk_create(MODELS[kind](shop=self.shop, name=name) for name in wanted.values())
            known.update(zip(wanted, (row.pk for row in rows), strict=True))

    def look_up(self, records: list[ProductRecord]) -> None:
        """Learn what stands, where these records name something not met yet."""
        if any(path.key not in self._paths for record in records for path in record.categories or ()):
            self._read_categories()
        for kind in NAMED:
            names = (record.named.get(kind) for record in records)
            if any(name and name.casefold() not in self._named[kind] for name in names):
                rows = MODELS[kind].objects.filter(shop=self.shop).values_list("name", "pk")
                self._named[kind] = {name.casefold(): pk for name, pk in rows}

    def category(self, path: CategoryPath) -> int | None:
        """The category's id; None for one that is not made yet."""
        return self._paths.get(path.key)

    def named(self, kind: str, name: str | None) -> int | None:
        return self._named[kind].get(name.casefold()) if name else None

    def _read_categories(self) -> None:
        rows = Category.objects.filter(shop=self.shop).order_by("lft", "id").values_list("id", "parent_id", "name")
        parents = {id: (parent, name.casefold()) for id, parent, name in rows}
        self._paths = {}
        for id in parents:
            names: list[str] = []
            at = id
            while at is not None and len(names) <= len(parents):
                at, name = parents[at]
                names.append(name)
            # Of siblings with the same name, the first stands for both.
            self._paths.setdefault(tuple(reversed(names)), id)

    def _make_path(self, path: CategoryPath, now: datetime) -> None:
        """Make every step of the path that does not stand."""
        parent = None
        for depth, node in enumerate(path.nodes, 1):
            names = path.key[:depth]
            if names not in self._paths:
                slug = self._free_slug(node.fields.get("slug"), path.names[:depth])
                fields = {**node.fields, "slug": slug, "created_at": now, "updated_at": now}
                made = Category.objects.create(shop=self.shop, name=node.name, parent_id=parent, **fields)
                self._paths[names] = made.pk
            parent = self._paths[names]

    def _free_slug(self, stated: str | None, names: Names) -> str:
        """The stated slug, else the name's, the parent's and the name's together, or that with a number."""
        own = rules.slug_of(names[-1], fallback="category")
        together = rules.slug_of(" ".join(names[-2:]), fallback="category")
        numbered = (f"{together}-{number}" for number in count(2))
        return next(slug for slug in chain(filter(None, [stated, own, together]), numbered) if not self._stands(slug))

    def _stands(self, slug: str) -> bool:
        return Category.objects.filter(shop=self.shop, slug=slug).exists()

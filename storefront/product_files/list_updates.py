"""Updates the lists of an existing product from a file: options with their values, categories, and items of bundles.
What changes is recorded, as assignments and plans that are written later."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from storefront.catalogue import children
from storefront.catalogue.dated.plans import Plan, plan_of
from storefront.catalogue.models import Option, OptionValue, ProductCategory
from storefront.product_files.existing import ExistingProduct
from storefront.product_files.parsed_products import CategoryPath, ParsedOption, ParsedProduct
from storefront.product_files.references import References

Changes = dict[str, list[Any]]


class ListUpdates:
    """The differences between one product and its parsed product, as far as they are found, and the plans that write
    them."""

    def __init__(self, existing: ExistingProduct, parsed: ParsedProduct, references: References, now: datetime) -> None:
        self.existing, self.product, self.parsed = existing, existing.product, parsed
        self.references, self.now = references, now
        self.changes: Changes = {}
        # Values to set in existing rows, as (row, attribute, value). Comparing changes nothing.
        self.assignments: list[tuple[Any, str, Any]] = []
        self.plans = children.Plans()

    def set(self, row: Any, fields: dict[str, Any], path: str = "") -> list[str]:
        """Record the fields that differ, to be set when writing; returns the changed columns."""
        changed = []
        for name, value in fields.items():
            before = getattr(row, name)
            if before != value:
                self.changes[f"{path}{name}"] = [before, value]
                self.assignments.append((row, name, value))
                changed.append(name)
        return changed

    def update_options(self, wanted: list[ParsedOption]) -> None:
        self.plans.values = values = Plan()

        def put(row: Option | None, numbered: tuple[int, ParsedOption]) -> tuple[Option, list[str]]:
            order, option = numbered
            path, fields = f"option {option.name}", {"sort_order": order, **option.fields}
            changed: list[str] = []
            if row is None:
                row = Option(shop_id=self.product.shop_id, product=self.product, name=option.name, **fields)
                self.changes[path] = [None, "added"]
            else:
                changed = self.set(row, fields, f"{path} ")
            of_option = self._option_values(row, option)
            values.writes += of_option.writes
            values.deletes += of_option.deletes
            return row, changed

        existing = [(row.name, row) for row in self.existing.options]
        numbered = [(option.name, (order, option)) for order, option in enumerate(wanted)]
        self.plans.options = plan_of(existing, numbered, put)
        self.record_removed(self.plans.options, "option")

    def _option_values(self, option: Option, wanted: ParsedOption) -> Plan:
        def put(row: OptionValue | None, value: tuple[str, dict[str, Any]]) -> tuple[OptionValue, list[str]]:
            label, fields = value
            path = f"option {wanted.name} {label}"
            if row is not None:
                return row, self.set(row, fields, f"{path} ")
            self.changes[path] = [None, "added"]
            return OptionValue(shop_id=self.product.shop_id, option=option, label=label, **fields), []

        existing = [(row.label, row) for row in self.existing.option_values.get(option.pk, ())]
        numbered = enumerate(wanted.values)
        values = [(label, (label, {"sort_order": order, **fields})) for order, (label, fields) in numbered]
        plan = plan_of(existing, values, put)
        self.record_removed(plan, f"option {wanted.name}")
        return plan

    def update_categories(self, wanted: list[CategoryPath]) -> None:
        def put(link: ProductCategory | None, path: CategoryPath) -> tuple[ProductCategory, list[str]]:
            name = "category " + " > ".join(path.names)
            if link is not None:
                fields = {} if path.sort_order is None else {"sort_order": path.sort_order}
                return link, self.with_updated_at(link, self.set(link, fields, f"{name} "))
            self.changes[name] = [None, "added"]
            category = self.references.category_id(path)
            return children.new_link(self.product, category, self.now, path.sort_order or 0), []

        existing = [(link.category_id, link) for link in self.existing.category_links]
        # In a dry run, a new category has no id.
        ids = ((self.references.category_id(path) or path.key, path) for path in wanted)
        self.plans.categories = plan_of(existing, _unique_by_key(ids), put)
        if self.parsed.categories_are_partial:
            self.plans.categories.deletes = []
        self.record_removed(self.plans.categories, "category")

    def update_bundle_items(self) -> None:
        rows = self.existing.bundle_items
        before = [
            (row.product.slug, row.variant.option_values if row.variant else None, row.qty, row.sort_order)
            for row in rows
        ]
        wanted = [
            (item.product, item.variant, item.fields["qty"], item.fields["sort_order"])
            for item in self.parsed.bundle_items or ()
        ]
        if before != wanted:
            self.changes["bundle_items"] = [len(before), len(wanted)]
            self.plans.bundle_items = Plan(deletes=rows)

    def with_updated_at(self, row: Any, changed: Sequence[str]) -> list[str]:
        """The columns to write, with `updated_at` set if any changed."""
        if not changed:
            return []
        self.assignments.append((row, "updated_at", self.now))
        return [*changed, "updated_at"]

    def record_removed(self, plan: Plan, path: str) -> None:
        for row in plan.deletes:
            self.changes[f"{path} {row}"] = ["removed", None]


def _unique_by_key(keyed: Iterable[tuple[Any, CategoryPath]]) -> list[tuple[Any, CategoryPath]]:
    found: dict[Any, CategoryPath] = {}
    for key, path in keyed:
        found.setdefault(key, path)
    return list(found.items())

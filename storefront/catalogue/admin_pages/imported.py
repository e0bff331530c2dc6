"""The products that an import created or changed: for its page, and as a filter of the list of products."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _lazy

from storefront.catalogue.models import Product
from storefront.shops.models import Shop
from storefront.staff.admin_forms import possible_id

KINDS = ("created", "updated", "related")


def products_of(row: Any) -> QuerySet[Product]:
    """Products of this import that are not deleted. Its journal, which names them, is kept for some days."""
    return Product.objects.filter(shop=row.shop_id, deleted_at=None, pk__in=_ids(row))


def _ids(row: Any) -> QuerySet:
    changes = row.journal.filter(shop=row.shop_id, kind__in=KINDS).exclude(outcome="undone")
    return changes.values("object_id")


class ImportFilter(admin.SimpleListFilter):
    """Offered only where a link has chosen an import."""

    title = _lazy("import")
    parameter_name = "import"

    def lookups(self, request: Any, model_admin: Any) -> list[tuple[str, str]]:
        row = self._row(request)
        return [(str(row.pk), row.file_name)] if row else []

    def queryset(self, request: Any, queryset: Any) -> Any:
        row = self._row(request)
        return queryset.filter(pk__in=_ids(row)) if row else queryset

    def _row(self, request: Any) -> Any:
        # Imports are in a higher room, and are reached by their shop's relation.
        imports: Any = Shop._meta.get_field("productimport").related_model
        key = possible_id(imports, request.GET.get(self.parameter_name, ""))
        return imports.objects.filter(shop=request.shop, pk=key).first() if key else None

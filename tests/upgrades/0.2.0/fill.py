"""Adds rows to each empty table of a database that earlier versions filled, migrated to commit 34f82ce.

It ran once, with the code of that commit, and made the two files beside it; see README.md. It is kept to show what they
hold. Later code neither imports nor runs it.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
django.setup()

from django.apps import apps  # noqa: E402
from django.db import IntegrityError, models, transaction  # noqa: E402

from storefront.kit.money_field import MoneyField  # noqa: E402
from storefront.shops.models import Shop  # noqa: E402

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
TEXT = "grüße an {}"
# By kind of field, the first that fits.
VALUES: dict[type[models.Field], Any] = {
    models.EmailField: "ada@example.com",
    models.URLField: "https://example.com/x",
    models.FileField: "files/x.pdf",
    models.CharField: TEXT,
    models.TextField: TEXT,
    models.UUIDField: UUID(int=7),
    models.DateTimeField: NOW,
    models.DateField: NOW.date(),
    models.BooleanField: True,
    models.IntegerField: 1,
    models.DecimalField: Decimal(1),
    MoneyField: Decimal("1.05"),
    models.JSONField: [TEXT],
    models.BinaryField: b"\0x",
}
# Where constraints ask for another value.
GIVEN: dict[str, Callable[[Shop], Any]] = {
    "catalogue.relatedproduct.related_product": lambda shop: shop.products.order_by("pk").last(),
    "documents.document.amount": lambda shop: Decimal("11.90"),
    "pricing.discounttarget.category": lambda shop: None,
    "pricing.discounttarget.brand": lambda shop: None,
}


def make_row(model: type[models.Model], shop: Shop) -> None:
    values = {}
    for field in model._meta.concrete_fields:
        path = f"{model._meta.label_lower}.{field.name}"
        if path in GIVEN:
            values[field.name] = GIVEN[path](shop)
        elif field.is_relation:
            related = field.related_model
            own = {"shop": shop} if any(each.name == "shop" for each in related._meta.fields) else {}
            values[field.name] = shop if related is Shop else related.objects.filter(**own).order_by("pk").first()
        elif not field.has_default() and not field.null and not field.primary_key:
            values[field.name] = field.choices[0][0] if field.choices else value_of(field, shop)
    model.objects.create(**values)


def value_of(field: models.Field, shop: Shop) -> Any:
    value = next(value for kind, value in VALUES.items() if isinstance(field, kind))
    return value.format(shop.pk)[: field.max_length] if isinstance(value, str) else value


def fill(models_left: list[type[models.Model]]) -> None:
    """A row of each model for each shop; those that refer to others of them come later."""
    failed = []
    for model in models_left:
        try:
            with transaction.atomic():
                for shop in Shop.objects.order_by("pk"):
                    make_row(model, shop)
        except IntegrityError:
            failed.append(model)
    # On PostgreSQL, no row of `shops.Change` can be made: it counts changes on SQLite alone.
    if len(failed) < len(models_left):
        fill(failed)


fill([model for model in apps.get_models() if not model.objects.exists()])

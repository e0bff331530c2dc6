"""The tables of a shop, found from the models: which tables have rows of shops, which rows are one shop's, and in which
order they can be written.

A table is a shop's if it has a column `shop_id`, or else a required foreign key to a table of a shop. All other tables
belong to the deployment and are named here with the reason, so that a new table cannot be left out by accident:
`unclassified` finds it. No row of another shop may ever be among a shop's.
"""

from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.db.models import Model, Q, QuerySet

from storefront.shops.models import Shop

Table = type[Model]

# Tables of the deployment whose rows a shop takes with it if it uses them, and what they are.
SHARED = {
    "shops.User": "accounts of staff, who can work for several shops",
    "shops.Authenticator": "second factors of accounts",
    "shops.Passkey": "second factors of accounts",
    "shops.RecoveryCode": "second factors of accounts",
    "apps.App": "apps, which are registered once and installed by shops",
}
# Tables of the deployment alone, and what they are.
DEPLOYMENT = {
    "admin.LogEntry": "Django's log of the admin, which names no shop",
    "auth.Group": "Django's groups, which nothing here reads",
    "auth.Group_permissions": "Django's groups, which nothing here reads",
    "auth.Permission": "made by migrate",
    "contenttypes.ContentType": "made by migrate",
    "pods.OwnPod": "the number of the pod that this database is",
    "pods.RegistryBeat": "when pod 0 last wrote to the registry",
    "sessions.Session": "signed-in browsers, of any number of shops each",
    "shops.FactorUse": "last uses of second factors in a pod that reads them from pod 0",
    "shops.StaffSession": "signed-in browsers of staff",
    "shops.User_groups": "Django's rights, which nothing here reads",
    "shops.User_user_permissions": "Django's rights, which nothing here reads",
    "django_tasks_database.DBTaskResult": "tasks of the worker, whose arguments name a shop or none",
    "server.TaskLease": "tasks that run at the moment",
    "server.WorkerHeartbeat": "workers that run at the moment",
    "easy_thumbnails.Source": "thumbnails by file name, made again when asked for",
    "easy_thumbnails.Thumbnail": "thumbnails by file name, made again when asked for",
    "easy_thumbnails.ThumbnailDimensions": "thumbnails by file name, made again when asked for",
}
# Tables that `migrate` fills; a copy of the whole deployment replaces their rows.
MADE_BY_MIGRATE = ("contenttypes.ContentType", "auth.Permission", "pods.OwnPod")


@cache
def all_tables() -> tuple[Table, ...]:
    """Every table, each after those that its required foreign keys lead to."""
    # A proxy is another name of a table.
    models = [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]
    graph = TopologicalSorter({model: sorted(_required(model), key=_label) for model in sorted(models, key=_label)})
    return tuple(graph.static_order())


@cache
def path_to_shop(table: Table) -> str | None:
    """The lookup that leads from a row to its shop's id, such as `shop_id` or `source__shop_id`; None for a table
    of the deployment."""
    if table is Shop:
        return "pk"
    fields = table._meta.concrete_fields
    if any(field.column == "shop_id" for field in fields):
        return "shop_id"
    parents = [(field.name, path_to_shop(field.remote_field.model)) for field in foreign_keys(table) if not field.null]
    return next((f"{name}__{path}" for name, path in parents if path), None)


def shop_tables() -> tuple[Table, ...]:
    """The tables with rows of shops, `Shop` first."""
    return tuple(table for table in all_tables() if path_to_shop(table))


def unclassified() -> list[str]:
    """Tables that are neither a shop's nor named above; and names above that are no table, or a shop's."""
    named = {*SHARED, *DEPLOYMENT}
    return sorted({_label(table) for table in all_tables() if not path_to_shop(table)} ^ named)


def rows_of_shop(table: Table, shop: int, *, using: str) -> QuerySet:
    """The rows of a shop's table that belong to this shop, ordered by id."""
    path = path_to_shop(table)
    assert path, table
    return table._base_manager.using(using).filter(**{path: shop}).order_by("pk")


def shared_rows(table: Table, shop: int, *, using: str) -> QuerySet:
    """The rows of a SHARED table that rows of this shop refer to, or that belong to such a row."""
    wanted = Q(pk__in=())
    for other in shop_tables():
        for field in foreign_keys(other):
            if field.remote_field.model is table:
                ids = rows_of_shop(other, shop, using=using).order_by()
                wanted |= Q(pk__in=ids.exclude(**{field.attname: None}).values(field.attname))
    for field in foreign_keys(table):
        if _label(field.remote_field.model) in SHARED:
            owners = shared_rows(field.remote_field.model, shop, using=using).order_by()
            wanted |= Q(**{f"{field.attname}__in": owners.values("pk")})
    return table._base_manager.using(using).filter(wanted).order_by("pk")


def every_row(table: Table, *, using: str) -> QuerySet:
    """All rows of a table, ordered by id."""
    return table._base_manager.using(using).order_by("pk")


def foreign_keys(table: Table) -> Iterator[Any]:
    """The columns that are foreign keys, also those without a constraint."""
    return (field for field in table._meta.concrete_fields if field.is_relation)


def _required(table: Table) -> set[Table]:
    return {
        field.remote_field.model._meta.concrete_model
        for field in foreign_keys(table)
        if not field.null and field.remote_field.model is not table
    }


def _label(table: Table) -> str:
    return table._meta.label

"""Ties a database to its pod's number: `storefront migrate` stores it, and the service starts with no other."""

from typing import Any

from django.conf import settings

from storefront.pods.models import OwnPod
from storefront.pods.sequences import begin_ids, used_sequences


class WrongPod(Exception):
    """The database belongs to another pod. The text is a sentence for people."""


def stored_pod(connection: Any) -> int:
    """The pod whose number this database has."""
    table = OwnPod._meta.db_table
    with connection.cursor() as cursor:
        if table not in connection.introspection.table_names(cursor):
            return 0
        cursor.execute(f"SELECT number FROM {table}")  # noqa: S608, a table's name
        return next((number for (number,) in cursor.fetchall()), 0)


def require_own_pod(connection: Any) -> None:
    """Raises WrongPod if STOREFRONT_POD is not the number of this database's pod."""
    stored = stored_pod(connection)
    if stored != settings.POD:
        raise WrongPod(f"This database is that of pod {stored}, but STOREFRONT_POD is {settings.POD}.")


def require_free_number(connection: Any) -> None:
    """Raises WrongPod if the database has ids of another pod, before anything is changed."""
    stored = stored_pod(connection)
    if stored == settings.POD:
        return
    with connection.cursor() as cursor:
        if used_sequences(cursor):
            raise WrongPod(
                f"This database is that of pod {stored} and has rows, but STOREFRONT_POD is {settings.POD}."
                " Nothing was changed: a pod keeps its number."
            )


def claim_ids(connection: Any) -> None:
    """Store the pod's number, and let each sequence that has none of its ids begin with them. Safe to run again."""
    with connection.cursor() as cursor:
        if foreign := begin_ids(cursor, settings.POD):
            raise WrongPod(f"These sequences have given ids of another pod: {', '.join(foreign)}.")
    if stored_pod(connection) != settings.POD:
        OwnPod.objects.using(connection.alias).update_or_create(id=1, defaults={"number": settings.POD})

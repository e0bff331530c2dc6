"""Tasks of the worker that are due, whose first argument is the shop. They wait in a state of their own from the moment
before the stop, so that no worker takes one, and move with the shop."""

from django_tasks_db.models import DBTaskResult

from storefront.server.moving.gate import TASKS
from storefront.server.moving.sides import Side
from storefront.server.worker.moves import HELD

_OF_SHOP = "status = %s AND args_kwargs -> 'args' ->> 0 = %s"
DUE = "READY"


def hold(side: Side, shop: int) -> None:
    """Let no worker take a task of the shop. New ones are held by a trigger (`gate.py`)."""
    _change(side, shop, DUE, HELD)


def release(side: Side, shop: int) -> None:
    """Let the workers take them again."""
    _change(side, shop, HELD, DUE)


def copy(source: Side, target: Side, shop: int) -> None:
    """Copy the held tasks. At the target they are due."""
    names = [field.column for field in DBTaskResult._meta.concrete_fields]
    texts = ", ".join(f'"{name}"::text' for name in names)
    rows = source.rows(f"SELECT {texts} FROM {TASKS} WHERE {_OF_SHOP}", [HELD, str(shop)])  # noqa: S608
    marks, place = ", ".join(["%s"] * len(names)), names.index("status")
    with target.connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {TASKS} ({', '.join(names)}) VALUES ({marks})",  # noqa: S608
            [(*row[:place], DUE, *row[place + 1 :]) for row in rows],
        )


def delete(side: Side, shop: int) -> None:
    """Delete the held tasks, which the target has."""
    side.run(f"DELETE FROM {TASKS} WHERE {_OF_SHOP}", [HELD, str(shop)])  # noqa: S608


def _change(side: Side, shop: int, before: str, after: str) -> None:
    side.run(f"UPDATE {TASKS} SET status = %s WHERE {_OF_SHOP}", [after, before, str(shop)])  # noqa: S608

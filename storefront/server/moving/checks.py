# ruff: noqa: S608, the statements consist of names of tables, columns and numbers.
"""What a move requires before anything is changed, and what the target must have when the shop is switched.

Accounts and apps are the deployment's, not the shop's: they do not move. The target must have those that the shop's
rows refer to; `missing_references` names those that it lacks.
"""

from storefront.server.command import Failed
from storefront.server.moving.gate import TASKS
from storefront.server.moving.sides import Side
from storefront.server.moving.tables import late, of_shop, references_to_shared, replicated

# Slots, senders and workers that a copy takes at once: its own, and two for single tables.
NEEDED = 3


def require_settings(source: Side, target: Side) -> None:
    """Raise Failed, with a sentence, if a server is not set up for a move, or the pods have different releases."""
    for side in (source, target):
        if side.value("SHOW is_superuser") != "on":
            raise Failed(
                f"The user of pod {side.number} is no superuser, which copying between servers requires. Give a pods"
                " file of its own to this command, with such a user."
            )
    if source.value("SHOW wal_level") != "logical":
        raise Failed(f"Set wal_level = logical on the server of pod {source.number}, and restart it.")
    taken = "SELECT current_setting('{}')::int - (SELECT count(*) FROM {})"
    for side, setting, view in (
        (source, "max_replication_slots", "pg_replication_slots"),
        (source, "max_wal_senders", "pg_stat_replication"),
        (target, "max_logical_replication_workers", "pg_stat_subscription WHERE pid IS NOT NULL"),
    ):
        if (free := side.value(taken.format(setting, view))) < NEEDED:
            raise Failed(f"Pod {side.number} has {free} free {setting}, and a move needs {NEEDED}. Raise the setting.")
    releases = [set(side.rows("SELECT app, name FROM django_migrations")) for side in (source, target)]
    if releases[0] != releases[1]:
        raise Failed("The pods have different releases. Bring both to the same one, and run storefront migrate.")


def require_free(target: Side, shop: int, domains: list[str]) -> None:
    """Raise Failed if the target has rows of the shop, such as those of an earlier move, or another shop with one of
    its domains."""
    for table in (*replicated(), *late()):
        if target.value(f"SELECT 1 FROM {table._meta.db_table} WHERE {of_shop(table, shop)} LIMIT 1"):
            raise Failed(f"Pod {target.number} has rows of the shop in {table._meta.db_table} already.")
    taken = target.value(
        "SELECT domain FROM (SELECT domain FROM shops_shop UNION ALL SELECT domain FROM shops_shopdomain) known"
        " WHERE domain = ANY(%s)",
        [domains],
    )
    if taken:
        raise Failed(f"Pod {target.number} has another shop with the domain {taken}.")


def require_references(source: Side, target: Side, shop: int) -> None:
    """Raise Failed if the target lacks an account, app or other row of the deployment that the shop's rows refer to."""
    for table, column, shared in references_to_shared():
        place, key = shared._meta.db_table, shared._meta.pk.column
        wanted = source.rows(
            f"SELECT DISTINCT {column} FROM {table._meta.db_table} WHERE {of_shop(table, shop)}"
            f" AND {column} IS NOT NULL"
        )
        ids = [id for (id,) in wanted]
        known = target.rows(f"SELECT {key} FROM {place} WHERE {key} = ANY(%s)", [ids]) if ids else []
        if lacking := sorted(set(ids) - {id for (id,) in known}):
            raise Failed(
                f"Pod {target.number} lacks {shared._meta.verbose_name} {lacking[0]}, to which {table._meta.db_table}"
                f" of the shop refers. {len(lacking)} such rows are missing."
            )


def is_working(source: Side, shop: int) -> bool:
    """Returns True while a worker runs a task of the shop or calls a receiver of its webhooks."""
    task = f"SELECT 1 FROM {TASKS} WHERE status = 'RUNNING' AND args_kwargs -> 'args' ->> 0 = %s"
    calls = (
        "SELECT 1 FROM webhooks_delivery WHERE shop_id = %s AND status = 'pending' AND lease IS NOT NULL"
        " AND due_at > now()"
    )
    return bool(source.value(task, [str(shop)]) or source.value(calls, [shop]))

# ruff: noqa: S608, the statements are built from names and conditions of this package only.
"""What shops need of PostgreSQL: notifications of their changes, and the triggers of the audit log."""

from functools import partial

from django.db import transaction

from storefront.shops import announcing

# The operator that compares rows, with nulls.
DIFFERS = "IS DISTINCT FROM"


def announce_on_commit(shop_id: int) -> None:
    """Tell other processes that the shop has changed, by NOTIFY after the commit."""
    transaction.on_commit(partial(announcing.announce, shop_id))


def audit_triggers(table: str, forged: str, *, changed: str, kept: str, there: str) -> list[str]:
    """The statements that create the triggers of the audit log, which refuse with these texts to change entries in a
    way that is `forged`, to delete them before their day, and to replace them."""
    refuse = "RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{}'"
    return [
        f"""
        CREATE FUNCTION shops_audit_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF {forged} THEN {refuse.format(changed)}; END IF;
          RETURN NEW;
        END $$
        """,
        f"""
        CREATE FUNCTION shops_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'TRUNCATE' THEN {refuse.format(kept)}; END IF;
          IF OLD.keep_until >= (now() AT TIME ZONE 'UTC')::date
              AND EXISTS (SELECT 1 FROM shops_shop WHERE id = OLD.shop_id) THEN {refuse.format(kept)}; END IF;
          RETURN OLD;
        END $$
        """,
        f"CREATE TRIGGER shops_audit_changed BEFORE UPDATE ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION shops_audit_changed()",
        f"CREATE TRIGGER shops_audit_kept BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION shops_audit_kept()",
        f"CREATE TRIGGER shops_audit_emptied BEFORE TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION shops_audit_kept()",
    ]

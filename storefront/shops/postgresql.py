# ruff: noqa: S608, the statements are built from names and conditions of this package only.
"""What shops need of PostgreSQL: notifications of their changes, and the triggers of the audit log."""

from functools import partial

from django.db import transaction

from storefront.shops import announcing
from storefront.shops.audit_rows import CHANGED, KEPT, TABLE, forged


def announce_on_commit(shop_id: int) -> None:
    """Tell other processes that the shop has changed, by NOTIFY after the commit."""
    transaction.on_commit(partial(announcing.announce, shop_id))


def audit_triggers() -> list[str]:
    """The statements that create the triggers of the audit log."""
    refuse = "RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{}'"
    return [
        f"""
        CREATE FUNCTION shops_audit_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF {forged("IS DISTINCT FROM")} THEN {refuse.format(CHANGED)}; END IF;
          RETURN NEW;
        END $$
        """,
        f"""
        CREATE FUNCTION shops_audit_kept() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'TRUNCATE' THEN {refuse.format(KEPT)}; END IF;
          IF OLD.keep_until >= (now() AT TIME ZONE 'UTC')::date
              AND EXISTS (SELECT 1 FROM shops_shop WHERE id = OLD.shop_id) THEN {refuse.format(KEPT)}; END IF;
          RETURN OLD;
        END $$
        """,
        f"CREATE TRIGGER shops_audit_changed BEFORE UPDATE ON {TABLE}"
        " FOR EACH ROW EXECUTE FUNCTION shops_audit_changed()",
        f"CREATE TRIGGER shops_audit_kept BEFORE DELETE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION shops_audit_kept()",
        f"CREATE TRIGGER shops_audit_emptied BEFORE TRUNCATE ON {TABLE}"
        " FOR EACH STATEMENT EXECUTE FUNCTION shops_audit_kept()",
    ]

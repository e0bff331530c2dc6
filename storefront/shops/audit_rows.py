"""What triggers guard of the audit log, on either database."""

TABLE = "shops_auditentry"
ERASED = "[erased]"
# Columns that never change.
FIXED = (
    "id",
    "shop_id",
    "at",
    "keep_until",
    "actor_kind",
    "actor_id",
    "request_id",
    "action",
    "object_type",
    "object_id",
)
ERASABLE_TEXTS = ("actor_name", "place")
CHANGED, KEPT, THERE = (
    "An audit entry cannot be changed, only a person be erased from it.",
    "An audit entry cannot be deleted before its day.",
    "An audit entry cannot be replaced.",
)


def forged(differs: str) -> str:
    """The condition under which an update does more than erase somebody. `differs` is the database's operator."""
    fixed = f"({_columns('NEW')}) {differs} ({_columns('OLD')})"
    texts = [f"(NEW.{name} <> OLD.{name} AND NEW.{name} <> '{ERASED}')" for name in ERASABLE_TEXTS]
    return " OR ".join(["NEW.erased_at IS NULL", fixed, *texts])


def _columns(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in FIXED)

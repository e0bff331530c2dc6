"""The registry: accounts with their second factors, and apps. All pods have the same rows with the same ids.

They are written in pod 0, and PostgreSQL's logical replication brings them to each pod that has joined. There,
triggers refuse every write but that of the replication (`registry_triggers.py`), whatever the code does; before that,
pages and commands say where it is done (`require_writable`).
"""

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.refusals import Refusal

# The tables, each after those that its foreign keys lead to. All other tables without a shop are each pod's own.
TABLES = ("shops_user", "shops_authenticator", "shops_passkey", "shops_recoverycode", "apps_app", "pods_registrybeat")
PUBLICATION = SUBSCRIPTION = "storefront_registry"
# The trigger that refuses writes, and its error code. A database with it has joined.
REFUSING, REFUSED = "pods_registry_read", "SF409"
_HAS_JOINED = f"""
    SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = '{REFUSING}' AND tgrelid = to_regclass('{TABLES[0]}'))
"""  # noqa: S608, constants


class WrittenInPodZero(Refusal):
    """This pod reads the registry from pod 0, where the change must be made."""

    status, code = 409, "written_in_pod_zero"

    def __init__(self) -> None:
        super().__init__(where())


def where() -> str:
    """The sentence that names the place at which the registry is written."""
    at = f" ({address()})" if settings.REGISTRY_URL else ""
    return f"Accounts, their passwords and second factors, and apps are changed in the admin of pod 0{at}."


def address(path: str = "/admin/") -> str:
    """The URL of a path of pod 0's admin; empty if STOREFRONT_REGISTRY_URL is not set."""
    return settings.REGISTRY_URL and f"{settings.REGISTRY_URL}{path}"


def is_joined(*, using: str) -> bool:
    """Returns True if this database reads the registry from pod 0, and so has the same accounts and apps by the same
    ids. False for pod 0 itself, which is asked nothing, and for a pod with a registry of its own."""
    if not IS_POSTGRESQL or (using == DEFAULT_DB_ALIAS and settings.POD == 0):
        return False
    with connections[using].cursor() as cursor:
        cursor.execute(_HAS_JOINED)
        return bool(cursor.fetchone()[0])


def is_written_here() -> bool:
    """Returns True in pod 0, in a deployment with one database, and in a pod that has not joined."""
    return not is_joined(using=DEFAULT_DB_ALIAS)


def require_writable() -> None:
    """Raises WrittenInPodZero in a pod that has joined."""
    if not is_written_here():
        raise WrittenInPodZero


def is_refused(error: BaseException | None) -> bool:
    """Returns True for the database's refusal of a write that no page or command has refused before."""
    return isinstance(error, DatabaseError) and getattr(error.__cause__, "sqlstate", None) == REFUSED

from argparse import ArgumentParser

from django.conf import settings
from django.db import connection, transaction

from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.refusals import InvalidFields
from storefront.pods import own, registry, registry_beat, registry_join, registry_source
from storefront.server import sealed
from storefront.server.command import Command as Base
from storefront.server.command import Failed


class Command(Base):
    help = "Let a pod read accounts and apps from pod 0: publish in pod 0, join and leave in the others."
    goes_direct = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["publish", "join", "leave"])
        parser.add_argument("--from", dest="source", metavar="URL", help="the database of pod 0, to join")
        parser.add_argument("--again", action="store_true", help="join: copy all rows anew, such as after a restore")
        parser.add_argument("--keep-slot", action="store_true", help="leave: do not remove the slot in pod 0")

    def handle(self, *, action, source, again, keep_slot, **_options) -> None:
        if action == "publish":
            self._publish()
        elif action == "join":
            self._join(source, again=again)
        elif slot := registry_join.leave(source=source, keep_slot=keep_slot):
            self.write_message("This pod has a registry of its own now, with the rows as they were.")
            raise Failed(slot)
        else:
            self.write_message("This pod has a registry of its own now, with the rows as they were.")

    def _publish(self) -> None:
        if not IS_POSTGRESQL or settings.POD:
            raise Failed("The registry is that of pod 0, a PostgreSQL database. Run this with its variables.")
        own.require_own_pod(connection)
        with transaction.atomic(), connection.cursor() as cursor:
            registry_source.publish(cursor)
            cursor.execute("SHOW wal_level")
            level = cursor.fetchone()[0]
        registry_beat.beat(now=clock.now())
        self.write_message(f"Pod 0 publishes its registry: {', '.join(registry.TABLES)}.")
        if level != "logical":
            raise Failed(f"No pod can join yet: PostgreSQL has wal_level = {level}. Set it to logical, and restart it.")

    def _join(self, source: str | None, *, again: bool) -> None:
        if not source:
            raise InvalidFields(errors={"from": ["Name the database of pod 0, such as postgres://user@10.0.0.9/name."]})
        is_new = registry_join.join(source=source, again=again, check_keys=require_same_key)
        done = "This pod reads accounts and apps from pod 0 now." if is_new else "This pod has joined already."
        self.write_message(done if settings.REGISTRY_URL else f"{done} Set STOREFRONT_REGISTRY_URL.")


def require_same_key() -> None:
    """Raises Failed if secrets of the registry cannot be decrypted here."""
    if unreadable := sealed.count_unreadable():
        raise Failed(
            f"SECRET_KEY is not that of pod 0: it cannot decrypt {', '.join(unreadable)}. Nothing was changed."
        )

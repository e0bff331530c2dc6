from argparse import ArgumentParser
from pathlib import Path

from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.refusals import InvalidFields
from storefront.pods.deployment import read_pods
from storefront.server.command import Command as Base
from storefront.server.command import Failed


class Command(Base):
    help = "Move a shop to another pod while it sells. Goes on where an earlier run was interrupted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pods", type=Path, required=True, metavar="FILE", help="the file that lists the pods")
        parser.add_argument("--shop", metavar="DOMAIN", help="the shop, by its domain")
        parser.add_argument("--to", type=int, metavar="POD", help="number of the pod that gets the shop")
        parser.add_argument("--back", action="store_true", help="undo a move that has not switched the shop yet")
        parser.add_argument("--finish", action="store_true", help="drop kept old rows now, not after a day")

    def handle(self, *, pods, shop, to, back, finish, **_options) -> None:
        if not IS_POSTGRESQL:
            raise Failed("SQLite has no pods.")
        # Imported here, since a deployment on SQLite has no driver for PostgreSQL.
        from storefront.server.moving.moving import drop_old, opened_move

        if not finish and (shop is None or to is None):
            lacking = {"shop": shop, "to": to}
            raise InvalidFields(errors={name: ["Give this."] for name, value in lacking.items() if value is None})
        listed = read_pods(pods)
        if shop is not None and to is not None:
            with opened_move(listed, shop.strip().lower(), to, self.write_message) as move:
                if back:
                    move.back()
                    self.write_message(f"{shop} is served by pod {move.source.number}, as before.")
                else:
                    moved = move.forward()
                    self.write_result({"shop": moved.shop, "pod": to, "stop_seconds": moved.stop_seconds})
        for domain in drop_old(listed, clock.now(), at_once=finish):
            self.write_message(f"The old rows of {domain} are dropped.")

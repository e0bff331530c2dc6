from argparse import ArgumentParser
from pathlib import Path

import psycopg

from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.kit.refusals import InvalidFields
from storefront.pods.deployment import Pod, read_pods
from storefront.server.command import Command as Base
from storefront.server.command import Failed


class Command(Base):
    help = "Move a shop to another pod while it sells. Goes on where an earlier run was interrupted."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pods", type=Path, required=True, metavar="FILE", help="the file that lists the pods")
        parser.add_argument("--shop", metavar="DOMAIN", help="the shop, by its domain")
        parser.add_argument("--to", type=int, metavar="POD", help="number of the pod that gets the shop")
        parser.add_argument("--back", action="store_true", help="undo a move that has not switched the shop yet")
        parser.add_argument(
            "--asked", action="store_true", help="move the shops for which operators have asked, and end begun moves"
        )
        parser.add_argument("--finish", action="store_true", help="drop kept old rows now, not after a day")

    def handle(self, *, pods, shop, to, back, asked, finish, **_options) -> None:
        if not IS_POSTGRESQL:
            raise Failed("SQLite has no pods.")
        # Imported here, since they ask for PostgreSQL's driver.
        from storefront.server.moving.moving import asked as asked_moves
        from storefront.server.moving.moving import drop_old

        if not (finish or asked) and (shop is None or to is None):
            lacking = {"shop": shop, "to": to}
            raise InvalidFields(errors={name: ["Give this."] for name, value in lacking.items() if value is None})
        listed = read_pods(pods)
        wanted = asked_moves(listed) if asked else [(shop.strip().lower(), to)] if shop and to is not None else []
        problems = [problem for domain, pod in wanted if (problem := self._move(listed, domain, pod, back))]
        for domain in drop_old(listed, clock.now(), at_once=finish):
            self.write_message(f"The old rows of {domain} are dropped.")
        if problems:
            raise Failed(" ".join(problems))

    def _move(self, pods: list[Pod], domain: str, to: int, back: bool) -> str:
        """Move one shop. Returns what went wrong, which is no reason not to move the next one."""
        from storefront.server.moving.moving import opened_move

        try:
            with opened_move(pods, domain, to, self.write_message) as move:
                if back:
                    move.back()
                    self.write_message(f"{domain} is served by pod {move.source.number}, as before.")
                else:
                    moved = move.forward()
                    self.write_result({"shop": moved.shop, "pod": to, "stop_seconds": moved.stop_seconds})
        except Failed as failure:
            return str(failure)
        except psycopg.Error as error:
            return f"{domain}: {' '.join(str(error).split())} Run this again."
        return ""

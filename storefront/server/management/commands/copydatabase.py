import time
from argparse import ArgumentParser
from dataclasses import asdict

from storefront.server.archive import target
from storefront.server.archive.copying import copy_database
from storefront.server.command import Command as Base
from storefront.server.command import Failed, find_shop
from storefront.server.progress import progress_bar


class Command(Base):
    goes_direct = True
    help = (
        "Copy all shops, or one, to an empty PostgreSQL database, and compare. Nothing can be written meanwhile. Prints"
        " the counts as a JSON object."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", required=True, metavar="URL", help="postgres://user@host:5432/name")
        parser.add_argument("--shop", metavar="DOMAIN", help="domain of a single shop (default: all shops)")

    def handle(self, *, to, shop, **_options) -> None:
        started = time.monotonic()
        with progress_bar() as progress:
            task = progress.add_task("copying", total=None)
            copied = copy_database(
                to,
                find_shop(shop) if shop else None,
                lambda table: progress.update(task, description=table),
            )
        self.write_result(asdict(copied) | {"seconds": round(time.monotonic() - started, 1)})
        self.write_message("Each table of the copy has the rows of its source. Now storefront verify checks the copy.")
        verified = target.run(to, "verify")
        if verified.returncode:
            self.write_message(verified.stdout.strip())
            raise Failed(
                "The copy equals its source, but storefront verify finds values in it that differ from what explains"
                " them. Run storefront verify on the source: if it finds them there, they were copied."
            )
        self.write_message(
            f"storefront verify: {verified.stderr.strip().splitlines()[-1]}\nFiles and keys are not in a database:"
            " give the new processes the same STOREFRONT_DATA_DIR (or buckets) and SECRET_KEY, and DATABASE_URL"
            " of the copy."
        )

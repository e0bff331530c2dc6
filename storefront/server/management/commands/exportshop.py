from argparse import ArgumentParser
from pathlib import Path

from storefront.kit import clock
from storefront.server.archive.exporting import export_shop
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop, replaced_file
from storefront.server.progress import progress_bar


class Command(Base):
    goes_direct = True
    help = "Write a whole shop to one file, from which importshop makes a copy. Prints the counts as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="such as shop.zip")

    def handle(self, *, shop, output, **_options) -> None:
        found = find_shop(shop)
        with replaced_file(output) as draft, progress_bar() as progress:
            task = progress.add_task("exporting", total=None)
            made = export_shop(found, draft, lambda what: progress.update(task, description=what), clock.now())
            size = draft.stat().st_size
        rows = sum(part.lines for part in made.tables.values())
        self.write_result({"rows": rows, "files": made.files.lines, "files_missing": made.files_missing, "bytes": size})
        self.write_message(
            "The file has personal data of customers; keep it as you keep backups. Left out: "
            + (", ".join(f"{what} ({count})" for what, count in sorted(made.left_out.items())) or "nothing")
            + "."
        )

from argparse import ArgumentParser

from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.server.archive.deleting import delete_shop
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop
from storefront.server.progress import progress_bar


class Command(Base):
    goes_direct = True
    help = "Delete a closed shop with all of its rows and files, for good. Prints the counts as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--confirm", required=True, metavar="NAME", help="the shop's name, as the admin shows it")

    def handle(self, *, shop, confirm, **_options) -> None:
        found = find_shop(shop)
        if confirm != found.name:
            raise InvalidFields(errors={"confirm": [f"{confirm} is not the name of {found.domain}: {found.name}."]})
        with progress_bar() as progress:
            task = progress.add_task("deleting", total=None)
            done = delete_shop(
                shop=found, progress=lambda what: progress.update(task, description=what), now=clock.now()
            )
        self.write_result({"domain": found.domain, "rows": done.rows, "files": done.files})

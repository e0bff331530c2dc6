from argparse import ArgumentParser

from storefront.server.command import Command as Base
from storefront.server.command import Failed, find_shop
from storefront.server.verifying import deviations
from storefront.shops.models import Shop


class Command(Base):
    help = (
        "Compare stock, totals and payments with the rows that explain them. Prints what differs, and exits with 1 if"
        " anything does."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shop", metavar="DOMAIN", help="domain of a single shop (default: all shops)")

    def handle(self, *, shop, **_options) -> None:
        found = 0
        for each in [find_shop(shop)] if shop else Shop.objects.order_by("pk").iterator():
            for deviation in deviations(each):
                self.write_result({"shop": each.domain, **deviation._asdict()})
                found += 1
        if found:
            raise Failed(
                f"{found} stored {'value differs' if found == 1 else 'values differ'} from what explains them."
            )
        self.write_message("Everything agrees.")

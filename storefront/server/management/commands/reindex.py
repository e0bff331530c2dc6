from argparse import ArgumentParser
from dataclasses import asdict

from storefront.listing.reindexing import Differences, rebuild_index, reindex
from storefront.server.command import Command as Base
from storefront.server.command import find_shop
from storefront.shops.models import Shop
from storefront.sync.log import begin_generation


class Command(Base):
    help = "Recalculate stored totals and the search index, and end all cursors. Prints what was wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shop", metavar="DOMAIN", help="domain of a single shop (default: all shops)")

    def handle(self, *, shop, **_options) -> None:
        # The index first, so that the corrections below reach it too.
        rebuild_index()
        shops = [find_shop(shop)] if shop else Shop.objects.order_by("pk").iterator()
        self.write_result([{"shop": each.domain, **asdict(self.reindex(each))} for each in shops])

    def reindex(self, shop: Shop) -> Differences:
        # After a backup was restored, cursors from before could miss changes.
        begin_generation(shop=shop)
        return reindex(shop=shop)

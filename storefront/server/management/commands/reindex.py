from argparse import ArgumentParser
from dataclasses import asdict

from storefront.catalogue.reindexing import rebuild_index, reindex
from storefront.server.command import Command as Base
from storefront.server.command import shop_named
from storefront.shops.models import Shop


class Command(Base):
    help = "Work out the kept totals and the search anew; tells what was not right."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shop", metavar="DOMAIN", help="only this shop, by its domain; default: all")

    def handle(self, *, shop, **_options) -> None:
        # The index first, so that what is put right below is put right in it too.
        rebuild_index()
        shops = [shop_named(shop)] if shop else Shop.objects.order_by("pk").iterator()
        self.answer([{"shop": each.domain, **asdict(reindex(shop=each))} for each in shops])

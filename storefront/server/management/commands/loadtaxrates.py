from argparse import ArgumentParser

from storefront.kit import clock
from storefront.pricing.eu_rates import AS_OF, load_eu_rates
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop


class Command(Base):
    help = f"Add the EU's VAT rates as of {AS_OF} to a shop. Prints what was added, and its own rates that differ."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--replace", action="store_true", help="replace the shop's own rates where they differ")

    def handle(self, *, shop, replace, **_options) -> None:
        plan = load_eu_rates(shop=find_shop(shop), replaces=replace, now=clock.now())
        self.write_result(
            {
                "as_of": AS_OF.isoformat(),
                "added": len(plan.new),
                "same": plan.same,
                "replaced": plan.replaced,
                "kept": len(plan.different) - plan.replaced,
            }
        )
        for own, rate in plan.different:
            self.write_message(f"{'Was' if replace else 'Kept'} {own.percent.normalize():f}%, in the set: {rate}")

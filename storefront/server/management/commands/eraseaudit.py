from argparse import ArgumentParser

from storefront.audit.erasing import erase_person
from storefront.customers import queries
from storefront.kit import clock
from storefront.orders.history import order_ids_of
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop
from storefront.stock_alerts.actions import stop_alerts


class Command(Base):
    help = (
        "Erase a person from a shop's audit log, and what they wait for (stock alerts). "
        "Prints the number of erased entries."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--email", required=True, help="email address of a staff member or shopper")

    def handle(self, *, shop, email, **_options) -> None:
        shop_found = find_shop(shop)
        customer = queries.customer_by_email(shop_found, email)
        erased = erase_person(
            shop=shop_found,
            email=email,
            customers=[customer.pk] if customer else [],
            orders=order_ids_of(shop_found, email=email, customer=customer),
            now=clock.now(),
        )
        stop_alerts(shop=shop_found, email=email)
        self.write_result({"erased": erased})

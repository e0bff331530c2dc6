from argparse import ArgumentParser

from storefront.kit import clock
from storefront.kit.clock import timestamp
from storefront.kit.refusals import InvalidFields
from storefront.server.command import Command as Base
from storefront.server.command import find_shop
from storefront.shops.models import ShopDomain
from storefront.staff.domains import confirm_domain, remove_domain


class Command(Base):
    help = (
        "Further domains of shops, which lead to a shop's own address. list prints those of one or all shops, a JSON"
        " object a line; confirm lets one that the shop asked for lead there; remove ends that."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["list", "confirm", "remove"], help="what to do")
        parser.add_argument("--shop", metavar="DOMAIN", help="the shop, by its own domain; list: all without it")
        parser.add_argument("--domain", help="the further domain, such as www.example.com")

    def handle(self, *, action, shop, domain, **_options) -> None:
        if action == "list":
            rows = ShopDomain.objects.select_related("shop").order_by("shop", "domain")
            for row in rows.filter(shop=find_shop(shop)) if shop else rows:
                self.write_result(record(row))
            return
        lacking = {name: ["Say which."] for name, value in (("shop", shop), ("domain", domain)) if not value}
        if lacking:
            raise InvalidFields(errors=lacking)
        found, now = find_shop(shop), clock.now()
        if action == "remove":
            remove_domain(shop=found, domain=domain, now=now)
            self.write_message(f"{domain} no longer leads to {found.domain}.")
        else:
            self.write_result(record(confirm_domain(shop=found, domain=domain, now=now)))


def record(row: ShopDomain) -> dict[str, str | None]:
    return {
        "shop": row.shop.domain,
        "domain": row.domain,
        "asked_at": timestamp(row.created_at),
        "confirmed_at": timestamp(row.confirmed_at) if row.confirmed_at else None,
        "checked_at": timestamp(row.checked_at) if row.checked_at else None,
        "problem": row.problem or None,
    }

from argparse import ArgumentParser

from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.server.command import Command as Base
from storefront.server.command import find_shop
from storefront.shops.models import Shop
from storefront.shops.senders import deployment_address, domain_of, is_proved
from storefront.staff.mail_records import check_records
from storefront.staff.senders import allow, withdraw


class Command(Base):
    help = (
        "Who shops' mails come from. list prints the address of one or all shops, a JSON object a line; allow lets a"
        " shop's address be its sender, also one on a domain of this deployment; withdraw ends that; check looks up"
        " SPF, DKIM and DMARC of the shop's domain, or without a shop of the deployment's."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["list", "allow", "withdraw", "check"], help="what to do")
        parser.add_argument("--email", help="the address to allow, which must still be the shop's")
        parser.add_argument("--shop", metavar="DOMAIN", help="the shop; list and check: all, and the deployment")

    def handle(self, *, action, shop, email, **_options) -> None:
        found = find_shop(shop) if shop else None
        if action == "list":
            for row in [found] if found else Shop.objects.order_by("pk"):
                self.write_result(record(row))
        elif action == "check":
            address = (found.email if found else None) or deployment_address()
            for finding in check_records(domain_of(address)):
                self.write_result({"record": finding.record, "state": finding.state, "text": finding.text})
        elif found is None:
            raise InvalidFields(errors={"shop": ["Say which."]})
        elif action == "allow" and email != found.email:
            raise InvalidFields(errors={"email": [f"Expected the shop's address: {found.email or 'it has none'}."]})
        else:
            (allow if action == "allow" else withdraw)(shop=found, now=clock.now())
            found.refresh_from_db()
            self.write_result(record(found))


def record(shop: Shop) -> dict[str, str | bool | None]:
    is_own = is_proved(shop)
    return {
        "shop": shop.domain,
        "email": shop.email,
        "sender": shop.email if is_own else deployment_address(),
        "proved": bool(shop.email) and shop.email == shop.proved_sender,
        "allowed": bool(shop.email) and shop.email == shop.allowed_sender,
    }

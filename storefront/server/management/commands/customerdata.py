from argparse import ArgumentParser
from pathlib import Path

from storefront import audit
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.payments.providers.base import ProviderUnavailable
from storefront.privacy.actions import erase_now, open_request
from storefront.privacy.exporting import write_export
from storefront.privacy.person import find_person
from storefront.server.command import Command as Base
from storefront.server.command import Failed, add_shop_argument, find_shop, replaced_file
from storefront.shops.models import Shop


class Command(Base):
    help = "Export what a shop has about one person, or erase them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=["export", "erase"])
        add_shop_argument(parser)
        parser.add_argument("--email", required=True, help="email address of a customer or guest")
        parser.add_argument("--output", type=Path, metavar="FILE", help="the ZIP file that export writes")

    def handle(self, *, what, shop, email, output, **_options) -> None:
        shop_found = find_shop(shop)
        if (what == "export") != (output is not None):
            wrong = "is needed, for the ZIP file." if output is None else "is for export alone."
            raise InvalidFields(errors={"output": [wrong]})
        self.write_result(
            self._export(shop_found, email, output) if what == "export" else self._erase(shop_found, email)
        )

    def _export(self, shop: Shop, email: str, output: Path) -> dict[str, int]:
        request = open_request(shop=shop, email=email, now=clock.now())
        with replaced_file(output) as draft, draft.open("wb") as out:
            counts = write_export(find_person(shop, email), out)
        audit.record(shop=shop, action="data_request.downloaded", object=request, now=clock.now())
        return counts

    def _erase(self, shop: Shop, email: str) -> dict[str, int]:
        try:
            request = erase_now(shop=shop, email=email, now=clock.now())
        except ProviderUnavailable:
            raise Failed("A payment provider did not answer, so nothing was erased. Try again later.") from None
        if request.reason:
            self.write_message(request.reason)
        return {name: count for name, count in request.erased.items() if count}

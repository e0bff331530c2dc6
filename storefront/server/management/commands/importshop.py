from argparse import ArgumentParser
from pathlib import Path

from storefront.kit import clock
from storefront.server.archive.importing import Imported, import_shop
from storefront.server.command import Command as Base
from storefront.server.command import Failed
from storefront.server.progress import progress_bar


class Command(Base):
    goes_direct = True
    help = "Make a copy of a shop from a file of exportshop. Prints it as a JSON object, with a password for visitors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a file that exportshop wrote")
        parser.add_argument("--domain", required=True, help="host name of the copy, such as copy.example.com")
        parser.add_argument("--base-url", required=True, help="base URL, such as https://copy.example.com")
        parser.add_argument("--name", help="name of the copy (default: the original's)")

    def handle(self, *, file, domain, base_url, name, **_options) -> None:
        with progress_bar() as progress:
            task = progress.add_task("importing", total=None)
            made = import_shop(
                file,
                domain=domain,
                base_url=base_url,
                name=name,
                progress=lambda what: progress.update(task, description=what),
                now=clock.now(),
            )
        shop = made.shop
        self.write_result(
            {"id": shop.pk, "domain": shop.domain, "name": shop.name, "base_url": shop.base_url}
            | {"password": made.password, "rows": made.rows, "files": made.files}
        )
        for sentence in sentences(made):
            self.write_message(sentence)
        for deviation in made.deviations:
            self.write_result({"shop": shop.domain, **deviation._asdict()})
        if made.deviations:
            raise Failed(
                "The copy is there, but values in it differ from what explains them. Run storefront verify where the"
                " original is: if it finds them there, they were copied."
            )


def sentences(made: Imported) -> list[str]:
    """What the operator or the merchant has to do before the copy can sell."""
    asked = {
        "Apps to install again": made.manifest.apps,
        "Payment providers whose keys are to be entered again": made.manifest.providers,
        "API tokens to create again": made.manifest.tokens,
        "Staff to invite, who have no account here": made.staff_to_invite,
    }
    found = [f"{what}: {', '.join(names)}." for what, names in asked.items() if names]
    if missing := made.manifest.files_missing:
        found.append(f"Files that were missing at the export: {missing}.")
    if not made.shop.is_active:
        found.append("The operator had closed the original, so the copy is closed like it: see All shops in the admin.")
    return [*found, "The copy is closed: visitors need the password, until its owner opens it in the admin."]

from dataclasses import asdict

from storefront.server import sealed
from storefront.server.command import Command as Base
from storefront.server.command import Failed


class Command(Base):
    help = "Encrypt all stored secrets with the newest SECRET_KEY, so that an old key can be removed."

    def handle(self, **_options) -> None:
        found = sealed.reseal()
        self.write_result([asdict(each) for each in found])
        lost = [f"{each.unreadable} {each.what}" for each in found if each.unreadable]
        if lost:
            raise Failed(
                f"No key in SECRET_KEY can decrypt {', '.join(lost)}. Add the key that they were encrypted with "
                "after the others and run this again, or create new secrets in the admin."
            )
        self.write_message(
            "All secrets are encrypted with the first key of SECRET_KEY. Remove the other keys when no links or "
            "sessions need them any more: checkout links last one hour, sessions two weeks."
        )

from argparse import ArgumentParser

from storefront.apps import actions
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import listed
from storefront.shops.scopes import SCOPES


class Command(Base):
    help = "Register an app; answers with it as one JSON object, with its secret, which is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="what merchants read")
        parser.add_argument("--slug", required=True, help="what commands call it, such as gift-notes")
        parser.add_argument("--install-url", required=True, help="where it hears of a new installation, https")
        parser.add_argument("--scopes", required=True, help=f"what it asks for, of {', '.join(SCOPES)}")
        parser.add_argument("--contact", default="", help="e-mail address of whoever answers for it")
        parser.add_argument("--description", default="", help="what it does, for merchants")

    def handle(self, *, name, slug, install_url, scopes, contact, description, **_options) -> None:
        app, secret = actions.register_app(
            name=name,
            slug=slug,
            install_url=install_url,
            scopes=listed(scopes),
            contact=contact,
            description=description,
            now=clock.now(),
        )
        fields = ("id", "name", "slug", "install_url", "scopes")
        self.answer({field: getattr(app, field) for field in fields} | {"secret": secret})

from argparse import ArgumentParser

from django.conf import settings

from storefront.apps import actions
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.server.command import Command as Base
from storefront.server.command import split_list
from storefront.shops.scopes import SCOPES

HTTP_IN_DEVELOPMENT = (
    "The URL must begin with https://. For an app in development, STOREFRONT_ALLOW_PRIVATE_CALLBACKS=1 allows http:// "
    "and private hosts."
)


class Command(Base):
    help = "Register an app. Prints it as a JSON object, with its secret, which is shown only once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", required=True, help="name shown to merchants")
        parser.add_argument("--slug", required=True, help="short name for commands, such as gift-notes")
        parser.add_argument("--install-url", required=True, help="https URL for install notifications")
        parser.add_argument(
            "--scopes", required=True, help=f"comma-separated scopes that it asks for: {', '.join(SCOPES)}"
        )
        parser.add_argument("--contact", default="", help="contact email address of its developer")
        parser.add_argument("--description", default="", help="description shown to merchants")

    def handle(self, *, name, slug, install_url, scopes, contact, description, **_options) -> None:
        if install_url.lower().startswith("http://") and not settings.ALLOW_PRIVATE_CALLBACKS:
            raise InvalidFields(errors={"install_url": [HTTP_IN_DEVELOPMENT]})
        app, secret = actions.register_app(
            name=name,
            slug=slug,
            install_url=install_url,
            scopes=split_list(scopes),
            contact=contact,
            description=description,
            now=clock.now(),
        )
        fields = ("id", "name", "slug", "install_url", "scopes")
        self.write_result({field: getattr(app, field) for field in fields} | {"secret": secret})

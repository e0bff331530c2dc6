from argparse import ArgumentParser

from storefront.apps import actions, queries
from storefront.installations.models import Installation
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.server.command import Command as Base
from storefront.server.command import add_app_argument, add_shop_argument, find_app, find_shop
from storefront.webhooks.actions import send_test
from storefront.webhooks.queries import delivery_record, webhook_records


class Command(Base):
    help = "Send a test delivery to an app's webhook: webhooks test. Prints the delivery as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=["test"], help="what to do: send a sample event, once")
        add_shop_argument(parser)
        add_app_argument(parser)
        parser.add_argument("--topic", required=True, help="the webhook, by its topic, such as order.placed")

    def handle(self, *, shop, app, topic, **_options) -> None:
        found, wanted = find_shop(shop), find_app(app)
        installation = queries.current_installation(found, wanted)
        if installation is None:
            raise actions.NotInstalled
        check_topic(installation, topic)
        sent = send_test(shop=found, installation_id=installation.pk, key=topic, now=clock.now())
        self.write_result(delivery_record(sent))
        self.write_message("The worker sends it. The outcome is in the admin, under Deliveries.")


def check_topic(installation: Installation, topic: str) -> None:
    """Raises InvalidFields, which lists the topics that the app has webhooks for."""
    topics = [each["topic"] for each in webhook_records(installation.shop, installation_id=installation.pk)]
    if topic not in topics:
        existing = f"It has: {', '.join(topics)}." if topics else "It has none."
        raise InvalidFields(errors={"topic": [f"{installation} has no webhook for {topic}. {existing}"]})

from argparse import ArgumentParser

from storefront.apps.queries import current_installation
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
        found = current_installation(find_shop(shop), find_app(app))
        topics = [each["topic"] for each in webhook_records(found.shop, installation_id=found.pk)]
        if topic not in topics:
            existing = f"It has: {', '.join(topics)}." if topics else "It has none."
            raise InvalidFields(errors={"topic": [f"{found} has no webhook for {topic}. {existing}"]})
        sent = send_test(shop=found.shop, installation_id=found.pk, key=topic, now=clock.now())
        self.write_result(delivery_record(sent))
        self.write_message("The worker sends it. The outcome is in the admin, under Deliveries.")

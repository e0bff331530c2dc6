"""What apps receive, as `webhooks` of the OpenAPI description: each topic's event, and the installation."""

from collections.abc import Callable
from typing import Any

from ninja import Field, Schema
from pydantic import create_model

from storefront.apps.actions import INSTALLED
from storefront.catalogue.app_schemas import WholeAppProduct
from storefront.catalogue.inventory_schemas import InventoryItem
from storefront.checkout.schemas import AbandonedCheckout
from storefront.customers.schemas import WholeCustomer
from storefront.kit.schemas import IdAlone
from storefront.orders.schemas import RefundRecord, WholeOrder
from storefront.webhooks.schemas import Event
from storefront.webhooks.topics import TOPICS


class Installed(Schema):
    """Sent to the app's `install_url` when a merchant installs it."""

    shop_domain: str = Field(description="The shop's domain.", examples=["shop.example.com"])
    access_token: str = Field(description="The token for the App API. It is shown nowhere else; store it.")
    installation_id: int = Field(description="The installation's id.")
    scopes: list[str] = Field(description="The scopes that the merchant granted.")
    webhook_secret: str = Field(description="The secret that signs this installation's webhooks and blocks.")


class Uninstalled(Schema):
    """The installation that ended."""

    id: int = Field(description="The installation's id.")
    app: str = Field(description="The app's slug.")


# The shape of an event's `data`, by the topic's first word.
DATA: dict[str, type[Schema]] = {
    "order": WholeOrder,
    "product": WholeAppProduct,
    "inventory": InventoryItem,
    "refund": RefundRecord,
    "checkout": AbandonedCheckout,
    "customer": WholeCustomer,
    "app": Uninstalled,
}
_HEADERS = {
    "webhook-id": "The event's id. The same in every try, so that you can recognise repeats.",
    "webhook-timestamp": "When this try was signed, in Unix seconds.",
    "webhook-signature": "Signatures as in Standard Webhooks 1.0: `v1,` and Base64, separated by spaces.",
}


def event_of(topic: str) -> type[Schema]:
    """The schema of the topic's event."""
    data, scope = DATA[topic.partition(".")[0]], TOPICS[topic]
    without = f" Only its id without the scope `{scope}`." if scope else ""
    shape: Any = data | IdAlone if scope else data
    name = "".join(word.title() for word in topic.replace("_", ".").split("."))
    return create_model(
        f"{name}Event",
        __base__=Event,
        __doc__=f"The event `{topic}`.",
        type=(str, Field(description="The topic.", examples=[topic])),
        data=(shape, Field(description=f"The object when the event happened.{without}")),
    )


def describe(schema_of: Callable[[type[Schema]], dict[str, Any]]) -> dict[str, Any]:
    """The `webhooks` of the description. `schema_of` adds a schema to the components and returns a reference to it."""
    messages = {INSTALLED: Installed} | {topic: event_of(topic) for topic in TOPICS}
    return {topic: {"post": _message(topic, schema_of(schema))} for topic, schema in messages.items()}


def _message(topic: str, schema: dict[str, Any]) -> dict[str, Any]:
    secret = "app's own secret" if topic == INSTALLED else "installation's webhook secret"
    return {
        "operationId": "receive_" + topic.replace(".", "_"),
        "summary": f"Receive {topic}",
        "description": f"A POST to the app, signed with the {secret}. Answer within 10 seconds with any 2xx status.",
        "tags": ["App: Webhooks"],
        "security": [],
        "parameters": [
            {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "2XX": {"description": "Received. The delivery is not repeated."},
            "4XX": {"description": "Refused. The delivery is repeated later, as after any other failure."},
        },
    }

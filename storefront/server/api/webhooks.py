"""Describes the calls to apps in the OpenAPI document: each topic's event and the messages with a token as `webhooks`,
the calls for blocks as a callback."""

from collections.abc import Callable
from typing import Any, Literal

from ninja import Field, Schema
from pydantic import create_model

from storefront.apps.actions import INSTALLED, TOKEN_REPLACED
from storefront.apps.extensions_api import ExtensionType
from storefront.carts.schemas import Line, LineOption
from storefront.catalogue.app_schemas import WholeAppProduct
from storefront.catalogue.inventory.schemas import InventoryItem
from storefront.checkout.schemas import AbandonedCheckout, CheckoutTotals
from storefront.customers.schemas import WholeCustomer
from storefront.kit.api.schemas import IdAlone, Money, Timestamp
from storefront.orders.schemas import RefundRecord, WholeOrder
from storefront.webhooks.schemas import Event
from storefront.webhooks.topics import SCOPES_CHANGED, TOPICS


class TokenMessage(Schema):
    """A message with a token, signed with the app's own secret."""

    timestamp: Timestamp = Field(description="When the token was issued. Of two tokens, the later one is current.")
    shop_domain: str = Field(description="The shop's domain.", examples=["shop.example.com"])
    access_token: str = Field(description="The token for the App API. It is shown nowhere else; store it.")
    installation_id: int = Field(description="The installation's id.")


class Installed(TokenMessage):
    """Sent to the app's `install_url` when a merchant installs it."""

    type: Literal["app.installed"] = Field(description="What happened.")
    scopes: list[str] = Field(description="The scopes that the merchant granted.")
    webhook_secret: str = Field(description="The secret that signs this installation's webhooks and blocks.")


class TokenReplaced(TokenMessage):
    """Sent to the app's `install_url` when a merchant replaces its token."""

    type: Literal["app.token_replaced"] = Field(description="What happened.")
    previous_token_expires_at: Timestamp = Field(
        description="Until when the previous token works, unless the merchant revokes it earlier."
    )


class BlockItem(Line):
    """A line of the basket or order; on a product page, one piece of the product."""

    key: str | None = Field(None, description="Names the line in the cart. Only in a `checkout_block`.")
    line_total: Money = Field(description="price_snapshot times qty.")
    options: list[LineOption] = Field(description="The chosen options.")


class BlockCall(Schema):
    """The data for a block."""

    id: str = Field(
        description="The call's id, also as `webhook-id`.", examples=["call_0b9e3a1c5d7f4e2a9b8c6d5e4f3a2b1c"]
    )
    type: ExtensionType = Field(description="The extension's type.")
    shop_domain: str = Field(description="The shop's domain.", examples=["shop.example.com"])
    currency: str = Field(description="ISO 4217 code of all amounts.", examples=["EUR"])
    items: list[BlockItem] = Field(description="The lines.")
    totals: CheckoutTotals = Field(description="The totals, with delivery and tax as far as they are known.")
    cart: str | None = Field(
        description="Parameter `cart` of the checkout link that brought items, as the order will have it. Null without "
        "one, and on a product page. Not a cart token."
    )


class Block(Schema):
    """A block to show."""

    html: str = Field(description="Shown after it was sanitised. Empty shows nothing.", examples=["<p>Gift wrap?</p>"])


class Uninstalled(Schema):
    """The installation that ended."""

    id: int = Field(description="The installation's id.")
    app: str = Field(description="The app's slug.", examples=["gift-notes"])


class ScopesChanged(Schema):
    """The installation whose scopes were changed."""

    id: int = Field(description="The installation's id.")
    app: str = Field(description="The app's slug.", examples=["gift-notes"])
    scopes: list[str] = Field(description="The scopes that it has now.", examples=[["read_shop", "read_orders"]])
    previous_scopes: list[str] = Field(description="The scopes that it had before.", examples=[["read_shop"]])


class ErasedCustomer(Schema):
    """A person whose data the shop has erased. Apps with a copy have to erase it, too."""

    id: int = Field(description="The id of the shop's data request.")
    customer_id: int | None = Field(description="The id that the customer had; null for a guest.")
    order_ids: list[int] = Field(description="The ids of their orders, from which they were erased.")


# The shape of an event's `data`, by the topic or its first word.
DATA: dict[str, type[Schema]] = {
    "order": WholeOrder,
    "product": WholeAppProduct,
    "inventory": InventoryItem,
    "refund": RefundRecord,
    "checkout": AbandonedCheckout,
    "customer": WholeCustomer,
    "customer.erased": ErasedCustomer,
    "app": Uninstalled,
    SCOPES_CHANGED: ScopesChanged,
}


def data_schema(topic: str) -> type[Schema]:
    """The schema of the `data` of the topic's events."""
    return DATA.get(topic) or DATA[topic.partition(".")[0]]


def event_of(topic: str) -> type[Schema]:
    """The schema of the topic's event."""
    data, scope = data_schema(topic), TOPICS[topic]
    without = f" Only its id without the scope `{scope}`." if scope else ""
    if topic == SCOPES_CHANGED:
        without = " Only its id if it is another app's, as in the feed."
    shape: Any = data | IdAlone if without else data
    name = "".join(word.title() for word in topic.replace("_", ".").split("."))
    return create_model(
        f"{name}Event",
        __base__=Event,
        __doc__=f"The event `{topic}`.",
        type=(str, Field(description="The topic.", examples=[topic])),
        data=(shape, Field(description=f"The object when the event happened.{without}")),
        test=(bool, Field(False, description="Only in a test delivery: `true`. Its `sequence` and ids are 0.")),
    )


def describe(schema_of: Callable[[type[Schema]], dict[str, Any]]) -> dict[str, Any]:
    """The `webhooks` of the description. `schema_of` adds a schema to the components and returns a reference to it."""
    messages: dict[str, type[Schema]] = {INSTALLED: Installed, TOKEN_REPLACED: TokenReplaced}
    messages |= {topic: event_of(topic) for topic in TOPICS}
    return {topic: {"post": _message(topic, schema_of(schema))} for topic, schema in messages.items()}


def describe_block_call(schema_of: Callable[[type[Schema]], dict[str, Any]]) -> dict[str, Any]:
    """The `callbacks` of the registration of an extension: how the shop asks for its block."""
    call = {
        "operationId": "render_block",
        "summary": "Render a block",
        "description": "A POST to the extension's `callback_url` each time a page of its type is viewed, signed with "
        "the installation's webhook secret. Answer within `timeout_ms`. The call is not repeated.",
        "tags": ["App: Extensions"],
        "security": [],
        "parameters": _signature("The call's id."),
        "requestBody": {"required": True, "content": _json(schema_of(BlockCall))},
        "responses": {
            "2XX": {"description": "The block.", "content": _json(schema_of(Block))},
            "default": {"description": "Anything else shows no block. The checkout goes on without it."},
        },
    }
    return {"block": {"{$request.body#/callback_url}": {"post": call}}}


def _message(topic: str, schema: dict[str, Any]) -> dict[str, Any]:
    secret = "app's own secret" if topic in (INSTALLED, TOKEN_REPLACED) else "installation's webhook secret"
    return {
        "operationId": "receive_" + topic.replace(".", "_"),
        "summary": f"Receive {topic}",
        "description": f"A POST to the app, signed with the {secret}. Answer within 10 seconds with any 2xx status.",
        "tags": ["App: Webhooks"],
        "security": [],
        "parameters": _signature("The event's id. The same in every try, so that you can recognise repeats."),
        "requestBody": {"required": True, "content": _json(schema)},
        "responses": {
            "2XX": {"description": "Received. The delivery is not repeated."},
            "4XX": {"description": "Refused. The delivery is repeated later, as after any other failure."},
        },
    }


def _signature(id: str) -> list[dict[str, Any]]:
    """The headers of a signed call, as parameters. `id` describes the first."""
    headers = {
        "webhook-id": id,
        "webhook-timestamp": "When this call was signed, in Unix seconds.",
        "webhook-signature": "Signatures as in Standard Webhooks 1.0: `v1,` and Base64, separated by spaces.",
    }
    return [
        {"in": "header", "name": name, "required": True, "description": text, "schema": {"type": "string"}}
        for name, text in headers.items()
    ]


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}

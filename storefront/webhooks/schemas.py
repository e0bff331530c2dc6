"""Request and response bodies of the webhook and feed endpoints. `queries.py` writes the responses by these
classes."""

from typing import Annotated, Any, Literal

from ninja import Field, Schema
from pydantic import AfterValidator, WithJsonSchema

from storefront.installations.schemas import AppUrl
from storefront.kit.api.schemas import Change, Moment, Timestamp
from storefront.kit.ids import MAX_ID
from storefront.webhooks.topics import TOPICS


def _topic(value: str) -> str:
    if value not in TOPICS:
        raise ValueError(f"must be one of {', '.join(TOPICS)}")
    return value


Topic = Annotated[
    str,
    Field(strict=True),
    AfterValidator(_topic),
    WithJsonSchema({"type": "string", "enum": list(TOPICS)}),
]
Status = Literal["pending", "held", "delivered", "dead", "cancelled"]
SequenceNumber = Annotated[int, Field(ge=0, le=MAX_ID)]
OffsetTimestamp = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$",
        description="ISO 8601 with a numeric offset from UTC and no fraction.",
        examples=["2026-11-21T07:30:00+00:00"],
    ),
]


class NewWebhook(Schema):
    """A topic and the URL that receives its events."""

    topic: Topic = Field(description="The topic to subscribe to.", examples=["order.placed"])
    address: AppUrl = Field(
        description="Public https URL that receives the events.", examples=["https://app.example.com/webhooks"]
    )


class Webhook(Schema):
    """A topic that an app subscribes to."""

    topic: str = Field(description="The webhook's topic.", examples=["order.placed"])
    address: str = Field(description="The URL that receives the events.", examples=["https://app.example.com/webhooks"])
    created_at: OffsetTimestamp
    id: int = Field(description="The webhook's id.")
    state: Literal["active", "paused"] = Field(description="`paused`: deliveries are held until it is resumed.")
    paused_reason: Literal["failing", "gone"] | None = Field(
        description="`failing`: nothing got through for three days. `gone`: the receiver answered 410. Null if active."
    )


class WebhookChange(Change):
    """Changes of an app's webhook."""

    address: AppUrl = Field(
        "", description="Public https URL that receives the events.", examples=["https://app.example.com/webhooks"]
    )
    state: Literal["active"] = Field("active", description="Send `active` to resume a paused webhook.")


class OneWebhook(Schema):
    webhook: Webhook = Field(description="The webhook.")


class WebhookList(Schema):
    webhooks: list[Webhook] = Field(description="The app's own webhooks, oldest first.")


class WebhookRegistered(Schema):
    message: str = Field(description="Human-readable message.", examples=["Webhook registered."])
    webhook: Webhook = Field(description="The current record.")


class WebhookRemoved(Schema):
    message: str = Field(description="Human-readable message.", examples=["Webhook removed."])


class Attempt(Schema):
    """An attempt to deliver a message."""

    number: int = Field(description="Number of the attempt, starting at 1.")
    started_at: Timestamp
    duration_ms: int = Field(description="Duration of the attempt in milliseconds.")
    status: int | None = Field(description="HTTP status of the response; null if there was none.")
    error: str | None = Field(description="Why there was no response.")
    answer: str = Field(description="First KiB of the response body.")


class Delivery(Schema):
    """A message to the app and its delivery attempts."""

    id: int = Field(description="The delivery's id.")
    webhook_id: str = Field(description="The `webhook-id` header. For an event, the event's id.")
    topic: str = Field(description="The topic.", examples=["order.placed"])
    test: bool = Field(description="Whether it was sent to test the webhook, with a sample.")
    sequence: int | None = Field(
        description="The event's position in the feed; null if the delivery is not for an event."
    )
    address: str = Field(description="The receiving URL.")
    status: Status = Field(description="`held`: waits until the webhook is resumed. `dead`: all attempts failed.")
    tries: int = Field(description="Number of attempts.")
    next_try_at: Timestamp | None = Field(description="Time of the next automatic attempt; null if none.")
    created_at: Timestamp
    ended_at: Timestamp | None = Field(description="When it was delivered or finally failed.")
    attempts: list[Attempt] = Field(description="The attempts, oldest first.")


class DeliveryQuery(Schema):
    """Filters for the list of deliveries."""

    status: Status | None = Field(None, description="Only deliveries with this status.")
    topic: Topic | None = Field(None, description="Only deliveries of this topic.")
    before: Annotated[int, Field(ge=1, le=MAX_ID)] | None = Field(
        None, description="Only deliveries with a smaller id. Use `next_before` of the previous page."
    )
    limit: Annotated[int, Field(ge=1, le=100)] = Field(24, description="Maximum number of records.")


class DeliveryList(Schema):
    deliveries: list[Delivery] = Field(description="The app's own deliveries, newest first.")
    next_before: int | None = Field(description="Value of `before` for the next page; null on the last page.")


class DeliveryReplayed(Schema):
    message: str = Field(description="Human-readable message.", examples=["The delivery is sent again."])
    delivery: Delivery = Field(description="The current record.")


class TestSent(Schema):
    message: str = Field(description="Human-readable message.", examples=["The test delivery is sent."])
    delivery: Delivery = Field(description="The delivery.")


class Range(Schema):
    """The events to send again. By default all events in the feed for which the app has a webhook."""

    topic: Topic | None = Field(None, description="Only events of this topic.")
    after: Annotated[SequenceNumber, Field(strict=True)] | None = Field(
        None, description="Only events with a greater sequence."
    )
    before: Annotated[SequenceNumber, Field(strict=True)] | None = Field(
        None, description="Only events with a smaller sequence."
    )
    since: Moment | None = Field(None, description="Only events at or after this time.")
    until: Moment | None = Field(None, description="Only events before this time.")


class RangeReplayed(Schema):
    message: str = Field(description="Human-readable message.", examples=["12 deliveries are sent again."])
    replayed: int = Field(description="Number of deliveries that are sent again.")
    next_after: int | None = Field(
        description="Up to 1,000 events per call. To continue, send this as `after`; null if there are no more."
    )


class FeedQuery(Schema):
    """Filters for the list of events."""

    after: SequenceNumber = Field(
        0, description="Only events with a greater sequence. Use `next_after` of the previous page."
    )
    topic: Topic | None = Field(None, description="Only events of this topic.")
    limit: Annotated[int, Field(ge=1, le=500)] = Field(100, description="Maximum number of records.")


class Event(Schema):
    """An event in the shop, as webhooks deliver it."""

    id: str = Field(description="The event's id. The same in every delivery, also as `webhook-id`.")
    type: str = Field(description="The topic.", examples=["order.placed"])
    timestamp: Timestamp = Field(description="When the event happened.")
    shop_domain: str = Field(description="The shop's domain.", examples=["shop.example.com"])
    sequence: int = Field(description="Position in the shop's event feed: 1, 2, 3 and so on.")
    data: dict[str, Any] = Field(description="The object. Only its `id` without the topic's read scope.")


class EventList(Schema):
    events: list[Event] = Field(description="The events, oldest first.")
    next_after: int = Field(description="Value of `after` for the next call.")

"""Webhooks, their deliveries and the feed, described. Answers are written from `queries.py`; these document them."""

from typing import Annotated, Any, Literal

from ninja import Field, Schema
from pydantic import AfterValidator, WithJsonSchema

from storefront.kit.ids import LARGEST_ID
from storefront.kit.schemas import Moment, Timestamp
from storefront.webhooks.models import LONGEST_URL
from storefront.webhooks.topics import TOPICS


def _topic(given: str) -> str:
    if given not in TOPICS:
        raise ValueError(f"must be one of {', '.join(TOPICS)}")
    return given


Topic = Annotated[
    str,
    Field(strict=True),
    AfterValidator(_topic),
    WithJsonSchema({"type": "string", "enum": list(TOPICS)}),
]
Status = Literal["pending", "held", "delivered", "dead", "cancelled"]
Place = Annotated[int, Field(ge=0, le=LARGEST_ID)]
OffsetTimestamp = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$",
        description="ISO 8601 with a numeric offset from UTC and no fraction.",
        examples=["2026-11-21T07:30:00+00:00"],
    ),
]


class NewWebhook(Schema):
    """Where to send events of a topic."""

    topic: Topic = Field(description="What to be told of.", examples=["order.placed"])
    address: Annotated[str, Field(strict=True, max_length=LONGEST_URL)] = Field(
        description="Where to send it: a public https address.", examples=["https://app.example.com/webhooks"]
    )


class Webhook(Schema):
    """A topic that an app is told of."""

    topic: str = Field(description="What the app is told of.", examples=["order.placed"])
    address: str = Field(description="Where it is sent.", examples=["https://app.example.com/webhooks"])
    created_at: OffsetTimestamp


class Webhooks(Schema):
    webhooks: list[Webhook] = Field(description="Of every app in the shop.")


class WebhookRegistered(Schema):
    message: str = Field(description="For people.", examples=["Webhook registered."])
    webhook: Webhook = Field(description="As it stands now.")


class WebhookRemoved(Schema):
    message: str = Field(description="For people.", examples=["Webhook removed."])


class Attempt(Schema):
    """One try of a delivery."""

    number: int = Field(description="The how manieth try, from 1.")
    started_at: Timestamp
    duration_ms: int = Field(description="Milliseconds until the answer was there, or the try was given up.")
    status: int | None = Field(description="HTTP status of the answer; null: there was none.")
    error: str | None = Field(description="Why there was no answer.")
    answer: str = Field(description="First KiB of the answer's body.")


class Delivery(Schema):
    """A message to the app, and how its tries went."""

    id: int = Field(description="Names it in its path.")
    webhook_id: str = Field(description="The `webhook-id` that it goes out under; for an event, the event's id.")
    topic: str = Field(description="What it tells of.", examples=["order.placed"])
    sequence: int | None = Field(description="The event's place in the feed; null for what is no event.")
    address: str = Field(description="Where it goes.")
    status: Status = Field(description="`held`: until the webhook is resumed. `dead`: all tries failed.")
    tries: int = Field(description="How often it was tried.")
    next_try_at: Timestamp | None = Field(description="When it is tried next; null: not by itself.")
    created_at: Timestamp
    ended_at: Timestamp | None = Field(description="When it was delivered or given up.")
    attempts: list[Attempt] = Field(description="Its tries, oldest first.")


class DeliveryQuery(Schema):
    """Which of the app's deliveries to list."""

    status: Status | None = Field(None, description="Only those in this state.")
    topic: Topic | None = Field(None, description="Only those of this topic.")
    before: Annotated[int, Field(ge=1, le=LARGEST_ID)] | None = Field(
        None, description="Only those with a smaller id: `next_before` of the page before."
    )
    limit: Annotated[int, Field(ge=1, le=100)] = Field(24, description="How many at most.")


class Deliveries(Schema):
    deliveries: list[Delivery] = Field(description="The app's own, newest first.")
    next_before: int | None = Field(description="Where the next page begins; null: this was the last.")


class DeliveryReplayed(Schema):
    message: str = Field(description="For people.", examples=["The delivery is sent again."])
    delivery: Delivery = Field(description="As it stands now.")


class Range(Schema):
    """Which events to send again: all of the feed that the app has a webhook for, unless bounds are given."""

    topic: Topic | None = Field(None, description="Only events of this topic.")
    after: Annotated[int, Field(strict=True, ge=0, le=LARGEST_ID)] | None = Field(
        None, description="Only events with a greater sequence."
    )
    before: Annotated[int, Field(strict=True, ge=0, le=LARGEST_ID)] | None = Field(
        None, description="Only events with a smaller sequence."
    )
    since: Moment | None = Field(None, description="Only events of this moment or later.")
    until: Moment | None = Field(None, description="Only events before this moment.")


class RangeReplayed(Schema):
    message: str = Field(description="For people.", examples=["12 deliveries are sent again."])
    replayed: int = Field(description="How many deliveries are on their way again.")
    next_after: int | None = Field(
        description="One call replays up to 1,000 events. Call again with this as `after`; null: that was all."
    )


class FeedQuery(Schema):
    """Which events to read."""

    after: Place = Field(0, description="Only events with a greater sequence: `next_after` of the page before.")
    topic: Topic | None = Field(None, description="Only events of this topic.")
    limit: Annotated[int, Field(ge=1, le=500)] = Field(100, description="How many at most.")


class Event(Schema):
    """Something that happened in the shop, as webhooks tell it."""

    id: str = Field(description="The same in every delivery of it, as `webhook-id` too.")
    type: str = Field(description="The topic.", examples=["order.placed"])
    timestamp: Timestamp = Field(description="When it happened.")
    shop_domain: str = Field(description="Where it happened.", examples=["shop.example.com"])
    sequence: int = Field(description="Its place in the shop's feed: 1, 2, 3 and so on.")
    data: dict[str, Any] = Field(description="The object; without the read scope of the topic, its `id` alone.")


class Events(Schema):
    events: list[Event] = Field(description="In the order of the feed.")
    next_after: int = Field(description="`after` of the next call, now or later.")

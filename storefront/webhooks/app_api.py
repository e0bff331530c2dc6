from typing import Annotated

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.refusals import NotFound
from storefront.kit.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request
from storefront.webhooks import actions, queries, replaying, schemas

router = Router(tags=["App"])


@router.get("/webhooks", auth=app_scope(), response=answers({200: schemas.Webhooks}), summary="List webhooks")
def list_webhooks(request: Request) -> HttpResponse:
    """The webhooks of every app in the shop. Any installed app may read them."""
    return json_response({"webhooks": queries.webhook_records(request.shop)})


@router.post(
    "/webhooks",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.WebhookRegistered, 201: schemas.WebhookRegistered}, 400, 409, 413, 415, 422),
    summary="Register a webhook",
)
def register_webhook(request: Request, body: schemas.NewWebhook) -> HttpResponse:
    """Have events of the topic sent to the address. The app's webhook for the topic, if it has one, gets the new
    address and is resumed if it was paused; then the answer is 200."""
    registration, created = actions.register_webhook(
        shop=request.shop,
        installation_id=_caller(request),
        topic=body.topic,
        address=body.address,
        now=request.now,
    )
    answer = {"message": "Webhook registered.", "webhook": queries.webhook_record(registration)}
    return json_response(answer, status=201 if created else 200)


# Before `/webhooks/{topic}`: neither `deliveries` nor `replay` is a topic.
@router.get(
    "/webhooks/deliveries",
    auth=app_scope(),
    response=answers({200: schemas.Deliveries}, 422),
    summary="List deliveries",
)
def list_deliveries(request: Request, asked: Query[schemas.DeliveryQuery]) -> HttpResponse:
    """The app's own deliveries with their tries, newest first."""
    records, next_before = queries.delivery_page(request.shop, installation_id=_caller(request), **asked.dict())
    return json_response({"deliveries": records, "next_before": next_before})


@router.post(
    "/webhooks/deliveries/{id}/replay",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.DeliveryReplayed}, 404, 409, 422),
    summary="Send a delivery again",
)
def replay_delivery(
    request: Request, id: Annotated[str, Path(description="One of the app's own deliveries.")]
) -> HttpResponse:
    """Send one of the app's own deliveries again, to the address that its topic has now."""
    row = replaying.replay_delivery(
        shop=request.shop, installation_id=_caller(request), delivery_id=as_id(id) or 0, now=request.now
    )
    found = queries.delivery_of(request.shop, installation_id=_caller(request), delivery_id=row.pk)
    if found is None:
        raise NotFound
    return json_response({"message": "The delivery is sent again.", "delivery": queries.delivery_record(found)})


@router.post(
    "/webhooks/replay",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.RangeReplayed}, 400, 409, 413, 415, 422),
    summary="Send events again",
)
def replay_range(request: Request, body: schemas.Range) -> HttpResponse:
    """Send a range of the feed again to the app's webhooks, also what happened before they were registered."""
    done = replaying.replay_range(shop=request.shop, installation_id=_caller(request), now=request.now, **body.dict())
    message = f"{done.count} {'delivery is' if done.count == 1 else 'deliveries are'} sent again."
    return json_response({"message": message, "replayed": done.count, "next_after": done.next_after})


@router.delete(
    "/webhooks/{topic}",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.WebhookRemoved}, 404),
    summary="Remove a webhook",
)
def remove_webhook(
    request: Request, topic: Annotated[str, Path(description="The topic of one of the app's own webhooks.")]
) -> HttpResponse:
    """Send no more events of the topic to the app; what was still to be sent is cancelled."""
    actions.delete_webhook(shop=request.shop, installation_id=_caller(request), topic=topic, now=request.now)
    return json_response({"message": "Webhook removed."})


@router.get("/events", auth=app_scope(), response=answers({200: schemas.Events}, 422), summary="Read the feed")
def read_feed(request: Request, asked: Query[schemas.FeedQuery]) -> HttpResponse:
    """What happened in the shop, in order and without gaps, so that a missed delivery is never a lost event."""
    page = queries.feed(request.shop, scopes=request.caller.scopes, **asked.dict())
    return json_response({"events": page.events, "next_after": page.next_after})


def _caller(request: Request) -> int:
    """The installation that calls; `app_scope` lets nobody else through."""
    assert request.caller.installation_id is not None
    return request.caller.installation_id

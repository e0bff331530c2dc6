from contextlib import AbstractContextManager
from typing import Annotated, Any

from django.db.models import QuerySet
from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.installations.conditional import only_own_if_match
from storefront.kit.api.conditional import record_response
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import PathId, answers
from storefront.kit.ids import as_id
from storefront.kit.refusals import NotFound
from storefront.shops.auth import app_scope
from storefront.shops.request import Request, calling_installation
from storefront.webhooks import actions, queries, replaying, schemas
from storefront.webhooks.models import Registration

# Any installed app may list; the writes need `write_webhooks` (R-APP-12).
router = Router(tags=["App: Webhooks"])

OwnWebhook = Annotated[
    str, Path(description="The topic of one of the app's own webhooks, or its id.", examples=["order.placed"])
]


@router.get("/webhooks", auth=app_scope(), response=answers({200: schemas.WebhookList}), summary="List webhooks")
def list_webhooks(request: Request) -> HttpResponse:
    """The app's own webhooks."""
    records = queries.webhook_records(request.shop, installation_id=calling_installation(request))
    return json_response({"webhooks": records})


@router.post(
    "/webhooks",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.WebhookRegistered, 201: schemas.WebhookRegistered}, 400, 409, 413, 415, 422),
    summary="Register a webhook",
)
def register_webhook(request: Request, body: schemas.NewWebhook) -> HttpResponse:
    """Send events of the topic to the address. If the app already has a webhook for the topic, its address is replaced,
    it is resumed if it was paused, and the status is 200."""
    registration, created = actions.register_webhook(
        shop=request.shop,
        installation_id=calling_installation(request),
        topic=body.topic,
        address=body.address,
        now=request.now,
    )
    answer = {"message": "Webhook registered.", "webhook": queries.webhook_record(registration)}
    return json_response(answer, status=201 if created else 200)


# Before `/webhooks/{topic}`, which would match these paths too.
@router.get(
    "/webhooks/deliveries",
    auth=app_scope(),
    response=answers({200: schemas.DeliveryList}, 422),
    summary="List deliveries",
)
def list_deliveries(request: Request, asked: Query[schemas.DeliveryQuery]) -> HttpResponse:
    """The app's own deliveries with their attempts, newest first."""
    records, next_before = queries.delivery_page(
        request.shop, installation_id=calling_installation(request), **asked.dict()
    )
    return json_response({"deliveries": records, "next_before": next_before})


@router.post(
    "/webhooks/deliveries/{id}/replay",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.DeliveryReplayed}, 404, 409, 422),
    summary="Replay a delivery",
)
def replay_delivery(
    request: Request, id: Annotated[PathId, Path(description="The id of one of the app's own deliveries.")]
) -> HttpResponse:
    """Send one of the app's own deliveries again, to the current address of its topic."""
    row = replaying.replay_delivery(
        shop=request.shop, installation_id=calling_installation(request), delivery_id=as_id(id) or 0, now=request.now
    )
    return json_response({"message": "The delivery is sent again.", "delivery": _delivery(request, row.pk)})


@router.post(
    "/webhooks/replay",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.RangeReplayed}, 400, 409, 413, 415, 422),
    summary="Replay events",
)
def replay_events(request: Request, body: schemas.Range) -> HttpResponse:
    """Send a range of events again to the app's webhooks, including events from before the webhooks were registered."""
    result = replaying.replay_range(
        shop=request.shop, installation_id=calling_installation(request), now=request.now, **body.dict()
    )
    message = f"{result.count} {'delivery is' if result.count == 1 else 'deliveries are'} sent again."
    return json_response({"message": message, "replayed": result.count, "next_after": result.next_after})


@router.get(
    "/webhooks/{topic}",
    auth=app_scope(),
    response=answers({200: schemas.OneWebhook, 304: None}, 404),
    summary="Get a webhook",
)
def get_webhook(request: Request, topic: OwnWebhook) -> HttpResponse:
    """One of the app's own webhooks, with its state."""
    return record_response(request, _read(request, topic))


@router.patch(
    "/webhooks/{topic}",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.OneWebhook}, 400, 404, 412, 413, 415, 422),
    summary="Update a webhook",
)
def update_webhook(request: Request, topic: OwnWebhook, body: schemas.WebhookChange) -> HttpResponse:
    """Change the address of one of the app's own webhooks, or resume it: then its held deliveries are sent."""
    given = body.model_dump(exclude_unset=True)
    with _only_if_match(request, topic):
        row = actions.change_webhook(
            shop=request.shop,
            installation_id=calling_installation(request),
            key=topic,
            address=given.get("address"),
            resume="state" in given,
            now=request.now,
        )
    return record_response(request, {"webhook": queries.webhook_record(row)})


@router.delete(
    "/webhooks/{topic}",
    auth=app_scope("write_webhooks"),
    response=answers({200: schemas.WebhookRemoved}, 404, 412),
    summary="Remove a webhook",
)
def delete_webhook(request: Request, topic: OwnWebhook) -> HttpResponse:
    """Stop sending events of the topic to the app. Pending deliveries are cancelled."""
    with _only_if_match(request, topic):
        actions.delete_webhook(
            shop=request.shop, installation_id=calling_installation(request), key=topic, now=request.now
        )
    return json_response({"message": "Webhook removed."})


@router.post(
    "/webhooks/{topic}/test",
    auth=app_scope("write_webhooks"),
    response=answers({201: schemas.TestSent}, 404, 409, 422),
    summary="Send a test delivery",
)
def test_webhook(request: Request, topic: OwnWebhook) -> HttpResponse:
    """Send a sample event of the topic to the webhook's address, once, also if the webhook is paused. Its body has
    `"test": true`, `sequence` 0 and the id 0 in `data`. The outcome is in the list of deliveries, and neither pauses
    nor resumes the webhook."""
    row = actions.send_test(
        shop=request.shop, installation_id=calling_installation(request), key=topic, now=request.now
    )
    answer = {"message": "The test delivery is sent.", "delivery": _delivery(request, row.pk)}
    return json_response(answer, status=201)


@router.get("/events", auth=app_scope(), response=answers({200: schemas.EventList}, 422), summary="List events")
def list_events(request: Request, asked: Query[schemas.FeedQuery]) -> HttpResponse:
    """The events of the shop, in order and without gaps, so that an app can catch up on missed deliveries."""
    page = queries.feed(
        request.shop,
        installation_id=calling_installation(request),
        scopes=request.caller.scopes,
        **asked.dict(),
    )
    return json_response({"events": page.events, "next_after": page.next_after})


def _read(request: Request, topic: str) -> dict[str, Any]:
    row = _own(request, topic).first()
    if row is None:
        raise NotFound
    return {"webhook": queries.webhook_record(row)}


def _only_if_match(request: Request, topic: str) -> AbstractContextManager[None]:
    return only_own_if_match(request, _own(request, topic), lambda: _read(request, topic))


def _own(request: Request, topic: str) -> QuerySet[Registration]:
    return queries.own_webhooks(request.shop, installation_id=calling_installation(request), key=topic)


def _delivery(request: Request, id: int) -> dict[str, Any]:
    found = queries.get_delivery(request.shop, installation_id=calling_installation(request), delivery_id=id)
    if found is None:
        raise NotFound
    return queries.delivery_record(found)

"""Background jobs for webhooks: mails about paused webhooks, deletion of old rows."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django_tasks import task

from storefront.kit.queues import MAILS
from storefront.kit.time_partitions import ByTime, Partition
from storefront.pods.moves import NOT_MOVING
from storefront.shops import mail
from storefront.shops.places import page_address
from storefront.shops.staff_language import speaking_to_address
from storefront.webhooks.models import Attempt, Delivery, Event, Registration

log = structlog.get_logger(__name__)

EVENTS = ByTime("webhooks_event", "created_at", "month")
DELIVERIES = ByTime("webhooks_delivery", "created_at", "month")
ATTEMPTS = ByTime("webhooks_attempt", "started_at", "month")
# Rows of other partitions that are deleted with those that they belong to, in one statement.
BATCH_ROWS = 1000


@task(queue_name=MAILS)
def tell_of_pause(shop_id: int, registration_id: int, tries: int = 0) -> None:
    """Mail the merchant that an app's webhook was paused, unless it is active again or the shop has no address."""
    found = Registration.objects.select_related("shop", "installation__app")
    registration = found.filter(shop=shop_id, pk=registration_id).first()
    if registration is None or registration.is_active or not registration.shop.email:
        return
    given = shop_id, registration_id
    mail.send(pause_mail(registration), *given, what="webhook_paused", task=tell_of_pause, tries=tries)


def pause_mail(registration: Registration) -> EmailMessage:
    shop, app = registration.shop, " ".join(str(registration.installation).split())
    url = page_address("admin:webhooks_registration_change", registration.pk, shop=shop)
    context = {"registration": registration, "shop": shop, "app": app, "url": url}
    with speaking_to_address(str(shop.email), shop):
        subject = _("The webhook of %(app)s for %(topic)s is paused") % {"app": app, "topic": registration.topic}
        text = render_to_string("webhooks/paused.txt", context)
        given: Any = {"text": text, "buttons": [url], "is_to_staff": True}
        return mail.message(shop=shop, to=str(shop.email), subject=subject, **given)


def delete_old_deliveries(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` deliveries older than EVENT_DAYS, with their attempts, and partitions of such. Returns how
    many rows and partitions."""
    dropped = ATTEMPTS.drop_ended(now=now, age=_age())
    dropped += DELIVERIES.drop_ended(now=now, age=_age(), first=_delete_attempts_of)
    return dropped + _delete_oldest(Delivery, DELIVERIES, now, limit)


def delete_old_events(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` events older than EVENT_DAYS (R-HOOK-19), and partitions of such. Sequence numbers continue
    after theirs. Returns how many rows and partitions."""
    dropped = EVENTS.drop_ended(now=now, age=_age(), first=_delete_deliveries_of)
    return dropped + _delete_oldest(Event, EVENTS, now, limit)


def _age() -> timedelta:
    return timedelta(days=settings.EVENT_DAYS)


def _delete_oldest(model: type[Delivery] | type[Event], rows: ByTime, now: datetime, limit: int) -> int:
    return model.objects.filter(NOT_MOVING, pk__in=rows.oldest(before=now - _age(), limit=limit)).delete()[0]


def _delete_deliveries_of(events: Partition) -> None:
    """Delete later deliveries of the partition's events, as of every deleted event: replays, above all."""
    _delete_later(Delivery, "event_id", "created_at", events)


def _delete_attempts_of(deliveries: Partition) -> None:
    _delete_later(Attempt, "delivery_id", "started_at", deliveries)


def _delete_later(model: type[Delivery] | type[Attempt], key: str, column: str, partition: Partition) -> None:
    """Delete rows from after the partition's end whose key leads to a row of it."""
    found = (
        f"SELECT later.id FROM {model._meta.db_table} later WHERE later.{column} >= %s AND later.{key} BETWEEN"  # noqa: S608
        f" (SELECT min(id) FROM {partition.name}) AND (SELECT max(id) FROM {partition.name})"
        f" AND EXISTS (SELECT 1 FROM {partition.name} own WHERE own.id = later.{key}) LIMIT {BATCH_ROWS}"
    )
    while True:
        with connection.cursor() as cursor:
            cursor.execute(found, [partition.end])
            ids = [pk for (pk,) in cursor.fetchall()]
        # Rows of a shop that arrives from another pod cannot be deleted, and would be found for ever.
        if not ids or not model.objects.filter(pk__in=ids).delete()[0]:
            break

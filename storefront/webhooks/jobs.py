"""Background jobs for webhooks: mails about paused webhooks, deletion of old rows."""

from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django_tasks import task

from storefront.kit.queues import MAILS
from storefront.shops import mail
from storefront.shops.places import page_address
from storefront.webhooks.models import Delivery, Event, Registration

log = structlog.get_logger(__name__)


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
    return mail.message(
        shop=shop,
        to=str(shop.email),
        subject=f"The webhook of {app} for {registration.topic} is paused",
        text=render_to_string("webhooks/paused.txt", context),
        is_to_staff=True,
    )


def delete_old_deliveries(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` deliveries older than EVENT_DAYS, with their attempts. Returns how many rows."""
    return _delete_oldest(Delivery, now, limit)


def delete_old_events(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` events older than EVENT_DAYS (R-HOOK-19). Sequence numbers continue after theirs. Returns
    how many rows."""
    return _delete_oldest(Event, now, limit)


def _delete_oldest(model: type[Delivery] | type[Event], now: datetime, limit: int) -> int:
    # Ids grow with time, so this needs no index on `created_at`.
    oldest = model.objects.order_by("id").values_list("id", "created_at")[:limit]
    old = [pk for pk, created_at in oldest if created_at < now - timedelta(days=settings.EVENT_DAYS)]
    return model.objects.filter(pk__in=old).delete()[0]

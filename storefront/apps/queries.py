from datetime import datetime

from django.db.models import Q, QuerySet

from storefront.apps.models import App, Extension, ExtensionCall, Installation, ScriptTag
from storefront.shops.models import ApiToken, Shop
from storefront.webhooks.models import Attempt, Delivery, Registration


def standing_installation(shop: Shop, app: App) -> Installation | None:
    """The app's installation in the shop; None unless it is installed now."""
    return Installation.objects.select_related("app").filter(shop=shop, app=app, uninstalled_at=None).first()


def app_tokens(shop: Shop, installation: Installation, now: datetime) -> QuerySet[ApiToken]:
    """The tokens that are good now, the newest first."""
    tokens = ApiToken.objects.filter(shop=shop, installation_id=installation.pk, revoked_at=None)
    return tokens.filter(Q(expires_at=None) | Q(expires_at__gt=now)).order_by("-pk")


def what_goes(shop: Shop, installation: Installation) -> list[tuple[str, int]]:
    """What an uninstall takes out of the shop, and how much of each there is."""
    of = {"shop": shop, "installation": installation}
    pending = Delivery.objects.filter(**of).exclude(status__in=["delivered", "dead", "cancelled"])
    return [
        ("Blocks on the shop's pages", Extension.objects.filter(**of).count()),
        ("Scripts on the shop's pages", ScriptTag.objects.filter(**of).count()),
        ("Webhooks", Registration.objects.filter(**of).count()),
        ("Messages that have not been delivered yet", pending.count()),
    ]


def last_calls(shop: Shop, installation: Installation, limit: int = 10) -> list[tuple[datetime, str, str]]:
    """When the shop last called the app, what for, and how that went; the newest first."""
    asked = ExtensionCall.objects.filter(shop=shop, extension__installation=installation).select_related("extension")
    sent = Attempt.objects.filter(shop=shop, delivery__installation=installation).select_related("delivery")
    calls = [
        (call.called_at, call.extension.get_type_display(), f"{call.get_outcome_display()}, {call.duration_ms} ms")
        for call in asked.order_by("-called_at")[:limit]
    ]
    calls += [
        (attempt.started_at, attempt.delivery.topic, f"{attempt.status or attempt.error}, {attempt.duration_ms} ms")
        for attempt in sent.order_by("-started_at")[:limit]
    ]
    return sorted(calls, reverse=True)[:limit]

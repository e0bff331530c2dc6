from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.apps.models import Extension, ExtensionCall, ScriptTag
from storefront.installations.models import App, Installation
from storefront.kit.refusals import Refusal
from storefront.shops.models import ApiToken, Shop
from storefront.webhooks.models import Attempt, Delivery, Registration


class NotInstalled(Refusal):
    code, message, field = "not_installed", _lazy("This app is not installed in this shop."), "app"


def current_installation(shop: Shop, app: App) -> Installation:
    """The app's current installation in the shop. Raises NotInstalled."""
    found = Installation.objects.select_related("app", "shop").filter(shop=shop, app=app, uninstalled_at=None).first()
    if found is None:
        raise NotInstalled
    return found


def available_apps(shop: Shop) -> QuerySet[App]:
    """The apps that this shop can install and has not, by name."""
    here = Installation.objects.filter(shop=shop, app=OuterRef("pk"), uninstalled_at=None)
    return App.objects.filter(~Exists(here), is_active=True).order_by("name", "pk")


def app_tokens(shop: Shop, installation: Installation, now: datetime) -> QuerySet[ApiToken]:
    """The installation's valid tokens, newest first."""
    tokens = ApiToken.objects.filter(shop=shop, installation_id=installation.pk, revoked_at=None)
    return tokens.filter(Q(expires_at=None) | Q(expires_at__gt=now)).order_by("-pk")


def count_uninstalled(shop: Shop, installation: Installation) -> list[tuple[str, int]]:
    """Count what an uninstall would delete or cancel: a label and a count of each kind."""
    own = {"shop": shop, "installation": installation}
    pending = Delivery.objects.filter(**own).exclude(status__in=["delivered", "dead", "cancelled"])
    return [
        (_("Blocks on the shop's pages"), Extension.objects.filter(**own).count()),
        (_("Scripts on the shop's pages"), ScriptTag.objects.filter(**own).count()),
        (_("Webhooks"), Registration.objects.filter(**own).count()),
        (_("Undelivered messages"), pending.count()),
    ]


def last_calls(shop: Shop, installation: Installation, limit: int = 10) -> list[tuple[datetime, str, str]]:
    """The shop's latest calls to the app, newest first: time, purpose and outcome of each."""
    block_calls = ExtensionCall.objects.filter(shop=shop, extension__installation=installation).select_related(
        "extension"
    )
    attempts = Attempt.objects.filter(shop=shop, delivery__installation=installation).select_related("delivery")
    calls = [
        (
            call.called_at,
            call.extension.get_type_display(),
            f"{call.get_outcome_display()}, {call.duration_ms} ms",
        )
        for call in block_calls.order_by("-called_at")[:limit]
    ]
    calls += [
        (attempt.started_at, attempt.delivery.topic, f"{attempt.status or attempt.error}, {attempt.duration_ms} ms")
        for attempt in attempts.order_by("-started_at")[:limit]
    ]
    return sorted(calls, reverse=True)[:limit]

"""A shop's Stripe account: what the merchant fills in, and what is found wrong with it."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.debug import sensitive_variables

from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.providers.stripe_calls import open_client, stripe, without_secrets

OFFICIAL_SCRIPTS = "https://js.stripe.com"
# What Stripe.js needs, by docs.stripe.com/security/guide, without Google's maps, which only its address form uses.
OFFICIAL_POLICY: dict[str, tuple[str, ...]] = {
    "script-src": ("https://js.stripe.com", "https://*.js.stripe.com"),
    "frame-src": ("https://js.stripe.com", "https://*.js.stripe.com", "https://hooks.stripe.com"),
    "connect-src": ("https://api.stripe.com",),
}
# Where Stripe sends events, on a host of the shop; and those that the shop needs, which say that a payment changed.
NEWS_PATH = "/payments/stripe/news"
EVENTS = (
    "charge.dispute.closed",
    "charge.dispute.created",
    "charge.dispute.updated",
    "charge.refunded",
    "payment_intent.amount_capturable_updated",
    "payment_intent.canceled",
    "payment_intent.payment_failed",
    "payment_intent.processing",
    "payment_intent.succeeded",
    "refund.failed",
    "refund.updated",
)
# An intent that no account has: with a valid publishable key, Stripe answers that it does not exist.
NO_INTENT = "pi_000000000000000000000000"


def policy(script: str, api: str) -> dict[str, tuple[str, ...]]:
    """What the payment step may load and call, where Stripe.js comes from this address: Stripe's or a stand-in's."""
    if _origin(script) == OFFICIAL_SCRIPTS:
        return OFFICIAL_POLICY
    own = (_origin(script),)
    return {"script-src": own, "frame-src": own, "connect-src": (_origin(api),)}


def permissions_policy(script: str) -> dict[str, tuple[str, ...]]:
    """Wallets open from Stripe's frames."""
    return {"payment": ("self", f'"{_origin(script)}"')}


class StripeSettings(forms.Form):
    publishable_key = forms.CharField(
        label=_lazy("Publishable key"),
        help_text=_lazy(
            "In Stripe under Developers, API keys. It begins with pk_live_, or with pk_test_ for test mode."
        ),
        max_length=200,
        validators=[
            RegexValidator(r"^pk_(live|test)_\w+$", _lazy("A publishable key begins with pk_live_ or pk_test_."))
        ],
    )
    secret_key = forms.CharField(
        label=_lazy("Secret key"),
        help_text=_lazy(
            "The secret key, or a restricted key, from the same page. It is stored encrypted and never shown."
        ),
        max_length=200,
        validators=[
            RegexValidator(r"^[sr]k_(live|test)_\w+$", _lazy("A secret key begins with sk_live_ or sk_test_."))
        ],
    )
    webhook_secret = forms.CharField(
        label=_lazy("Webhook signing secret"),
        help_text=_lazy("In Stripe under Developers, Webhooks, at the endpoint that you made for this shop."),
        max_length=200,
        validators=[RegexValidator(r"^whsec_[\w+/=]+$", _lazy("A signing secret begins with whsec_."))],
    )
    capture = forms.ChoiceField(
        label=_lazy("Take the money"),
        choices=[
            ("at_once", _lazy("when the order is placed")),
            ("on_fulfilment", _lazy("when the order is fulfilled")),
        ],
        initial="at_once",
        help_text=_lazy(
            "Cards can be held for about seven days. Other methods are always charged when the order is placed."
        ),
    )


def is_test(settings: Mapping[str, str]) -> bool:
    return settings.get("publishable_key", "").startswith("pk_test_")


@sensitive_variables("settings")
def problems(settings: Mapping[str, str]) -> list[str]:
    """Check the account's settings by asking Stripe. Returns the problems in words. Raises ProviderUnavailable."""
    missing = [
        _("%(label)s is missing.") % {"label": field.label}
        for name, field in StripeSettings.base_fields.items()
        if not settings.get(name)
    ]
    if missing:
        return missing
    if ("_test_" in settings["secret_key"]) != is_test(settings):
        return [_("One of the keys is for test mode and the other is not. Both must be of the same mode.")]
    try:
        wrong = _of_the_account(settings["secret_key"]) or _of_the_publishable_key(settings)
        return wrong or _of_the_endpoint(settings["secret_key"])
    except stripe.StripeError as error:
        raise ProviderUnavailable(type(error).__name__) from None


def _of_the_account(secret_key: str) -> list[str]:
    try:
        account = open_client(secret_key).v1.accounts.retrieve_current()
    except stripe.AuthenticationError:
        return [
            _("Stripe does not know the secret key. It may have been rolled or deleted. Copy it again from Stripe.")
        ]
    except stripe.PermissionError:
        return [_("The restricted key may not read the account. Give it that permission, or use the secret key.")]
    if not account.charges_enabled:
        return [_("The Stripe account cannot take payments yet. Stripe says in its dashboard which details it needs.")]
    return []


def _of_the_publishable_key(settings: Mapping[str, str]) -> list[str]:
    """Ask with the publishable key for the account's newest intent: only a key of the same account sees it."""
    try:
        newest = open_client(settings["secret_key"]).v1.payment_intents.list({"limit": 1}).data
    except stripe.PermissionError:
        return [
            _(
                "The restricted key may not read and write PaymentIntents. Give it that permission, or use the secret "
                "key."
            )
        ]
    intent, secret = (newest[0].id, newest[0].client_secret) if newest else (NO_INTENT, f"{NO_INTENT}_secret_0")
    try:
        params: Any = {"client_secret": secret}
        open_client(settings["publishable_key"]).v1.payment_intents.retrieve(intent, params)
    except stripe.AuthenticationError:
        return [_("Stripe does not know the publishable key. Copy it again from Stripe.")]
    except stripe.InvalidRequestError as error:
        if newest and error.code == "resource_missing":
            return [_("The publishable key belongs to another Stripe account than the secret key.")]
        if error.code != "resource_missing":
            return [
                _("Stripe refuses the publishable key: %(user_message)s")
                % {"user_message": without_secrets(error.user_message)}
            ]
    return []


def _of_the_endpoint(secret_key: str) -> list[str]:
    """Without the events, orders of shoppers who close the tab come minutes later, and disputes never show."""
    try:
        endpoints = open_client(secret_key).v1.webhook_endpoints.list({"limit": 100}).data
    except stripe.PermissionError:
        # A restricted key need not see them.
        return []
    own = [each for each in endpoints if each.status == "enabled" and urlsplit(each.url).path.endswith(NEWS_PATH)]
    if not own:
        return [
            _("Stripe sends no events to this shop. Add a webhook endpoint in Stripe whose address ends in %(path)s.")
            % {"path": NEWS_PATH}
        ]
    wanted = {event for each in own for event in each.enabled_events}
    missing = [] if "*" in wanted else [event for event in EVENTS if event not in wanted]
    return (
        [_("The webhook endpoint in Stripe lacks these events: %(missing)s.") % {"missing": ", ".join(missing)}]
        if missing
        else []
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"

"""Calls to Stripe's API, through its library: each within one deadline, with Stripe's errors turned into ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings

from storefront.payments import alerts
from storefront.payments.providers.base import PaymentDeclined, ProviderRefused, ProviderUnavailable
from storefront.payments.providers.stripe_words import decline_words


class _Library:
    """Stripe's library, imported when something of it is first used: it takes 15 MB, and few shops use it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("stripe"), name)


if TYPE_CHECKING:
    import stripe as stripe
else:
    stripe = _Library()

# The version of Stripe's API that this code was written for. An account's own default version plays no part.
API_VERSION = "2026-10-28.endive"
# Refusals that mean "another call with this key is under way": to be asked again.
UNDER_WAY = ("idempotency_key_in_use", "lock_timeout")

# What Stripe may repeat of keys and client secrets in its messages.
_SECRET = re.compile(r"\b(?:[srp]k_(?:live|test)_|whsec_|pi_[A-Za-z0-9]+_secret_)[A-Za-z0-9*_]*")


class KeysRefused(ProviderRefused):
    """Stripe refused the keys, not the call: with other keys it may be carried out."""


def open_client(api_key: str) -> "stripe.StripeClient":
    """The library for this account, without retries of its own: the caller asks again, with the same key."""
    from storefront.payments.providers.stripe_client import DeadlineClient

    return stripe.StripeClient(
        api_key,
        stripe_version=API_VERSION,
        base_addresses={"api": settings.STRIPE_API},
        max_network_retries=0,
        http_client=DeadlineClient(),
    )


@contextmanager
def stripe_errors() -> Iterator[None]:
    """Turn Stripe's errors into PaymentDeclined, ProviderRefused, or ProviderUnavailable where the outcome is unknown
    or asking again may help."""
    try:
        yield
    except stripe.CardError as error:
        raise PaymentDeclined(decline_words(error.code, getattr(error.error, "decline_code", None))) from None
    except stripe.AuthenticationError:
        raise KeysRefused(alerts.STRIPE_KEY) from None
    except stripe.PermissionError:
        raise KeysRefused(alerts.STRIPE_RIGHTS) from None
    except stripe.InvalidRequestError as error:
        if error.code in UNDER_WAY:
            raise ProviderUnavailable(error.code) from None
        raise ProviderRefused(alerts.STRIPE_REFUSED % {"reason": without_secrets(error.user_message)}) from None
    except stripe.IdempotencyError:
        raise ProviderRefused(alerts.STRIPE_SEEN) from None
    except stripe.StripeError as error:
        raise ProviderUnavailable(f"{type(error).__name__} {error.http_status or ''}".strip()) from None


def without_secrets(message: str | None) -> str:
    """Stripe's message for the merchant, without what may be a key."""
    return _SECRET.sub("…", message or "no reason was given.")

"""Rate limits for visitors: starting baskets, placing orders, requesting emails, trying cards.

Each action is counted per visitor (by network, or by customer if signed in) and per subject, such as an email address;
both counts must allow it. Counting signed-in customers by account keeps them from waiting for others in the same
network. Shops are counted separately, except for emails: a mailbox is the same mailbox for every shop. API calls are
not counted here, since each has a token.

Known and unknown email addresses are counted alike, so a refusal reveals nothing. With Redis, all web processes share
the counts; without, each process has its own. If two requests compete for the last permitted action, one is refused.
"""

import math

from django.conf import settings
from django.utils.translation import ngettext
from limits import RateLimitItem

from storefront.customers.queries import normal_email
from storefront.customers.session import customer_of
from storefront.kit import tokens
from storefront.kit.callers import client_network
from storefront.shops.ratelimit import seconds_to_wait
from storefront.shops.request import Request
from storefront.shops.throttle import TooManyTries


class LimitReached(TooManyTries):
    """`retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.text = _in_words(retry_after)


def count(request: Request, what: str, subject: object = "") -> None:
    """Count an action for the visitor and, if given, for its subject: an email address, a checkout, an order.

    `what` is a name in `settings.LIMITS`. Raises LimitReached.
    """
    _use_all(_counters(request, what, subject))


def count_each(request: Request, what: str, subject: object) -> None:
    """Count an action for its subject alone. Raises LimitReached."""
    _use_all(_counters(request, what, subject)[len(settings.LIMITS[what]) :])


def check(request: Request, what: str, subject: object = "") -> None:
    """Raises LimitReached if `count` would, without counting."""
    _look(_counters(request, what, subject))


def count_mail(request: Request, email: str) -> None:
    """Count an email that the visitor causes to this address. Raises LimitReached.

    Emails to the signed-in customer's own address are not limited.
    """
    _use_all(_mail_counters(request, email))


def count_mail_to(email: str) -> None:
    """Count an email that staff cause to this address. Raises LimitReached."""
    _use_all(_counters_of(normal_email(email)))


def check_mail(request: Request, email: str) -> None:
    """Raises LimitReached if `count_mail` would, without counting."""
    _look(_mail_counters(request, email))


def _counters(request: Request, what: str, subject: object) -> list[tuple[RateLimitItem, str]]:
    """The limits that apply, each with the name of its counter."""
    names = [(what, _visitor(request))]
    if subject:
        # Hashed, so that Redis contains no email addresses.
        names.append((f"{what}_each", tokens.digest(str(subject))))
    return [(item, f"{kind}:{request.shop.pk}:{name}") for kind, name in names for item in settings.LIMITS[kind]]


def _mail_counters(request: Request, email: str) -> list[tuple[RateLimitItem, str]]:
    customer, email = customer_of(request), normal_email(email)
    if customer is not None and customer.email == email:
        return []
    return _counters_of(email)


def _counters_of(email: str) -> list[tuple[RateLimitItem, str]]:
    return [(item, f"mails:{tokens.digest(email)}") for item in settings.LIMITS["mails_each"]]


def _visitor(request: Request) -> str:
    customer = customer_of(request)
    return f"customer:{customer.pk}" if customer else client_network(request)


def _use_all(counters: list[tuple[RateLimitItem, str]]) -> None:
    """Count in all of them, or in none."""
    _look(counters)
    _look(counters, peek=False)


def _look(counters: list[tuple[RateLimitItem, str]], *, peek: bool = True) -> None:
    for item, name in counters:
        if wait := seconds_to_wait(item, name, peek=peek):
            raise LimitReached(wait)


def _in_words(seconds: int) -> str:
    """The refusal with the duration, rounded up to minutes or hours."""
    minutes = math.ceil(seconds / 60)
    if minutes <= 90:
        return ngettext(
            "Too many attempts. Please try again in %(count)s minute.",
            "Too many attempts. Please try again in %(count)s minutes.",
            minutes,
        ) % {"count": minutes}
    hours = math.ceil(minutes / 60)
    return ngettext(
        "Too many attempts. Please try again in %(count)s hour.",
        "Too many attempts. Please try again in %(count)s hours.",
        hours,
    ) % {"count": hours}

"""Mail from a shop: plain text, with the shop's name and address as sender."""

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import formataddr
from smtplib import SMTPException

import structlog
from django.conf import settings
from django.core.mail import EmailMessage

from storefront.kit import clock
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# Waiting times after a failed try. After the last one, the mail is given up.
WAITS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))


def is_sent() -> bool:
    """Whether this deployment sends mail at all: without `EMAIL_URL` it sends none."""
    return settings.EMAIL_BACKEND != "django.core.mail.backends.dummy.EmailBackend"


def message(*, shop: Shop, to: str, subject: str, text: str) -> EmailMessage:
    """A mail to one address. Line breaks in `subject` and the shop's name are removed, so none gets into a header."""
    name = " ".join(shop.name.split())
    return EmailMessage(
        subject=" ".join(subject.split()),
        body=text,
        from_email=formataddr((name, shop.email or settings.DEFAULT_FROM_EMAIL)),
        to=[to],
    )


def send(mail: EmailMessage, *, what: str, tries: int, again: Callable[[datetime], object]) -> None:
    """Send the mail. If that fails, call `again` with the time of the next try; it enqueues that try."""
    try:
        mail.send()
    except (OSError, SMTPException) as error:
        # Only the type of the error, since its text can contain the receiver's address.
        log.warning("mail_failed", mail=what, tries=tries + 1, error=type(error).__name__)
        if tries < len(WAITS):
            again(clock.now() + WAITS[tries])

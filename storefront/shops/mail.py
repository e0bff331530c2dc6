"""Mail from a shop: plain text, in the shop's name, answered to the shop."""

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

# After a try that failed, until the next one; after the last the log says that it was given up.
WAITS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))


def message(*, shop: Shop, to: str, subject: str, text: str) -> EmailMessage:
    """A mail to one address. `subject` may hold the shop's name; no line break in it gets into a header."""
    name = " ".join(shop.name.split())
    return EmailMessage(
        subject=" ".join(subject.split()),
        body=text,
        from_email=formataddr((name, shop.email or settings.DEFAULT_FROM_EMAIL)),
        to=[to],
    )


def send(mail: EmailMessage, *, what: str, tries: int, again: Callable[[datetime], object]) -> None:
    """Send the mail. A mail server that is away is asked again later: `again` is told when."""
    try:
        mail.send()
    except (OSError, SMTPException) as error:
        # Only the kind of error: its text can hold the receiver's address.
        log.warning("mail_failed", mail=what, tries=tries + 1, error=type(error).__name__)
        if tries < len(WAITS):
            again(clock.now() + WAITS[tries])

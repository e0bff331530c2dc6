"""Mail: text, and the same words as HTML (`mail_html.py`), from the shop's name and the address of `senders.py`."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from email.utils import formataddr
from smtplib import SMTPException
from typing import Any

import structlog
from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django_tasks.base import Task

from storefront.kit import clock
from storefront.shops import quotas, senders
from storefront.shops.mail_brand import SERVICE, MailBrand
from storefront.shops.mail_html import html_of
from storefront.shops.models import Shop

log = structlog.get_logger(__name__)

# Waiting times after a failed try. After the last one, the mail is given up.
WAITS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
# Without this, out-of-office replies would answer (RFC 3834).
HEADERS = {"Auto-Submitted": "auto-generated"}
PRODUCT = "Storefront"


def is_sent() -> bool:
    """Whether this deployment sends mail at all: without `EMAIL_URL` it sends none."""
    return settings.EMAIL_BACKEND != "django.core.mail.backends.dummy.EmailBackend"


def message(
    *,
    shop: Shop | None,
    to: str,
    subject: str,
    text: str,
    pictures: Mapping[str, str] | None = None,
    links: Iterable[str] = (),
    buttons: Iterable[str] = (),
    brand: MailBrand = SERVICE,
    picture: str = "",
    in_picture: Iterable[str] = (),
    unsubscribe: str = "",
    is_to_staff: bool = False,
) -> EmailMultiAlternatives:
    """A mail to one address, in both forms. Line breaks in `subject` and the shop's name are removed, so none gets into
    a header.

    `pictures` are URLs of things that the text names, and `links` URLs in it that are not the shop's own and can be
    followed; for `buttons`, `picture` and `in_picture` see `mail_html.html_of`. `unsubscribe` is the page on which
    mails of this kind are stopped. Without a shop, it is about an account. Replies go to the shop's address, unless it
    is a mail to its staff; the mail comes from that address if it is proved (`senders.is_proved`).
    """
    name = " ".join(shop.name.split()) if shop else PRODUCT
    if shop and ("@" in name or name.casefold() == PRODUCT.casefold()):
        # Not to be taken for another sender's address, or for mails about accounts.
        name = shop.domain
    own = shop.email if shop and not is_to_staff else None
    is_own = bool(shop and own and senders.is_proved(shop))
    sender = senders.written_address(own) if own and is_own else senders.deployment_address()
    subject = " ".join(subject.split())
    mail = EmailMultiAlternatives(
        subject=subject,
        body=text,
        from_email=formataddr((name, sender)),
        to=[to],
        reply_to=[own] if own and not is_own else None,
        headers=HEADERS | ({"List-Unsubscribe": f"<{unsubscribe}>"} if unsubscribe else {}),
    )
    # What protects the shop does not wait behind what it sends.
    mail.shop_id = shop.pk if shop and not is_to_staff else None  # type: ignore[attr-defined]
    given: Any = {"pictures": pictures, "links": links, "buttons": buttons, "brand": brand}
    given |= {"picture": picture, "in_picture": in_picture}
    mail.attach_alternative(html_of(shop, name=name, subject=subject, text=text, **given), "text/html")
    return mail


def in_language(language: str) -> dict[str, Any]:
    """The keyword with which a task of a mail is enqueued in a language."""
    return {"language": language} if language else {}


def send(mail: EmailMessage, *arguments: Any, what: str, task: Task, tries: int, language: str = "") -> bool | None:
    """Send the mail. If that fails, the `task` is enqueued for the time of the next try, with its `arguments`, the
    number of tries and, if there is one, the `language`. Returns False if the mail was not sent, None if it waits for
    the shop's quota.

    A mail beyond the shop's quota waits for the next hour, as if it had not been tried."""
    now, shop_id = clock.now(), getattr(mail, "shop_id", None)
    more = in_language(language)
    try:
        if shop_id is not None:
            quotas.use("mails", shop_id=shop_id, now=now)
        mail.send()
    except quotas.QuotaReached:
        log.warning("mail_quota_reached", mail=what, shop=shop_id)
        task.using(run_after=quotas.window_of("mails", now) + quotas.WINDOWS["mails"]).enqueue(
            *arguments, tries, **more
        )
        return None
    except (OSError, SMTPException) as error:
        # Only the type of the error, since its text can contain the receiver's address.
        log.warning("mail_failed", mail=what, tries=tries + 1, error=type(error).__name__)
        if tries < len(WAITS):
            task.using(run_after=clock.now() + WAITS[tries]).enqueue(*arguments, tries + 1, **more)
        return False
    return True

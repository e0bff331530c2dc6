"""Emails to customers, sent by the worker. Links are created when an email is sent, so the queue contains none."""

from typing import Any

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy
from django_tasks import task

from storefront.content.brand import brand_of
from storefront.content.mail_words import Words, write_mail
from storefront.customers import limits, links, queries
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.shops.places import page_address
from storefront.shops.spoken import speaking

# Subjects of security notices, which the merchant cannot change.
SUBJECTS = {
    "password_changed": gettext_lazy("Your password at %(shop)s was changed"),
    "email_changed": gettext_lazy("Your email address at %(shop)s was changed"),
    "email_change_asked": gettext_lazy("Change of your email address at %(shop)s"),
}


@task(queue_name=MAILS)
def send_password_link(shop_id: int, email: str, purpose: str, tries: int = 0, language: str = "") -> None:
    """Email a link to somebody who asked for an account (`register`) or a new password (`reset`).

    The job is queued whether the shop knows the address or not; only the email shows which.
    """
    shop, now = Shop.objects.get(pk=shop_id), clock.now()
    customer = queries.customer_by_email(shop, email)
    kind = purpose
    if purpose == "register" and customer and customer.can_sign_in:
        kind = "known"
    elif purpose == "reset" and customer is None:
        kind = "unknown"
        try:
            limits.count_mail_to(email)
        except limits.LimitReached:
            return
    with speaking(shop, language or (customer.language if customer else "")):
        message = account_mail(shop, email, kind, link=links.password_link(shop=shop, email=email, now=now))
    given: Any = {"what": "password_link", "task": send_password_link, "tries": tries, "language": language}
    mail.send(message, shop_id, email, purpose, **given)


@task(queue_name=MAILS)
def send_email_link(shop_id: int, customer_id: int, email: str, tries: int = 0, language: str = "") -> None:
    """Email a confirmation link to a pending address, or a notice if another customer has that address.

    Sends nothing if the address is not pending any more.
    """
    shop, now = Shop.objects.get(pk=shop_id), clock.now()
    customer = queries.customer_by_id(shop, customer_id)
    if customer is None or customer.pending_email != email:
        return
    with speaking(shop, language or customer.language):
        if queries.customer_by_email(shop, email):
            message = account_mail(shop, email, "taken")
        else:
            link = links.email_link(shop=shop, customer=customer, email=email, now=now)
            message = account_mail(shop, email, "change_email", link=link)
    given: Any = {"what": "email_link", "task": send_email_link, "tries": tries, "language": language}
    mail.send(message, shop_id, customer_id, email, **given)


@task(queue_name=MAILS)
def send_notice(shop_id: int, email: str, kind: str, tries: int = 0, language: str = "") -> None:
    """Notify a customer of a change to the account, in case somebody else made it."""
    shop = Shop.objects.get(pk=shop_id)
    with speaking(shop, language):
        message = notice(shop, email, kind)
    mail.send(message, shop_id, email, kind, what=kind, task=send_notice, tries=tries, language=language)


def account_mail(shop: Shop, email: str, kind: str, *, link: str = "", words: Words | None = None) -> EmailMessage:
    """The mail to somebody who asked for something, such as an account (`register`)."""
    sign_in, values = page_address("website:sign_in", shop=shop), {"new_email": email}
    given: Any = {"context": {"link": link, "email": email, "sign_in": sign_in}, "buttons": [sign_in, link]}
    return write_mail(f"account_{kind}", shop=shop, to=email, values=values, words=words, **given)


def notice(shop: Shop, email: str, kind: str) -> EmailMessage:
    pages = {
        "link": page_address("website:forgot", shop=shop),
        "sign_in": page_address("website:account_details", shop=shop),
    }
    text = render_to_string(f"customers/{kind}.txt", {"shop": shop, "email": email, **pages})
    given: Any = {"buttons": pages.values(), "brand": brand_of(shop)}
    return mail.message(shop=shop, to=email, subject=SUBJECTS[kind] % {"shop": shop.name}, text=text, **given)

"""What the worker mails to customers. Links are made when a mail is sent, so that none is kept in the queue."""

from datetime import datetime

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django_tasks import task

from storefront.customers import links, queries
from storefront.kit import clock
from storefront.shops import mail
from storefront.shops.models import Shop

SUBJECTS = {
    "register": "Your account at {shop}",
    "known": "You have an account at {shop}",
    "reset": "A new password for your account at {shop}",
    "unknown": "Your account at {shop}",
    "change_email": "Your new e-mail address at {shop}",
    "taken": "Your e-mail address at {shop}",
    "password_changed": "Your password at {shop} was changed",
    "email_changed": "Your e-mail address at {shop} was changed",
}


@task()
def send_password_link(shop_id: int, email: str, purpose: str, tries: int = 0) -> None:
    """Answer somebody who asked for an account (`register`) or for a new password (`reset`).

    Queued alike whether a customer has the address or not; only the mail itself tells its receiver.
    """
    shop, now = Shop.objects.get(pk=shop_id), clock.now()
    customer = queries.customer_by_email(shop, email)
    kind = purpose
    if purpose == "register" and customer and customer.can_sign_in:
        kind = "known"
    elif purpose == "reset" and customer is None:
        kind = "unknown"
    written = _mail(shop, email, kind, link=links.password_link(shop=shop, email=email, now=now))
    mail.send(
        written,
        what="password_link",
        tries=tries,
        again=lambda due: send_password_link.using(run_after=due).enqueue(shop_id, email, purpose, tries + 1),
    )


@task()
def send_email_link(shop_id: int, customer_id: int, email: str, tries: int = 0) -> None:
    """Ask the receiver of a new address whether it is theirs; tell whoever is a customer under it already."""
    shop, now = Shop.objects.get(pk=shop_id), clock.now()
    customer = queries.customer_by_id(shop, customer_id)
    if customer is None:
        return
    if queries.customer_by_email(shop, email):
        written = _mail(shop, email, "taken")
    else:
        link = links.email_link(shop=shop, customer=customer, email=email, now=now)
        written = _mail(shop, email, "change_email", link=link)

    def again(due: datetime) -> None:
        send_email_link.using(run_after=due).enqueue(shop_id, customer_id, email, tries + 1)

    mail.send(written, what="email_link", tries=tries, again=again)


@task()
def send_notice(shop_id: int, email: str, kind: str, tries: int = 0) -> None:
    """Tell somebody what was done with their account, in case it was not them."""
    shop = Shop.objects.get(pk=shop_id)

    def again(due: datetime) -> None:
        send_notice.using(run_after=due).enqueue(shop_id, email, kind, tries + 1)

    mail.send(_mail(shop, email, kind), what=kind, tries=tries, again=again)


def _mail(shop: Shop, email: str, kind: str, *, link: str = "") -> EmailMessage:
    text = render_to_string(f"customers/{kind}.txt", {"shop": shop, "link": link, "email": email})
    return mail.message(shop=shop, to=email, subject=SUBJECTS[kind].format(shop=shop.name), text=text)

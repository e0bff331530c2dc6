"""Security notifications to staff, by mail. They contain no secrets, and no links that change anything."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django_tasks import task

from storefront.kit.format import format_time
from storefront.kit.queues import MAILS
from storefront.shops import mail
from storefront.shops.models import Shop, StaffMember, User

SUBJECTS = {
    "new_token": "New API token for {shop}",
    "new_owner": "New owner of {shop}",
    "new_app": "App installed in {shop}",
}


def notify_owners(shop: Shop, kind: str, about: str) -> None:
    """Notify each owner of the shop by mail. `kind` is a key of SUBJECTS, `about` names the person or thing. Call it in
    the transaction of the change."""
    owners = StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER, user__is_active=True)
    for email in owners.order_by("pk").values_list("user__email", flat=True):
        send_to_owner.enqueue(shop.pk, email, kind, about)


@task(queue_name=MAILS)
def send_to_owner(shop_id: int, email: str, kind: str, about: str, tries: int = 0) -> None:
    shop = Shop.objects.filter(pk=shop_id).first()
    if shop is None:
        return
    text = render_to_string(f"shops/mail/{kind}.txt", {"shop": shop, "about": about})
    written = mail.message(shop=shop, to=email, subject=SUBJECTS[kind].format(shop=shop.name), text=text)
    mail.send(written, what=kind, tries=tries, again=_again(send_to_owner, tries, shop_id, email, kind, about))


@task(queue_name=MAILS)
def send_new_sign_in(user_id: int, place: str, browser: str, at: str, tries: int = 0) -> None:
    """Notify a user of a sign-in to their account with a new browser."""
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        return
    context = {"user": user, "place": place, "browser": browser, "at": format_time(datetime.fromisoformat(at), "UTC")}
    written = _to_person(user, "New sign-in to your Storefront account", "new_sign_in", context)
    mail.send(
        written, what="new_sign_in", tries=tries, again=_again(send_new_sign_in, tries, user_id, place, browser, at)
    )


@task(queue_name=MAILS)
def send_password_changed(user_id: int, place: str, browser: str, at: str, tries: int = 0) -> None:
    """Notify a user that their password was changed, in the admin or by a mailed link."""
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        return
    context = {"user": user, "place": place, "browser": browser, "at": format_time(datetime.fromisoformat(at), "UTC")}
    written = _to_person(user, "The password of your Storefront account was changed", "password_changed", context)
    again = _again(send_password_changed, tries, user_id, place, browser, at)
    mail.send(written, what="password_changed", tries=tries, again=again)


@task(queue_name=MAILS)
def send_factors_changed(user_id: int, what: str, tries: int = 0) -> None:
    """Notify a user of a change of their second factors."""
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        return
    subject = "Second factors of your Storefront account changed"
    written = _to_person(user, subject, "factors_changed", {"user": user, "what": what})
    mail.send(written, what="factors_changed", tries=tries, again=_again(send_factors_changed, tries, user_id, what))


def _to_person(user: User, subject: str, kind: str, context: dict[str, object]) -> EmailMessage:
    """A mail about an account, which belongs to no shop."""
    text = render_to_string(f"shops/mail/{kind}.txt", context)
    return mail.message(shop=None, to=user.email, subject=subject, text=text)


def _again(job: Any, tries: int, *given: object) -> Callable[[datetime], object]:
    return lambda due: job.using(run_after=due).enqueue(*given, tries + 1)

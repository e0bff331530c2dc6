"""Proves a shop's e-mail address, so that its mails come from it (`shops.senders`).

Threats. The link goes to the address alone, and names shop and address under a signature. A stranger who is sent one
gives nobody their name by following it: it counts only for somebody signed in who may change the shop's settings, and
following it only asks. Links are limited by shop and by mailbox, so that nobody is flooded with them.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.template.loader import render_to_string
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.debug import sensitive_variables
from django_tasks import task

from storefront import audit
from storefront.kit import clock, tokens
from storefront.kit.queues import MAILS
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.shops.places import page_address
from storefront.shops.ratelimit import RateLimited, seconds_to_wait
from storefront.shops.senders import domain_of, is_of_deployment
from storefront.shops.staff_language import speaking_to_address
from storefront.staff.mail_records import Finding, check_records

LIFETIME = timedelta(days=1)
OPERATORS = _lazy("This address is on a domain of this deployment. Its operator allows it: storefront senders allow")
NO_ADDRESS = _lazy("The shop has no email address. Enter one first.")


class LinkOver(Refusal):
    status, code = 403, "sender_link_over"
    message = _lazy("This link has expired, or is for another shop or another email address than the shop has now.")


def ask_for_proof(*, shop: Shop, now: datetime) -> None:
    """Mail a link to the shop's address. Raises InvalidFields if it has none or needs the operator, and RateLimited."""
    if not shop.email:
        raise InvalidFields(errors={"email": [str(NO_ADDRESS)]})
    if is_of_deployment(shop.email):
        raise InvalidFields(errors={"email": [f"{OPERATORS} --shop {shop.domain}"]})
    for name in (str(shop.pk), tokens.digest(shop.email.lower())):
        for item in settings.LIMITS["mails_each"]:
            if wait := seconds_to_wait(item, f"sender_links:{name}"):
                raise RateLimited(wait)
    with transaction.atomic():
        send_link.enqueue(shop.pk, shop.email)
        audit.record(shop=shop, action="sender.asked", object=shop, after={"email": shop.email}, now=now)


@task(queue_name=MAILS)
@sensitive_variables("link", "text")
def send_link(shop_id: int, email: str, tries: int = 0) -> None:
    """Mail the link, unless the shop has another address by now."""
    shop = Shop.objects.filter(pk=shop_id, email=email).first()
    if shop is None:
        return
    link = new_link(shop=shop, email=email, now=clock.now())
    with speaking_to_address(email, shop):
        text = render_to_string("shops/mail/prove_sender.txt", {"shop": shop, "email": email, "link": link})
        subject = _("Is this the email address of %(shop)s?") % {"shop": shop.name}
        written = mail.message(shop=shop, to=email, subject=subject, text=text, buttons=[link], is_to_staff=True)
    mail.send(written, shop_id, email, what="sender_link", task=send_link, tries=tries)


def new_link(*, shop: Shop, email: str, now: datetime) -> str:
    proof = {"shop": shop.pk, "email": email, "until": int((now + LIFETIME).timestamp())}
    query = urlencode({"proof": _signer().sign_object(proof)})
    return f"{page_address('admin:shops_shop_prove_sender', shop=shop)}?{query}"


@transaction.atomic
def prove(*, shop: Shop, proof: str, now: datetime) -> str:
    """Make the shop's address the sender of its mails, and return it. Following the link twice changes nothing more.
    Raises LinkOver."""
    email = proved_email(shop=shop, proof=proof, now=now)
    if Shop.objects.filter(pk=shop.pk, email=email).exclude(proved_sender=email).update(proved_sender=email):
        audit.record(shop=shop, action="sender.proved", object=shop, after={"email": email}, now=now)
    return email


def proved_email(*, shop: Shop, proof: str, now: datetime) -> str:
    """The address that a link proves. Raises LinkOver."""
    try:
        given = _signer().unsign_object(proof)
    except (BadSignature, ValueError):
        raise LinkOver from None
    if given["shop"] != shop.pk or given["email"] != shop.email or given["until"] < now.timestamp():
        raise LinkOver
    return given["email"]


def check_sender(*, shop: Shop, now: datetime) -> list[Finding]:
    """Look up the DNS records of the address's domain, within seconds. Raises RateLimited, so that one shop's
    checks do not take the threads of all shops' pages."""
    for item in settings.LIMITS["domain_checks"]:
        if wait := seconds_to_wait(item, f"sender_checks:{shop.pk}"):
            raise RateLimited(wait)
    findings = check_records(domain_of(shop.email or ""))
    after = {finding.record: finding.state for finding in findings}
    audit.record(shop=shop, action="sender.checked", object=shop, after=after, now=now)
    return findings


@transaction.atomic
def allow(*, shop: Shop, now: datetime) -> None:
    """The operator lets the shop's present address be its sender. Raises InvalidFields if it has none."""
    if not shop.email:
        raise InvalidFields(errors={"email": [str(NO_ADDRESS)]})
    Shop.objects.filter(pk=shop.pk).update(allowed_sender=shop.email)
    audit.record(shop=shop, action="sender.allowed", object=shop, after={"email": shop.email}, now=now)


@transaction.atomic
def withdraw(*, shop: Shop, now: datetime) -> None:
    """Mails come from the deployment's address again, until the shop's is proved or allowed again."""
    Shop.objects.filter(pk=shop.pk).update(allowed_sender="", proved_sender="")
    audit.record(shop=shop, action="sender.withdrawn", object=shop, now=now)


def _signer() -> Signer:
    return Signer(salt="shops.senders")

"""Restores the standard texts of mails, and sends test mails to staff."""

from datetime import datetime

from django.db import transaction
from django_tasks import task

from storefront import audit
from storefront.content.mail_kinds import KINDS
from storefront.content.mail_words import PARTS, words_of
from storefront.content.models import MailText
from storefront.customers.limits import count_mail_to
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.kit.refusals import Refusal
from storefront.orders.sent_mails import NoMail
from storefront.shops import mail, queries
from storefront.shops.models import Shop, User
from storefront.website.mail_samples import sample_mail


class NoAddress(Refusal):
    code = "no_address"
    message = "Your account has no email address."


def make_rows(*, shop: Shop, now: datetime) -> None:
    """Create the missing rows of mail texts. Concurrent calls create each once."""
    known = set(MailText.objects.filter(shop=shop).values_list("kind", flat=True))
    missing = [MailText(shop=shop, kind=kind, updated_at=now) for kind in KINDS if kind not in known]
    MailText.objects.bulk_create(missing, ignore_conflicts=True)


@transaction.atomic
def use_standard(*, shop: Shop, text: MailText, now: datetime) -> None:
    """Remove the shop's own texts from a mail."""
    row = MailText.objects.select_for_update(no_key=True).get(shop=shop, pk=text.pk)
    before = {part: own for part in PARTS if (own := getattr(row, part)) is not None}
    MailText.objects.filter(pk=row.pk).update(**dict.fromkeys(PARTS), updated_at=now)
    after: dict[str, str | None] = dict.fromkeys(before)
    audit.record_change(shop=shop, action="mail_text.updated", object=row, before=before, after=after, now=now)


def send_sample(*, shop: Shop, text: MailText, user: User, now: datetime) -> None:
    """Queue a test mail to this user's own address. Raises NoMail, NoAddress and LimitReached."""
    if not mail.is_sent():
        raise NoMail
    if not user.email:
        raise NoAddress
    count_mail_to(user.email)
    with transaction.atomic():
        audit.record(shop=shop, action="mail_text.tested", object=text, now=now)
        send_sample_mail.enqueue(shop.pk, text.kind, user.pk)


@task(queue_name=MAILS)
def send_sample_mail(shop_id: int, kind: str, user_id: int, tries: int = 0) -> None:
    """Send the test mail, unless the user has left meanwhile. Retried later if the mail server does not respond."""
    shop = Shop.objects.get(pk=shop_id)
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not queries.shops_of(user).filter(pk=shop.pk).exists():
        return
    message = sample_mail(kind, shop=shop, words=words_of(shop, kind), now=clock.now())
    message.to, message.subject = [user.email], f"Test: {message.subject}"
    mail.send(message, shop_id, kind, user_id, what="sample", task=send_sample_mail, tries=tries)

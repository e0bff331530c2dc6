"""Mails with links to staff. A link is created when the mail is sent, so that the queue holds no secrets."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django_tasks import task

from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.pods import registry
from storefront.shops import mail, queries
from storefront.shops.models import Shop, StaffInvitation
from storefront.shops.places import page_address
from storefront.shops.staff_language import speaking_to, speaking_to_address, within_sentence
from storefront.staff.invitations import accounts_with, new_link


@task(queue_name=MAILS)
@sensitive_variables("link", "text")
def send_invitation(shop_id: int, invitation_id: int, tries: int = 0) -> None:
    """Mail the link to accept an invitation; does nothing if it was withdrawn, accepted or has expired."""
    invitation = StaffInvitation.objects.select_related("shop").filter(shop=shop_id, pk=invitation_id).first()
    if invitation is None:
        return
    shop = invitation.shop
    link = new_link(shop=shop, invitation_id=invitation_id, now=clock.now())
    if link is None:
        return
    with speaking_to_address(invitation.email, shop):
        text = render_to_string(
            "shops/mail/invitation.txt",
            {"shop": shop, "role": within_sentence(invitation.get_role_display()), "link": link},
        )
        subject = _("A colleague at %(shop)s invites you to join the staff") % {"shop": shop.name}
        given: Any = {"text": text, "buttons": [link], "is_to_staff": True}
        written = mail.message(shop=shop, to=invitation.email, subject=subject, **given)
    mail.send(written, shop_id, invitation_id, what="staff_invitation", task=send_invitation, tries=tries)


@task(queue_name=MAILS)
@sensitive_variables("link", "text", "token")
def send_password_reset(shop_id: None, email: str, tries: int = 0) -> None:
    """Mail a link to choose a new password to the accounts with this address.

    The task is queued whether or not there is an account. It is of no shop, since an account may work for several. The
    mail goes to the account's address, not to the typed one.
    """
    for user in accounts_with(email).filter(is_active=True):
        shop: Shop | None = queries.shops_of(user).first()
        if shop is None:
            continue
        uid, token = urlsafe_base64_encode(force_bytes(user.pk)), default_token_generator.make_token(user)
        link = page_address("admin:password_reset_link", shop=shop, uid=uid, token=token)
        if settings.REGISTRY_URL and not registry.is_written_here():
            # All pods have one key and the same accounts, so the link works in pod 0.
            query = urlencode({"uid": uid, "token": token})
            link = registry.address(f"{reverse('admin:password_reset_link')}?{query}")
        with speaking_to(user, shop):
            text = render_to_string("shops/mail/password_reset.txt", {"shop": shop, "user": user, "link": link})
            subject = _("Reset your password for the admin of %(shop)s") % {"shop": shop.name}
            given: Any = {"text": text, "buttons": [link], "is_to_staff": True}
            written = mail.message(shop=shop, to=user.email, subject=subject, **given)
        mail.send(written, shop_id, email, what="staff_password_reset", task=send_password_reset, tries=tries)

"""Security notifications to staff, by mail. They contain no secrets, and no links that change anything."""

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django_tasks import task

from storefront import audit
from storefront.kit.queues import MAILS
from storefront.shops import mail
from storefront.shops.models import Shop, StaffMember, User
from storefront.shops.staff_language import speaking_to, speaking_to_address

SUBJECTS = {
    "new_token": _lazy("New API token for %(shop)s"),
    "new_owner": _lazy("New owner of %(shop)s"),
    "new_app": _lazy("App installed in %(shop)s"),
    "new_sign_in": _lazy("New sign-in to your Storefront account"),
    "password_changed": _lazy("The password of your Storefront account was changed"),
    "factors_changed": _lazy("Second factors of your Storefront account changed"),
}


def notify_owners(shop: Shop, kind: str, about: str) -> None:
    """Notify each owner of the shop by mail. `kind` is a key of SUBJECTS, `about` names the person or thing. Call it in
    the transaction of the change."""
    owners = StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER, user__is_active=True)
    by = audit.current_actor().name
    for email in owners.order_by("pk").values_list("user__email", flat=True):
        with speaking_to_address(email, shop):
            place = audit.current_place() or _("this server")
            notice = _("%(about)s (by %(by)s, from %(place)s)") % {"about": about, "by": by, "place": place}
        send_to_owner.enqueue(shop.pk, email, kind, notice if by else about)


@task(queue_name=MAILS)
def send_to_owner(shop_id: int, email: str, kind: str, about: str, tries: int = 0) -> None:
    shop = Shop.objects.filter(pk=shop_id).first()
    if shop is not None:
        with speaking_to_address(email, shop):
            text = render_to_string(f"shops/mail/{kind}.txt", {"shop": shop, "about": about})
            subject = SUBJECTS[kind] % {"shop": shop.name}
            written = mail.message(shop=shop, to=email, subject=subject, text=text, is_to_staff=True)
        mail.send(written, shop_id, email, kind, about, what=kind, task=send_to_owner, tries=tries)


@task(queue_name=MAILS)
def send_to_person(shop_id: None, user_id: int, kind: str, context: dict[str, str], tries: int = 0) -> None:
    """Notify a user of a change of their account, which belongs to no shop. `kind` is a key of SUBJECTS."""
    user = User.objects.filter(pk=user_id).first()
    if user is not None:
        with speaking_to(user, None):
            text = render_to_string(f"shops/mail/{kind}.txt", {"user": user, **context})
            written = mail.message(shop=None, to=user.email, subject=str(SUBJECTS[kind]), text=text)
        mail.send(written, shop_id, user_id, kind, context, what=kind, task=send_to_person, tries=tries)

"""Mails to the owners of a shop about entries of its log after which money or data could go to somebody else.

They say who did it, from where, and how it is undone. They contain no secrets, and no links that change anything.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy
from django_tasks import task

from storefront.kit.format import format_time
from storefront.kit.queues import MAILS
from storefront.kit.text import Text
from storefront.shops import mail
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import Shop, StaffMember
from storefront.shops.staff_language import speaking_to_address


@dataclass(frozen=True)
class Notice:
    """`undo` is what to do on which page. With `columns`, only entries in which one of these changed are mailed."""

    subject: Text
    undo: Text
    columns: frozenset[str] = frozenset()


_DOMAINS = _lazy("Remove the domain, or ask the operator to confirm it again, at Settings > Domains.")
_PROVIDERS = _lazy(
    "Open the provider at Settings > Payment providers: for 24 hours, “Undo the new settings” there brings the earlier"
    " ones back."
)
_STAFF = _lazy("Change or remove the person at Settings > Staff, or withdraw the invitation there.")
_SENDER = _lazy("Enter another email address at Settings > Shop: emails then come from the deployment's address again.")
_EXPORT = _lazy("What was downloaded cannot be called back. Change the role of whoever did it at Settings > Staff.")
NOTICES = {
    "provider_account.created": Notice(
        _lazy("Payment provider added"), _lazy("Remove it at Settings > Payment providers.")
    ),
    "provider_account.updated": Notice(_lazy("Settings of a payment provider changed"), _PROVIDERS),
    "provider_account.restored": Notice(
        _lazy("Settings of a payment provider restored"), _lazy("Enter the right ones at Settings > Payment providers.")
    ),
    "provider_account.deleted": Notice(
        _lazy("Payment provider removed"), format_lazy("{} {}", _lazy("Add it again."), _PROVIDERS)
    ),
    "invoice_settings.updated": Notice(
        _lazy("Bank details or seller of invoices changed"),
        _lazy("Enter the right ones at Settings > Invoices."),
        frozenset({"bank", "legal_name", "address", "vat_id"}),
    ),
    "shop.updated": Notice(
        _lazy("Address or ways to pay of the shop changed"),
        _lazy("Enter the right ones at Settings > Shop. The audit log has the old ones."),
        frozenset({"email", "order_emails", "payment_methods", "manual_payment_instructions", "domain", "base_url"}),
    ),
    "shop.suspended": Notice(
        _lazy("Shop closed by the operator"),
        _lazy("Your data are kept, and the admin stays open to you. Ask the operator of this deployment why."),
    ),
    "shop.resumed": Notice(_lazy("Shop opened again by the operator"), _lazy("There is nothing to do.")),
    "domain.created": Notice(_lazy("Further domain asked for"), _DOMAINS),
    "domain.confirmed": Notice(_lazy("Further domain confirmed"), _DOMAINS),
    "domain.deleted": Notice(_lazy("Further domain removed"), _DOMAINS),
    "staff.invited": Notice(_lazy("Somebody invited to the staff"), _STAFF),
    "staff.added": Notice(_lazy("Somebody joined the staff"), _STAFF),
    "staff.role_changed": Notice(_lazy("Role of a staff member changed"), _STAFF),
    "staff.removed": Notice(_lazy("Staff member removed"), _lazy("Invite them again at Settings > Staff.")),
    "mail_text.updated": Notice(
        _lazy("Words of an email changed"), _lazy("You can restore the standard text at Settings > Emails.")
    ),
    "sender.proved": Notice(_lazy("Sender's address proved"), _SENDER),
    "sender.allowed": Notice(_lazy("Sender's address allowed by the operator"), _SENDER),
    "orders.exported": Notice(_lazy("Orders exported"), _EXPORT),
    "customers.exported": Notice(_lazy("Customers exported"), _EXPORT),
    "data_request.downloaded": Notice(_lazy("Personal data of a customer downloaded"), _EXPORT),
}


def notify_owners(shop: Shop, entries: Iterable[AuditEntry]) -> None:
    """Queue a mail to each owner for each of these entries that has a notice, in the transaction of the entries."""
    mailed = [entry for entry in entries if is_mailed(entry)]
    if not mailed:
        return
    owners = StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER, user__is_active=True)
    for email in owners.order_by("pk").values_list("user__email", flat=True):
        for entry in mailed:
            who = entry.actor_name or entry.get_actor_kind_display()
            at = format_time(entry.at, "UTC")
            send_notice.enqueue(shop.pk, email, entry.action, entry.object_name, who, entry.place, at)


def is_mailed(entry: AuditEntry) -> bool:
    notice = NOTICES.get(entry.action)
    if entry.action in ("staff.added", "staff.role_changed") and (entry.after or {}).get("role") == "owner":
        # A new owner has a mail of their own (`staff_jobs`).
        return False
    changed = {*(entry.before or {}), *(entry.after or {})}
    return notice is not None and (not notice.columns or not notice.columns.isdisjoint(changed))


@task(queue_name=MAILS)
def send_notice(
    shop_id: int, email: str, action: str, about: str, who: str, place: str, at: str, tries: int = 0
) -> None:
    shop = Shop.objects.filter(pk=shop_id).first()
    if shop is not None and action in NOTICES:
        notice, context = NOTICES[action], {"shop": shop, "about": about, "who": who, "place": place, "at": at}
        with speaking_to_address(email, shop):
            text = render_to_string("shops/mail/owner_notice.txt", {**context, "notice": notice})
            subject = f"{notice.subject}: {shop.name}"
            written = mail.message(shop=shop, to=email, subject=subject, text=text, is_to_staff=True)
        given = (shop_id, email, action, about, who, place, at)
        mail.send(written, *given, what="owner_notice", task=send_notice, tries=tries)

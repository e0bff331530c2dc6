"""Staff invitations: an owner invites an e-mail address, and the person who reads its mail accepts.

Threats. An owner who invites somebody else's address gains nothing: no password is shown, and the link goes only to
that mailbox. A link works once, for seven days, for one shop, until a newer link is sent or the invitation is
withdrawn. Only its digest is stored. The owner of an existing account must sign in to accept, so the link alone gives
no access and changes no password. Only the mailbox learns whether an address has an account.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.debug import sensitive_variables

from storefront import audit
from storefront.kit import tokens
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.pods import registry
from storefront.shops.models import Shop, StaffInvitation, StaffMember, User
from storefront.shops.places import page_address
from storefront.staff import staff_jobs

PREFIX = "invite"
# Seconds for which somebody invited by a shop of another pod can create their account in pod 0.
OFFER_SECONDS = 3600
_OFFER = "storefront.account-offer"
LIFETIME = timedelta(days=7)
# Invitations that one shop can send within a day. Each is a mail to any address that the owner chooses.
MAX_PER_DAY = 50
# As long as a user name can be, since the address becomes one.
MAX_EMAIL_LENGTH = 150


class InvitationOver(Refusal):
    """The link is unknown, or was used, withdrawn or replaced, or has expired."""

    status, code = 403, "invitation_over"
    message = _lazy("This invitation has expired, has been used or withdrawn, or its link is incomplete.")


class TooManyInvitations(Refusal):
    status, code, field = 429, "too_many_invitations", "email"
    message = format_lazy(
        _lazy("A shop can send at most {most} invitations a day. Please try again tomorrow."), most=MAX_PER_DAY
    )


class AccountExists(Refusal):
    """The address has an account; its owner must sign in to accept."""

    code = "account_exists"
    message = _lazy("This email address already has an account. Sign in to accept.")


class NotInvited(Refusal):
    """The invitation is for another address than the account's."""

    status, code = 403, "not_invited"
    message = _lazy("This invitation is for another email address.")


@transaction.atomic
def invite_staff(*, shop: Shop, email: str, role: str, invited_by: User | None, now: datetime) -> StaffInvitation:
    """Invite somebody to the shop's staff. An open invitation of the same address is replaced, and its link invalid.

    The result does not depend on whether the address has an account. `jobs.send_invitation` mails the link. Raises
    TooManyInvitations, and InvalidFields for an invalid address, an unknown role or an existing staff member.
    """
    email = email.strip().lower()
    _check(email, role)
    # Locks the shop, so that two requests do not invite the same address at once.
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    if StaffMember.objects.filter(shop=shop, user__email__iexact=email).exists():
        raise InvalidFields(
            errors={"email": [_("%(email)s is already a staff member of this shop.") % {"email": email}]}
        )
    if StaffInvitation.objects.filter(shop=shop, created_at__gt=now - timedelta(days=1)).count() >= MAX_PER_DAY:
        raise TooManyInvitations
    _open_in(shop).filter(email=email).update(revoked_at=now)
    made = StaffInvitation.objects.create(
        shop=shop, email=email, role=role, invited_by=invited_by, created_at=now, expires_at=now + LIFETIME
    )
    audit.record(shop=shop, action="staff.invited", object=made, after={"role": role}, now=now)
    return made


@transaction.atomic
def withdraw_invitations(*, shop: Shop, now: datetime, **which: object) -> None:
    """Withdraw the shop's open invitations that match these column values, such as `pk`. Their links become invalid."""
    open_ones = _open_in(shop).select_for_update().filter(**which)
    for row in open_ones.order_by("pk"):
        audit.record(shop=shop, action="staff.invitation_withdrawn", object=row, now=now)
    open_ones.update(revoked_at=now)


@sensitive_variables("token")
def new_link(*, shop: Shop, invitation_id: int, now: datetime) -> str | None:
    """Create a link to accept the invitation, which invalidates the previous link. None once the invitation is over."""
    token = tokens.new_token(PREFIX)
    kept = _pending(now).filter(shop=shop, pk=invitation_id).update(digest=tokens.digest(token))
    return page_address("admin:invitation_link", shop=shop, token=token) if kept else None


def invitation_of(*, digest: str, now: datetime) -> StaffInvitation | None:
    """The pending invitation whose newest link has this digest."""
    return _pending(now).select_related("shop").filter(digest=digest).first()


def pending_invitations(*, shop: Shop, now: datetime) -> QuerySet[StaffInvitation]:
    """Invitations that can still be accepted, newest first."""
    return _pending(now).filter(shop=shop).order_by("-created_at", "-pk")


def accounts_with(email: str) -> QuerySet[User]:
    """Accounts with this e-mail address, ignoring case."""
    return User.objects.filter(email__iexact=email)


@transaction.atomic
def accept_invitation(*, invitation: StaffInvitation, user: User, now: datetime) -> None:
    """Make the user a staff member with the offered role. Works once, also if two requests accept at the same time.

    Somebody who is on the staff already keeps their role. Raises NotInvited and InvitationOver.
    """
    if user.email.lower() != invitation.email:
        raise NotInvited
    if not _pending(now).filter(pk=invitation.pk, digest=invitation.digest).update(accepted_at=now):
        raise InvitationOver
    _, is_new = StaffMember.objects.get_or_create(shop=invitation.shop, user=user, defaults={"role": invitation.role})
    if is_new:
        about, after = audit.person(user), {"role": invitation.role}
        who = audit.staff(user)
        audit.record(shop=invitation.shop, action="staff.added", object=about, after=after, actor=who, now=now)
    if is_new and invitation.role == StaffMember.Role.OWNER:
        staff_jobs.notify_owners(invitation.shop, "new_owner", user.email)
    if not user.is_staff:
        User.objects.filter(pk=user.pk).update(is_staff=True)


@sensitive_variables("password", "user")
def accept_with_new_account(*, invitation: StaffInvitation, name: str, password: str, now: datetime) -> None:
    """Create an account for the invited address and accept with it. Raises AccountExists, InvitationOver and
    WrittenInPodZero."""
    user = _new_account(invitation.email, name, password)
    with transaction.atomic():
        _store(user)
        accept_invitation(invitation=invitation, user=user, now=now)


@sensitive_variables("password", "user")
def create_account(*, email: str, name: str, password: str) -> User:
    """Create an account of no shop, for an address that was proved. Raises AccountExists and WrittenInPodZero."""
    user = _new_account(email, name, password)
    _store(user)
    return user


@dataclass(frozen=True)
class Offer:
    """An account that pod 0 makes for somebody whom a shop of another pod has invited; and the invitation's URL."""

    email: str
    back: str


def offer_account(invitation: StaffInvitation) -> str:
    """A token for pod 0: whoever has it has followed the link in the mail to this address. All pods have one key."""
    back = page_address("admin:invitation", shop=invitation.shop)
    return signing.dumps({"email": invitation.email, "back": back}, salt=_OFFER)


def offer_of(token: str) -> Offer | None:
    """The offer with this token; None if it is forged or older than an hour."""
    try:
        return Offer(**signing.loads(token, salt=_OFFER, max_age=OFFER_SECONDS))
    except signing.BadSignature:
        return None


@sensitive_variables()
def _new_account(email: str, name: str, password: str) -> User:
    """An account that is not stored yet. Hashing is slow, so it runs outside of transactions."""
    registry.require_writable()
    user = User(username=email, email=email, first_name=name, is_staff=True)
    user.set_password(password)
    return user


def _store(user: User) -> None:
    try:
        with transaction.atomic():
            if User.objects.filter(Q(email__iexact=user.email) | Q(username__iexact=user.email)).exists():
                raise AccountExists
            user.save(force_insert=True)
    except IntegrityError:
        # Another shop's invitation of the same address was accepted at the same moment.
        raise AccountExists from None


def _check(email: str, role: str) -> None:
    errors: dict[str, list[str]] = {}
    try:
        validate_email(email)
    except ValidationError:
        errors["email"] = [_("Expected an email address.")]
    if len(email) > MAX_EMAIL_LENGTH:
        errors["email"] = [
            _("The email address can have at most %(max_email_length)s characters.")
            % {"max_email_length": MAX_EMAIL_LENGTH}
        ]
    if role not in StaffMember.Role:
        errors["role"] = [_("Expected one of %(values)s.") % {"values": ", ".join(StaffMember.Role.values)}]
    if errors:
        raise InvalidFields(errors=errors)


def _open_in(shop: Shop) -> QuerySet[StaffInvitation]:
    return StaffInvitation.objects.filter(shop=shop, accepted_at=None, revoked_at=None)


def _pending(now: datetime) -> QuerySet[StaffInvitation]:
    return StaffInvitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=now)

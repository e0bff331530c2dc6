from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit import currencies, tokens
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops import changes, languages, places
from storefront.shops.models import ApiToken, Shop, StaffMember
from storefront.shops.scopes import SCOPES
from storefront.staff import domains, staff_jobs, staff_sessions
from storefront.staff.invitations import withdraw_invitations

# Read once, since that takes several milliseconds.
_time_zones = cache(available_timezones)


@transaction.atomic
def create_shop(
    *,
    domain: str,
    name: str,
    base_url: str,
    now: datetime,
    currency: str = "EUR",
    timezone: str = "Europe/Berlin",
    language: str = "en",
    further_languages: Sequence[str] = (),
    email: str | None = None,
    payment_methods: tuple[str, ...] = ("manual",),
    is_demo: bool = False,
) -> Shop:
    """Create a shop. A demo shop is for trying out: it can have the payment method that takes no money.

    Raises InvalidFields, which names each invalid field.
    """
    domain, base_url, currency = domain.strip().lower(), base_url.strip().rstrip("/"), currency.strip().upper()
    given: dict[str, Any] = {"domain": domain, "name": name, "base_url": base_url, "currency": currency, "email": email}
    errors = problems_of_new_shop(**given, timezone=timezone, language=language)
    if problem := languages.problem_of_further(language, further_languages):
        errors["further_languages"] = [problem]
    if errors:
        raise InvalidFields(errors=errors)
    shop = Shop.objects.create(
        domain=domain,
        name=name.strip(),
        base_url=base_url,
        currency=currency,
        timezone=timezone,
        language=language,
        further_languages=list(further_languages),
        email=email,
        payment_methods=list(payment_methods),
        is_demo=is_demo,
        created_at=now,
        updated_at=now,
    )
    audit.record_created(shop=shop, object=shop, now=now)
    return shop


def problems_of_new_shop(
    *, domain: str, name: str, base_url: str, currency: str, timezone: str, language: str, email: str | None
) -> dict[str, list[str]]:
    """By field, why no shop can be created with these values; empty if one can."""
    errors: dict[str, list[str]] = {}
    if not domain or any(mark in domain for mark in "/: ") or len(domain) > 253:
        errors["domain"] = [_("Expected a host name such as shop.example.com, without scheme, port or path.")]
    elif places.is_reserved(domain):
        errors["domain"] = [places.reserved_message(domain)]
    elif domains.is_taken(domain):
        errors["domain"] = [domains.taken_message(domain)]
    if not name.strip() or len(name) > 200:
        errors["name"] = [_("Expected a name of 1 to 200 characters.")]
    if problem := _problem_of_base_url(base_url):
        errors["base_url"] = [problem]
    errors |= _wrong_choices(currency=currency, timezone=timezone, language=language)
    if email is not None and "@" not in email:
        errors["email"] = [_("Expected an email address.")]
    return errors


def _problem_of_base_url(url: str) -> str | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        # Something that only looks like a URL, such as http://[
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        return _("Expected an absolute URL such as https://shop.example.com.")
    if places.is_reserved(parts.hostname):
        return places.reserved_message(parts.hostname)
    return domains.taken_message(parts.hostname) if domains.is_further(parts.hostname) else None


@transaction.atomic
def create_api_token(
    *,
    shop: Shop,
    scopes: list[str],
    name: str,
    now: datetime,
    expires_in: timedelta | None = None,
    requests_per_minute: int | None = None,
) -> tuple[ApiToken, str]:
    """Create an API token of the shop. Returns its row and the secret, of which only the digest is stored. Raises
    InvalidFields."""
    unknown = sorted(set(scopes) - SCOPES.keys())
    if unknown:
        raise InvalidFields(
            errors={
                "scopes": [
                    _("Unknown: %(unknown)s. Known: %(scopes)s.")
                    % {"unknown": ", ".join(unknown), "scopes": ", ".join(SCOPES)}
                ]
            }
        )
    if not scopes:
        raise InvalidFields(
            errors={"scopes": [_("Expected at least one of %(scopes)s.") % {"scopes": ", ".join(SCOPES)}]}
        )
    secret = tokens.new_token("api", shop_id=shop.pk)
    row = ApiToken.objects.create(
        shop=shop,
        name=name,
        digest=tokens.digest(secret),
        ending=secret[-4:],
        scopes=[scope for scope in SCOPES if scope in scopes],
        requests_per_minute=requests_per_minute,
        created_at=now,
        expires_at=now + expires_in if expires_in else None,
    )
    staff_jobs.notify_owners(shop, "new_token", row.name)
    audit.record_created(shop=shop, object=row, now=now)
    return row, secret


@transaction.atomic
def revoke_api_token(*, shop: Shop, token: ApiToken, now: datetime) -> None:
    """Revoke the token, from the next request on."""
    if ApiToken.objects.filter(shop=shop, pk=token.pk, revoked_at=None).update(revoked_at=now):
        after = {"revoked_at": now}
        audit.record(shop=shop, action="token.revoked", object=token, before={"revoked_at": None}, after=after, now=now)
    changes.publish_change(shop.pk)


class LastOwner(Refusal):
    code, message = (
        "last_owner",
        _lazy("A shop must have at least one owner. Make somebody else an owner first."),
    )


@transaction.atomic
def change_role(*, shop: Shop, member: StaffMember, role: str, now: datetime) -> None:
    """Change the role of a staff member. Open invitations by somebody who is no longer an owner are withdrawn; all
    owners are notified of a new owner. Raises LastOwner if the shop would have no owner left."""
    if role != StaffMember.Role.OWNER:
        _keep_an_owner(shop, without=[member.pk])
        withdraw_invitations(shop=shop, invited_by=member.user_id, now=now)
    locked = StaffMember.objects.select_for_update(no_key=True).filter(shop=shop, pk=member.pk)
    old = locked.values_list("role", flat=True).first()
    about, action = audit.person(member.user), "staff.role_changed"
    # Before the change, so that an owner who is one no longer gets the mail, too.
    audit.record_change(shop=shop, action=action, object=about, before={"role": old}, after={"role": role}, now=now)
    locked.update(role=role)
    if role == StaffMember.Role.OWNER != old:
        staff_jobs.notify_owners(shop, "new_owner", member.user.email)


@transaction.atomic
def remove_staff(*, shop: Shop, members: list[int], now: datetime) -> None:
    """Remove staff members, by the ids of their StaffMember rows. Their accounts stay; their open invitations are
    withdrawn. Raises LastOwner."""
    _keep_an_owner(shop, without=members)
    leaving = StaffMember.objects.filter(shop=shop, pk__in=members)
    withdraw_invitations(shop=shop, invited_by__in=list(leaving.values_list("user", flat=True)), now=now)
    for member in leaving.select_related("user"):
        about, before = audit.person(member.user), {"role": member.role}
        audit.record(shop=shop, action="staff.removed", object=about, before=before, now=now)
    leaving.delete()


@transaction.atomic
def end_sessions_of_staff(*, shop: Shop, member: StaffMember, now: datetime) -> int:
    """Sign a staff member out of the admin in every browser; returns the number of sessions. Sessions belong to the
    person, not to a shop, so this signs them out of other shops, too."""
    ended = staff_sessions.end_sessions(member.user)
    about = audit.person(member.user)
    audit.record(shop=shop, action="staff.sessions_ended", object=about, after={"sessions": ended}, now=now)
    return ended


def _keep_an_owner(shop: Shop, *, without: list[int]) -> None:
    # Locks the shop, so that of two owners who remove each other at once, one fails.
    Shop.objects.select_for_update().get(pk=shop.pk)
    if not StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER).exclude(pk__in=without).exists():
        raise LastOwner


def _wrong_choices(*, currency: str, timezone: str, language: str) -> dict[str, list[str]]:
    errors = {}
    if problem := currencies.problem_of(currency):
        errors["currency"] = [problem]
    if timezone not in _time_zones():
        errors["timezone"] = [_("Expected a time zone name such as Europe/Berlin.")]
    if language not in dict(languages.CHOICES):
        errors["language"] = [
            _("Expected one of %(choices)s.") % {"choices": ", ".join(sorted(dict(languages.CHOICES)))}
        ]
    return errors

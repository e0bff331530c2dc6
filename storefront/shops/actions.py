from datetime import datetime, timedelta
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from babel.numbers import list_currencies
from django.db import transaction
from django.utils.crypto import get_random_string

from storefront.kit import tokens
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops import changes
from storefront.shops.models import ApiToken, Shop, StaffMember, User
from storefront.shops.scopes import SCOPES


@transaction.atomic
def create_shop(
    *,
    domain: str,
    name: str,
    base_url: str,
    now: datetime,
    currency: str = "EUR",
    timezone: str = "Europe/Berlin",
    email: str | None = None,
    payment_methods: tuple[str, ...] = ("manual",),
) -> Shop:
    """Open a shop. Raises InvalidFields, which names each field that does not fit."""
    domain, base_url, currency = domain.strip().lower(), base_url.strip().rstrip("/"), currency.strip().upper()
    errors: dict[str, list[str]] = {}
    if not domain or any(mark in domain for mark in "/: ") or len(domain) > 253:
        errors["domain"] = ["Expected a host name such as shop.example.com, without scheme, port or path."]
    elif Shop.objects.filter(domain=domain).exists():
        errors["domain"] = [f"{domain} is another shop's domain."]
    if not name.strip() or len(name) > 200:
        errors["name"] = ["Expected a name of 1 to 200 characters."]
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        errors["base_url"] = ["Expected an absolute URL such as https://shop.example.com."]
    if currency not in list_currencies():
        errors["currency"] = ["Expected an ISO 4217 code such as EUR."]
    if timezone not in available_timezones():
        errors["timezone"] = ["Expected a time zone name such as Europe/Berlin."]
    if email is not None and "@" not in email:
        errors["email"] = ["Expected an e-mail address."]
    if errors:
        raise InvalidFields(errors=errors)
    return Shop.objects.create(
        domain=domain,
        name=name.strip(),
        base_url=base_url,
        currency=currency,
        timezone=timezone,
        email=email,
        payment_methods=list(payment_methods),
        created_at=now,
        updated_at=now,
    )


def create_api_token(
    *, shop: Shop, scopes: list[str], name: str, now: datetime, expires_in: timedelta | None = None
) -> tuple[ApiToken, str]:
    """A new API token of the shop: its row, and the secret itself, which is not kept. Raises InvalidFields."""
    unknown = sorted(set(scopes) - SCOPES.keys())
    if unknown:
        raise InvalidFields(errors={"scopes": [f"Unknown: {', '.join(unknown)}. Known: {', '.join(SCOPES)}."]})
    if not scopes:
        raise InvalidFields(errors={"scopes": [f"Expected at least one of {', '.join(SCOPES)}."]})
    secret = tokens.new_token("api")
    row = ApiToken.objects.create(
        shop=shop,
        name=name,
        digest=tokens.digest(secret),
        ending=secret[-4:],
        scopes=[scope for scope in SCOPES if scope in scopes],
        created_at=now,
        expires_at=now + expires_in if expires_in else None,
    )
    return row, secret


@transaction.atomic
def revoke_api_token(*, shop: Shop, token: ApiToken, now: datetime) -> None:
    """Make the token worthless from the next request on."""
    ApiToken.objects.filter(shop=shop, pk=token.pk, revoked_at=None).update(revoked_at=now)
    changes.changed(shop.pk)


class LastOwner(Refusal):
    code, message = "last_owner", "A shop keeps at least one owner. Make somebody else an owner first."


@transaction.atomic
def add_staff(*, shop: Shop, email: str, role: str) -> tuple[StaffMember, str | None]:
    """Give somebody a place in the shop: the place, and a first password where they had no account yet.

    The password is not kept. Raises InvalidFields for somebody who is there already.
    """
    email = email.strip().lower()
    user, password = User.objects.filter(email__iexact=email).first(), None
    if user is None:
        password = get_random_string(16)
        user = User.objects.create_user(username=email, email=email, password=password, is_staff=True)
    elif StaffMember.objects.filter(shop=shop, user=user).exists():
        raise InvalidFields(errors={"email": [f"{email} is on the staff of this shop already."]})
    if not user.is_staff:
        user.is_staff = True
        user.save(update_fields=["is_staff"])
    return StaffMember.objects.create(shop=shop, user=user, role=role), password


@transaction.atomic
def change_role(*, shop: Shop, member: StaffMember, role: str) -> None:
    """Raises LastOwner where nobody would be left to run the shop."""
    if role != StaffMember.Role.OWNER:
        _keep_an_owner(shop, without=[member.pk])
    StaffMember.objects.filter(shop=shop, pk=member.pk).update(role=role)


@transaction.atomic
def remove_staff(*, shop: Shop, members: list[int]) -> None:
    """Take these people's places in the shop, by the places' ids; their accounts stay. Raises LastOwner."""
    _keep_an_owner(shop, without=members)
    StaffMember.objects.filter(shop=shop, pk__in=members).delete()


def _keep_an_owner(shop: Shop, *, without: list[int]) -> None:
    # Two owners who remove each other at once queue here.
    Shop.objects.select_for_update().get(pk=shop.pk)
    if not StaffMember.objects.filter(shop=shop, role=StaffMember.Role.OWNER).exclude(pk__in=without).exists():
        raise LastOwner

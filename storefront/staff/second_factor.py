"""The second factors of staff: authenticator apps, passkeys, and recovery codes for people who lost these.

`passkeys` verifies passkeys. The pages that ask for a code limit guesses (`throttle`). Each code is valid once, also if
it is sent twice at the same moment.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from urllib.parse import quote, urlencode

import segno
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django_otp.oath import TOTP

from storefront.kit import sealing
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.pods import registry
from storefront.shops.models import Authenticator, Passkey, RecoveryCode, StaffMember, User
from storefront.staff.factor_uses import use_here

PURPOSE = "second-factor"
STEP_SECONDS = 30
# A code is also accepted one time step early or late, for clocks that are a little off.
TOLERANCE_STEPS = 1
RECOVERY_CODES = 10
MAX_PER_KIND = 10
# 80 random bits: too many to guess, even for somebody who has the digests.
_RECOVERY_BYTES = 10
_KINDS: dict[str, type[Authenticator] | type[Passkey]] = {"app": Authenticator, "passkey": Passkey}


class LastFactor(Refusal):
    status, code = 422, "last_factor"
    message = _lazy("You must have a second factor. Add another one before you remove this one.")


@dataclass(frozen=True)
class Factors:
    """A person's second factors, and the number of unused recovery codes."""

    apps: list[Authenticator]
    passkeys: list[Passkey]
    codes_left: int

    def __bool__(self) -> bool:
        return bool(self.apps or self.passkeys)


def factors_of(user: User) -> Factors:
    return Factors(
        apps=list(Authenticator.objects.filter(user=user).order_by("pk")),
        passkeys=list(Passkey.objects.filter(user=user).order_by("pk")),
        codes_left=RecoveryCode.objects.filter(user=user).count(),
    )


def must_have_one(user: User) -> bool:
    """Whether STOREFRONT_STAFF_SECOND_FACTOR requires a second factor of this person. The operator counts as owner."""
    if settings.STAFF_SECOND_FACTOR != "owners":
        return settings.STAFF_SECOND_FACTOR == "all"
    return user.is_superuser or StaffMember.objects.filter(user=user, role=StaffMember.Role.OWNER).exists()


def new_key() -> bytes:
    """A new secret to share with an authenticator app: 160 bits, as RFC 4226 recommends."""
    return secrets.token_bytes(20)


def key_as_text(key: bytes) -> str:
    """The secret for typing: base32 in groups of four characters."""
    text = base64.b32encode(key).decode()
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def key_as_picture(key: bytes, user: User) -> str:
    """The secret as a QR code for scanning: an SVG element."""
    label = quote(f"Storefront:{user.get_username()}")
    given = urlencode({"secret": base64.b32encode(key).decode(), "issuer": "Storefront"})
    drawn = BytesIO()
    code = segno.make(f"otpauth://totp/{label}?{given}", error="m")
    # Drawn without style attributes, which the page's policy blocks.
    code.save(drawn, kind="svg", xmldecl=False, svgns=True, scale=5, border=3, dark="#000", light="#fff")
    return drawn.getvalue().decode()


def add_authenticator(*, user: User, key: bytes, code: str, name: str, now: datetime) -> Authenticator:
    """Save an authenticator app, whose current code proves that it has the key. Raises InvalidFields."""
    step = _step_of(key, code, now=now, after=-1)
    if step is None:
        raise InvalidFields(errors={"code": [_("This code is incorrect. Enter the code that the app shows now.")]})
    with transaction.atomic():
        check_factor_limit(user, Authenticator)
        return Authenticator.objects.create(
            user=user,
            name=name or "Authenticator app",
            sealed_key=sealing.seal(key, purpose=PURPOSE),
            last_step=step,
            created_at=now,
        )


def check_factor_limit(user: User, kind: type[Authenticator] | type[Passkey]) -> None:
    """Raises InvalidFields if the person has the most factors of this kind already, WrittenInPodZero if factors are not
    added here. Call it in a transaction."""
    registry.require_writable()
    # Locks the user, so that two factors added at once are both counted.
    User.objects.select_for_update().get(pk=user.pk)
    if kind.objects.filter(user=user).count() >= MAX_PER_KIND:
        raise InvalidFields(
            errors={"name": [_("You can have at most %(max_per_kind)s of them.") % {"max_per_kind": MAX_PER_KIND}]}
        )


def use_code(*, user: User, code: str, now: datetime) -> str | None:
    """Use up a code. Returns `app` for an authenticator app's code, `recovery` for a recovery code, otherwise None.

    In a pod that reads the registry from pod 0, an app's code is used up in this pod, and a recovery code is none: it
    could be used once in each pod.
    """
    given = "".join(code.split()).replace("-", "")
    for app in Authenticator.objects.filter(user=user):
        if _use_code_of(app, given, now):
            return "app"
    if registry.is_written_here() and RecoveryCode.objects.filter(user=user, digest=_digest(given)).delete()[0]:
        return "recovery"
    return None


@transaction.atomic
def new_recovery_codes(*, user: User) -> list[str]:
    """Create recovery codes, to be shown once. Older ones become invalid. Raises WrittenInPodZero."""
    registry.require_writable()
    User.objects.select_for_update().get(pk=user.pk)
    RecoveryCode.objects.filter(user=user).delete()
    codes = [base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    RecoveryCode.objects.bulk_create([RecoveryCode(user=user, digest=_digest(code)) for code in codes])
    return ["-".join(code[at : at + 4] for at in range(0, len(code), 4)) for code in codes]


@transaction.atomic
def remove_factor(*, user: User, kind: str, factor_id: int) -> None:
    """Remove an `app` or a `passkey`, and with the last of them the recovery codes. Raises NotFound, LastFactor and
    WrittenInPodZero."""
    registry.require_writable()
    # Locks the user, so that of two removals at once, the second finds the first factor gone.
    User.objects.select_for_update().get(pk=user.pk)
    if kind not in _KINDS or not _KINDS[kind].objects.filter(user=user, pk=factor_id).delete()[0]:
        raise NotFound
    if not factors_of(user):
        if must_have_one(user):
            raise LastFactor
        RecoveryCode.objects.filter(user=user).delete()


@transaction.atomic
def remove_all_factors(*, user: User) -> int:
    """Remove all factors and recovery codes of somebody who lost them; returns the number of factors. Raises
    WrittenInPodZero."""
    registry.require_writable()
    factors = factors_of(user)
    for rows in (Authenticator, Passkey, RecoveryCode):
        rows.objects.filter(user=user).delete()
    return len(factors.apps) + len(factors.passkeys)


def _use_code_of(app: Authenticator, code: str, now: datetime) -> bool:
    try:
        key = sealing.unseal(bytes(app.sealed_key), purpose=PURPOSE)
    except sealing.Unsealable:
        # The encryption key was lost. Recovery codes and the operator's command still work.
        return False
    step = _step_of(key, code, now=now, after=app.last_step)
    if step is None:
        return False
    if not registry.is_written_here():
        return use_here("app", app.pk, step)
    # The first of two requests with one code writes the step, and so uses the code.
    return bool(Authenticator.objects.filter(pk=app.pk, last_step__lt=step).update(last_step=step))


def _step_of(key: bytes, code: str, *, now: datetime, after: int) -> int | None:
    """The time step of this code, if it is after step `after` and within the tolerance; otherwise None."""
    code = "".join(code.split())
    if not (len(code) == 6 and code.isascii() and code.isdigit()):
        return None
    totp = TOTP(key, step=STEP_SECONDS)
    totp.time = now.timestamp()
    return totp.t() if totp.verify(int(code), tolerance=TOLERANCE_STEPS, min_t=after + 1) else None


def _digest(code: str) -> str:
    return hashlib.sha256(code.lower().encode()).hexdigest()

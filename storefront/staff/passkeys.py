"""Passkeys (WebAuthn) as second factors: options for the browser, and verification of its response.

A browser signs for one host only, so a phishing page on another host gets no valid signature. The challenge is stored
in the session and is valid once.
"""

import hashlib
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.refusals import InvalidFields
from storefront.pods import registry
from storefront.shops.models import Passkey, User
from storefront.staff.factor_uses import use_here
from storefront.staff.second_factor import check_factor_limit

if TYPE_CHECKING:
    from fido2.server import Fido2Server

_ASKED = "passkey_asked"
REFUSED = _lazy("The passkey could not be verified. Please try again.")


def creation_options(request: HttpRequest, user: User) -> str:
    """Options for the browser to create a passkey (PublicKeyCredentialCreationOptions), as JSON."""
    from fido2.webauthn import PublicKeyCredentialUserEntity, ResidentKeyRequirement, UserVerificationRequirement

    options, state = _server(request).register_begin(
        PublicKeyCredentialUserEntity(
            id=str(user.pk).encode(), name=user.get_username(), display_name=user.get_full_name() or user.get_username()
        ),
        credentials=_descriptors(request, user),
        resident_key_requirement=ResidentKeyRequirement.DISCOURAGED,
        user_verification=UserVerificationRequirement.PREFERRED,
    )
    return _store_challenge(request, user, options, state)


def add_passkey(*, request: HttpRequest, user: User, answer: str, name: str, now: datetime) -> Passkey:
    """Save the passkey that the browser created; `answer` is its response as JSON. Raises InvalidFields."""
    given = _parsed(answer)
    try:
        made = _server(request).register_complete(_pop_challenge(request, user), given)
        credential = made.credential_data
        assert credential is not None
    except Exception:
        # The library raises many kinds of errors, and each means that the response is not valid.
        raise InvalidFields(errors={"passkey": [str(REFUSED)]}) from None
    passkey = Passkey(
        user=user,
        name=name or "Passkey",
        host=_host(request),
        credential_id=given["rawId"],
        digest=hashlib.sha256(credential.credential_id).hexdigest(),
        credential=bytes(credential),
        sign_count=made.counter,
        created_at=now,
    )
    try:
        with transaction.atomic():
            check_factor_limit(user, Passkey)
            passkey.save()
    except IntegrityError:
        raise InvalidFields(errors={"passkey": [_("This passkey is already in use.")]}) from None
    return passkey


def request_options(request: HttpRequest, user: User) -> str | None:
    """Options for the browser to sign with one of the person's passkeys for this host
    (PublicKeyCredentialRequestOptions), as JSON; None if there is no passkey."""
    from fido2.webauthn import UserVerificationRequirement

    known = _descriptors(request, user)
    if not known:
        return None
    options, state = _server(request).authenticate_begin(known, user_verification=UserVerificationRequirement.PREFERRED)
    return _store_challenge(request, user, options, state)


def is_verified(*, request: HttpRequest, user: User, answer: str, now: datetime) -> bool:
    """Whether the browser signed the challenge with a passkey of this person."""
    from fido2.webauthn import AttestedCredentialData, AuthenticationResponse

    rows = {bytes(row.credential): row for row in Passkey.objects.filter(user=user, host=_host(request))}
    try:
        given = AuthenticationResponse.from_dict(_parsed(answer))
        known = [AttestedCredentialData(each) for each in rows]
        used = _server(request).authenticate_complete(_pop_challenge(request, user), known, given)
        count = given.response.authenticator_data.counter
    except Exception:
        return False
    # A counter that does not grow indicates a copied key. Many passkeys have no counter and always send 0.
    fresh = Q(sign_count__lt=count) | (Q(sign_count=0) if count == 0 else Q(pk__in=[]))
    found = Passkey.objects.filter(fresh, pk=rows[bytes(used)].pk)
    if not registry.is_written_here():
        return found.exists() and use_here("passkey", rows[bytes(used)].pk, count)
    return bool(found.update(sign_count=count, last_used_at=now))


def _server(request: HttpRequest) -> "Fido2Server":
    # Imported here, since it loads a list of all public suffixes, which most processes never need.
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    origin = f"{request.scheme}://{request.get_host()}"
    rp = PublicKeyCredentialRpEntity(id=_host(request), name="Storefront")
    # Only exactly this origin: by default the library accepts subdomains, too.
    return Fido2Server(rp, verify_origin=lambda given: given == origin)


def _host(request: HttpRequest) -> str:
    return split_domain_port(request.get_host())[0]


def _descriptors(request: HttpRequest, user: User) -> list[Any]:
    from fido2.server import to_descriptor
    from fido2.webauthn import AttestedCredentialData

    rows = Passkey.objects.filter(user=user, host=_host(request))
    return [to_descriptor(AttestedCredentialData(bytes(row.credential))) for row in rows]


def _store_challenge(request: HttpRequest, user: User, options: Any, state: Any) -> str:
    request.session[_ASKED] = {"user": user.pk, "state": state}
    return json.dumps(dict(options)["publicKey"])


def _pop_challenge(request: HttpRequest, user: User) -> Any:
    """Remove this person's challenge from the session and return it. Raises LookupError if there is none."""
    kept = request.session.pop(_ASKED)
    if kept["user"] != user.pk:
        raise LookupError
    return kept["state"]


def _parsed(answer: str) -> dict[str, Any]:
    try:
        given = json.loads(answer)
    except ValueError:
        given = None
    return given if isinstance(given, dict) and isinstance(given.get("rawId"), str) else {}

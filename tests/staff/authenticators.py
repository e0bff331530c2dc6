"""Second factors for tests: the codes of an authenticator app, and a passkey in software."""

import base64
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.utils.html import escape
from django_otp.oath import TOTP
from fido2 import cbor
from fido2.cose import ES256

from storefront.kit import clock


def code_of(key: str | bytes, steps: int = 0) -> str:
    """The code that an app with this key shows now, or so many steps of thirty seconds from now."""
    given = base64.b32decode(key.replace(" ", "")) if isinstance(key, str) else key
    totp = TOTP(given)
    totp.time = clock.now().timestamp() + 30 * steps
    return f"{totp.token():06}"


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


class SoftKey:
    """A passkey in software. `origin` is what the browser says it was used at."""

    def __init__(self, origin: str = "http://testserver", name: bytes = b"a passkey") -> None:
        self.origin, self.count = origin, 0
        self.id = hashlib.sha256(name).digest()
        self._key = ec.generate_private_key(ec.SECP256R1())

    def make(self, options: dict[str, Any]) -> str:
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id
        credential += cbor.encode(dict(ES256.from_cryptography_key(self._key.public_key())))
        data = self._authenticator_data(options["rp"]["id"], flags=0x45) + credential
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            {
                "clientDataJSON": encoded(self._client_data("webauthn.create", options)),
                "attestationObject": encoded(attestation),
            }
        )

    def sign(self, options: dict[str, Any], *, count: int | None = None) -> str:
        self.count = self.count if count is None else count
        client = self._client_data("webauthn.get", options)
        data = self._authenticator_data(options["rpId"], flags=0x05)
        signature = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return self._answer(
            {
                "clientDataJSON": encoded(client),
                "authenticatorData": encoded(data),
                "signature": encoded(signature),
            }
        )

    def _authenticator_data(self, host: str, *, flags: int) -> bytes:
        return hashlib.sha256(host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, options: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": options["challenge"], "origin": self.origin}).encode()

    def _answer(self, response: dict[str, str]) -> str:
        own = encoded(self.id)
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": response})


def options_of(page: Any) -> dict[str, Any]:
    """What a page asks the browser for, which stands in it, too."""
    options = page.context_data["passkey_options"]
    assert escape(options) in page.content.decode()
    return json.loads(options)

"""Signatures as Standard Webhooks 1.0 has them, so that receivers can check them with a library they find anywhere."""

import base64
import secrets as random
from collections.abc import Sequence
from datetime import datetime

from standardwebhooks import Webhook


def new_secret() -> str:
    """A secret to sign with, `whsec_...`: 256 random bits."""
    return "whsec_" + base64.b64encode(random.token_bytes(32)).decode()


def sign(*, id: str, body: bytes, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """The headers that prove who sent the body, and when. One signature a secret, since during a rotation a receiver
    may know either."""
    text = body.decode()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(id, now, text) for secret in secrets),
    }

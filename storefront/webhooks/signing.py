"""Signatures as specified by Standard Webhooks 1.0, which receivers can verify with existing libraries (R-HOOK-8)."""

import base64
import secrets as random
from collections.abc import Sequence
from datetime import datetime

from standardwebhooks import Webhook


def new_secret() -> str:
    """A new signing secret, `whsec_...`: 256 random bits."""
    return "whsec_" + base64.b64encode(random.token_bytes(32)).decode()


def sign(*, id: str, body: bytes, secrets: Sequence[str], now: datetime) -> dict[str, str]:
    """The headers with the message's id, time and signatures. One signature for each secret, since during a rotation a
    receiver may know either."""
    text = body.decode()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(id, now, text) for secret in secrets),
    }

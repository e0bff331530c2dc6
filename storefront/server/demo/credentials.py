"""Who may enter the demo shop: an admin and an API token. Their secrets are kept in `demo.json` of the data directory,
readable by its owner alone, so that every start can print what works. A shop of your own keeps no such file."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from storefront.shops import actions, queries
from storefront.shops.models import Shop, User

ADMIN = "admin"
SCOPES = ["read_products", "read_cart", "write_cart"]


@dataclass
class Credentials:
    """An empty text stands for what is not known here, such as the password of an admin who was there before."""

    admin_user: str = ADMIN
    admin_password: str = ""
    api_token: str = ""


def keep_credentials(file: Path, *, shop: Shop, now: datetime) -> Credentials:
    """The credentials that work now: those of the file, with what is missing or worn out made anew."""
    found = _read(file)
    kept = Credentials(found.admin_user, _password(found), _token(found, shop, now))
    if kept != found or not file.exists():
        _write(file, kept)
    return kept


def _password(found: Credentials) -> str:
    user = User.objects.filter(username=ADMIN).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser(ADMIN, "admin@localhost", password)
        return password
    # Somebody else's admin, or one who has chosen a password since.
    return found.admin_password if user.check_password(found.admin_password) else ""


def _token(found: Credentials, shop: Shop, now: datetime) -> str:
    token = queries.api_token(found.api_token)
    if token is not None and token.shop_id == shop.pk and token.is_valid(now):
        return found.api_token
    return actions.create_api_token(shop=shop, scopes=SCOPES, name="Demo", now=now)[1]


def _read(file: Path) -> Credentials:
    try:
        kept = json.loads(file.read_text())
        return Credentials(**{name: str(kept.get(name, "")) for name in ("admin_password", "api_token")})
    except (FileNotFoundError, ValueError, AttributeError):
        return Credentials()


def _write(file: Path, credentials: Credentials) -> None:
    """Written beside and moved into place, so that it is never half there and never readable by others."""
    beside = file.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        json.dump(asdict(credentials), opened, indent=2)
    beside.replace(file)

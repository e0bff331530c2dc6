"""The demo shop's credentials: an admin user and an API token. They are stored in `demo.json` in the data directory,
readable by its owner alone, so that every start can print them. Other shops have no such file."""

import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from storefront.shops import queries
from storefront.shops.models import Shop, User
from storefront.staff import actions

ADMIN = "admin"
SCOPES = ["read_products", "read_cart", "write_cart"]


@dataclass
class Credentials:
    """An empty value is unknown, such as the password of an admin user who existed before."""

    admin_user: str = ADMIN
    admin_password: str = ""
    api_token: str = ""


def ensure_credentials(file: Path, *, shop: Shop, now: datetime) -> Credentials:
    """The stored credentials, with missing or invalid ones replaced by new ones."""
    found = _read(file)
    valid = Credentials(found.admin_user, _password(found), _token(found, shop, now))
    if valid != found or not file.exists():
        _write(file, valid)
    return valid


def _password(found: Credentials) -> str:
    user = User.objects.filter(username=ADMIN).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser(ADMIN, "admin@localhost", password)
        return password
    # Empty for an admin user that the demo did not create, or whose password was changed.
    return found.admin_password if user.check_password(found.admin_password) else ""


def _token(found: Credentials, shop: Shop, now: datetime) -> str:
    token = queries.api_token(found.api_token)
    if token is not None and token.shop_id == shop.pk and token.is_valid(now):
        return found.api_token
    return actions.create_api_token(shop=shop, scopes=SCOPES, name="Demo", now=now)[1]


def _read(file: Path) -> Credentials:
    try:
        stored = json.loads(file.read_text())
        return Credentials(**{name: str(stored.get(name, "")) for name in ("admin_password", "api_token")})
    except (FileNotFoundError, ValueError, AttributeError):
        return Credentials()


def _write(file: Path, credentials: Credentials) -> None:
    """Writes a new file and renames it, so that the file is always complete and never readable by others."""
    new_file = file.with_suffix(".new")
    new_file.unlink(missing_ok=True)
    with os.fdopen(os.open(new_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        json.dump(asdict(credentials), opened, indent=2)
    new_file.replace(file)

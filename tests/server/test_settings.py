"""Settings come from the environment alone. A wrong one is one sentence and exit 2, and a secret is never repeated."""

import json

import pytest

from tests.server.programs import storefront

SHOWN = """
import json
from django.conf import settings as s
print(json.dumps({name: getattr(s, name, None) for name in %r}, default=str))
"""


def settings(tmp_path, *names: str, **environment: str) -> dict:
    """What the product's settings are with these variables set."""
    shown = storefront(
        "shell", "--no-imports", "-c", SHOWN % (names,), **({"STOREFRONT_DATA_DIR": str(tmp_path)} | environment)
    )
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def test_without_any_variable_everything_has_a_default(tmp_path):
    names = ("DEBUG", "HTTPS", "ALLOW_PRIVATE_CALLBACKS", "REDIS_URL", "EMAIL_BACKEND", "SESSION_COOKIE_SECURE")
    assert settings(tmp_path, *names) == {
        "DEBUG": False,
        "HTTPS": False,
        "ALLOW_PRIVATE_CALLBACKS": False,
        "REDIS_URL": None,
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
        "SESSION_COOKIE_SECURE": False,
    }


def test_each_variable_reaches_its_setting(tmp_path):
    found = settings(
        tmp_path,
        *("DEBUG", "HTTPS", "ALLOW_PRIVATE_CALLBACKS", "REDIS_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"),
        *("EMAIL_HOST", "EMAIL_PORT", "EMAIL_USE_TLS", "EMAIL_HOST_PASSWORD", "DEFAULT_FROM_EMAIL"),
        *("SESSION_COOKIE_SECURE", "SECURE_PROXY_SSL_HEADER", "LOGGING", "DATABASES"),
        STOREFRONT_DEBUG="yes",
        STOREFRONT_HTTPS="1",
        STOREFRONT_ALLOW_PRIVATE_CALLBACKS="on",
        STOREFRONT_LOG_LEVEL="warning",
        STOREFRONT_EMAIL_FROM="shop@example.com",
        REDIS_URL="redis://127.0.0.1:6379/1",
        SECRET_KEY=f"{'n' * 32},{'o' * 32}",
        EMAIL_URL="smtp+tls://me:pass@mail.example.com:587",
        DATABASE_URL="postgres://me:p%40ss@db.example.com:6432/shops?sslmode=require",
    )
    logging, databases = found.pop("LOGGING"), found.pop("DATABASES")
    assert logging["root"]["level"] == "WARNING"
    assert databases["default"]["ENGINE"] == "storefront.server.postgresql"
    assert (databases["default"]["PASSWORD"], databases["default"]["NAME"]) == ("p@ss", "shops")
    assert databases["default"]["OPTIONS"]["sslmode"] == "require"
    assert found == {
        "DEBUG": True,
        "HTTPS": True,
        "ALLOW_PRIVATE_CALLBACKS": True,
        "REDIS_URL": "redis://127.0.0.1:6379/1",
        "SECRET_KEY": "n" * 32,
        "SECRET_KEY_FALLBACKS": ["o" * 32],
        "EMAIL_HOST": "mail.example.com",
        "EMAIL_PORT": 587,
        "EMAIL_USE_TLS": True,
        "EMAIL_HOST_PASSWORD": "pass",
        "DEFAULT_FROM_EMAIL": "shop@example.com",
        "SESSION_COOKIE_SECURE": True,
        "SECURE_PROXY_SSL_HEADER": ["HTTP_X_FORWARDED_PROTO", "https"],
    }


def test_the_secret_key_is_made_once_and_readable_by_its_owner_alone(tmp_path):
    first = settings(tmp_path, "SECRET_KEY")["SECRET_KEY"]
    assert len(first) >= 64
    assert settings(tmp_path, "SECRET_KEY")["SECRET_KEY"] == first
    (kept,) = tmp_path.glob("secret-key*")
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", "hidden-word"),
        ("SECRET_KEY", f"{'n' * 32},hidden-word"),
        ("DATABASE_URL", "mysql://me:hidden-word@localhost/shop"),
        ("DATABASE_URL", "postgres://me:hidden-word@localhost:port/shop"),
        ("DATABASE_URL", "postgres://me:hidden-word@localhost"),
        ("DATABASE_URL", "postgres://[hidden-word"),
        ("DATABASE_URL", "hidden-word"),
        ("REDIS_URL", "http://:hidden-word@localhost"),
        ("EMAIL_URL", "smpt://me:hidden-word@localhost"),
    ],
)
def test_a_wrong_value_that_may_hold_a_secret_is_not_repeated(tmp_path, name, value):
    refused = storefront("help", **({"STOREFRONT_DATA_DIR": str(tmp_path)} | {name: value}))
    assert (refused.returncode, refused.stdout) == (2, "")
    (line,) = refused.stderr.splitlines()
    assert line.startswith(f"storefront: {name} is not understood; expected ")
    assert "hidden-word" not in line


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("STOREFRONT_DEBUG", "perhaps", "1 or 0"),
        ("STOREFRONT_HTTPS", "https", "1 or 0"),
        ("STOREFRONT_ALLOW_PRIVATE_CALLBACKS", "2", "1 or 0"),
        ("STOREFRONT_LOG_LEVEL", "loud", "one of debug, info, warning, error"),
        ("STOREFRONT_DATA_DIR", "/dev/null/var", "a directory that can be made and written (Not a directory)"),
    ],
)
def test_any_other_wrong_value_is_repeated_with_what_was_expected(tmp_path, name, value, expected):
    refused = storefront("help", **({"STOREFRONT_DATA_DIR": str(tmp_path)} | {name: value}))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"storefront: {name} is '{value}'; expected {expected}.\n"


def test_the_readme_lists_every_variable_that_is_read():
    import re
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    source = (root / "storefront/server/environment.py").read_text() + (
        root / "storefront/server/settings.py"
    ).read_text()
    read = set(re.findall(r'"(STOREFRONT_[A-Z_]+|SECRET_KEY|[A-Z]+_URL)"', source))
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", (root / "README.md").read_text(), re.MULTILINE))
    assert read == listed

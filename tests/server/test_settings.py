"""Settings come from the environment alone. A wrong one is one sentence and exit 2, and a secret is never repeated."""

import os
import re
import runpy
from pathlib import Path
from unittest.mock import patch

import pytest
from limits import parse_many

from storefront.kit.callers import networks
from tests.server.programs import clean_environment, storefront

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "storefront" / "server"
PROXIES = "addresses or networks such as 127.0.0.1,10.0.0.0/8, separated by commas"
HOST = "a host name such as admin.example.com, or with its port admin.example.com:8443"


def settings(tmp_path, *names: str, **environment: str) -> dict:
    """The product's settings of these names, read anew with these environment variables."""
    given = clean_environment(**({"STOREFRONT_DATA_DIR": str(tmp_path)} | environment))
    with patch.dict(os.environ, given, clear=True):
        found = runpy.run_path(str(SERVER / "settings.py"))
    return {name: found.get(name) for name in names}


@pytest.fixture
def refusal(tmp_path, capsys):
    """A function that returns the sentence with which these environment variables are refused."""

    def refusal(**environment: str) -> str:
        with pytest.raises(SystemExit, check=lambda end: end.code == 2):
            settings(tmp_path, **environment)
        shown = capsys.readouterr()
        assert (shown.out, shown.err[:12], shown.err.count("\n")) == ("", "storefront: ", 1)
        return shown.err[12:-1]

    return refusal


@pytest.mark.proof
def test_a_wrong_value_ends_any_command_with_its_sentence_alone(tmp_path):
    refused = storefront("help", STOREFRONT_DATA_DIR=str(tmp_path), STOREFRONT_DEBUG="perhaps")
    sentence = "storefront: STOREFRONT_DEBUG is 'perhaps'; expected 1 or 0.\n"
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", sentence)


def test_without_any_variable_everything_has_a_default(tmp_path):
    expected = {
        "STAFF_SECOND_FACTOR": "owners",
        "DEBUG": False,
        "HTTPS": False,
        "ALLOW_PRIVATE_CALLBACKS": False,
        "REDIS_URL": None,
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
        "SESSION_COOKIE_SECURE": False,
    }
    assert settings(tmp_path, *expected) == expected


def test_limits_on_visitors_have_defaults_and_can_be_set_and_turned_off(tmp_path):
    names = ("LIMITS", "MAX_UNPAID", "MAX_UNPAID_PER_EMAIL")
    found = settings(tmp_path, *names)
    assert found["LIMITS"]["mails_each"] == tuple(parse_many("20/hour, 60/day"))
    assert (found["MAX_UNPAID"], found["MAX_UNPAID_PER_EMAIL"]) == (20, 10)
    assert all(found["LIMITS"].values())
    changed = settings(
        tmp_path,
        *names,
        STOREFRONT_LIMIT_ORDERS="5 per 10 minutes, 20/day",
        STOREFRONT_LIMIT_BASKETS="0",
        STOREFRONT_LIMIT_UNPAID="0",
    )
    orders = tuple(parse_many("5 per 10 minutes, 20/day"))
    assert changed["LIMITS"] == found["LIMITS"] | {"orders": orders, "baskets": ()}
    assert changed["MAX_UNPAID"] == 0


@pytest.mark.parametrize("text", ["many", "0/hour", "-1/hour", "20", "20/hour,", "20/fortnight"])
def test_an_invalid_limit_is_refused(refusal, text):
    expected = f"STOREFRONT_LIMIT_ORDERS is {text!r}; expected a limit such as 20/hour"
    assert refusal(STOREFRONT_LIMIT_ORDERS=text).startswith(expected)


def test_each_variable_reaches_its_setting(tmp_path):
    found = settings(
        tmp_path,
        *("DEBUG", "HTTPS", "ALLOW_PRIVATE_CALLBACKS", "REDIS_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"),
        *("EMAIL_HOST", "EMAIL_PORT", "EMAIL_USE_TLS", "EMAIL_HOST_PASSWORD", "DEFAULT_FROM_EMAIL"),
        *("SESSION_COOKIE_SECURE", "TRUSTED_PROXIES", "HSTS_SECONDS", "SECURITY_CONTACT", "STAFF_SECOND_FACTOR"),
        *("LOGGING", "DATABASES"),
        STOREFRONT_DEBUG="yes",
        STOREFRONT_HTTPS="1",
        STOREFRONT_ALLOW_PRIVATE_CALLBACKS="on",
        STOREFRONT_TRUSTED_PROXIES="10.0.0.0/8, 2001:db8::7",
        STOREFRONT_HSTS_SECONDS="300",
        STOREFRONT_SECURITY_CONTACT="mailto:safe@example.com, https://example.com/safe",
        STOREFRONT_LOG_LEVEL="warning",
        STOREFRONT_EMAIL_FROM="shop@example.com",
        STOREFRONT_STAFF_SECOND_FACTOR="All",
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
        "TRUSTED_PROXIES": networks("10.0.0.0/8, 2001:db8::7"),
        "HSTS_SECONDS": 300,
        "SECURITY_CONTACT": ["mailto:safe@example.com", "https://example.com/safe"],
        "STAFF_SECOND_FACTOR": "all",
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
        ("DATABASE_URL", "postgres://me:p@hidden-word@localhost/shop"),
        ("DATABASE_URL", "postgres://[hidden-word"),
        ("DATABASE_URL", "hidden-word"),
        ("REDIS_URL", "http://:hidden-word@localhost"),
        ("EMAIL_URL", "smpt://me:hidden-word@localhost"),
    ],
)
def test_a_wrong_value_that_may_hold_a_secret_is_not_repeated(refusal, name, value):
    sentence = refusal(**{name: value})
    assert sentence.startswith(f"{name} is not understood; expected ")
    assert "hidden-word" not in sentence


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("STOREFRONT_HTTPS", "https", "1 or 0"),
        ("STOREFRONT_TEMPLATES", "/nowhere", "a folder that exists"),
        ("STOREFRONT_ALLOW_PRIVATE_CALLBACKS", "2", "1 or 0"),
        ("STOREFRONT_BODY_SECONDS", "0", "a whole number of 1 or more"),
        ("STOREFRONT_EVENT_DAYS", "0", "a whole number of 1 or more"),
        ("STOREFRONT_HSTS_SECONDS", "-1", "a whole number of 0 or more"),
        ("STOREFRONT_TRUSTED_PROXIES", "10.0.0.1/8", PROXIES),
        ("STOREFRONT_TRUSTED_PROXIES", "127.0.0.1,proxy.example.com", PROXIES),
        ("STOREFRONT_SECURITY_CONTACT", "me@example.com", "mailto:security@example.com or an https:// address"),
        ("STOREFRONT_ADMIN_HOST", "https://admin.example.com", HOST),
        ("STOREFRONT_ADMIN_HOST", "admin.example.com/", HOST),
        ("STOREFRONT_SECURE_HOST", "a b", HOST),
        ("STOREFRONT_SECURE_HOST", "secure.example.com:port", HOST),
        ("STOREFRONT_LOG_LEVEL", "loud", "one of debug, info, warning, error"),
        ("STOREFRONT_STAFF_SECOND_FACTOR", "everybody", "one of owners, all, none"),
        ("STOREFRONT_DATA_DIR", "/dev/null/var", "a directory that can be made and written (Not a directory)"),
    ],
)
def test_any_other_wrong_value_is_repeated_with_what_was_expected(refusal, name, value, expected):
    assert refusal(**{name: value}) == f"{name} is '{value}'; expected {expected}."


@pytest.mark.parametrize(
    ("admin", "secure", "named", "expected"),
    [
        ("a.example.com", "", "SECURE", "a host name, since STOREFRONT_ADMIN_HOST is set"),
        ("", "a.example.com", "ADMIN", "a host name, since STOREFRONT_SECURE_HOST is set"),
        ("a.example.com", "A.example.com:8443", "SECURE", "another host name than that of STOREFRONT_ADMIN_HOST"),
    ],
)
def test_the_hosts_of_admin_and_secure_pages_come_together_and_differ(refusal, admin, secure, named, expected):
    given = {"ADMIN": admin, "SECURE": secure}
    sentence = refusal(STOREFRONT_ADMIN_HOST=admin, STOREFRONT_SECURE_HOST=secure)
    assert sentence == f"STOREFRONT_{named}_HOST is {given[named]!r}; expected {expected}."


def test_the_hosts_of_admin_and_secure_pages_reach_their_settings(tmp_path):
    found = settings(
        tmp_path,
        *("ADMIN_HOST", "SECURE_HOST"),
        STOREFRONT_ADMIN_HOST="Admin.Example.com",
        STOREFRONT_SECURE_HOST="secure.example.com:8443",
    )
    assert found == {"ADMIN_HOST": "admin.example.com", "SECURE_HOST": "secure.example.com:8443"}
    assert settings(tmp_path, "ADMIN_HOST", "SECURE_HOST") == {"ADMIN_HOST": "", "SECURE_HOST": ""}


def test_a_database_can_be_on_several_hosts(tmp_path):
    url = "postgres://me:p%40ss@a.example.com:5432,b.example.com:5433/shops?target_session_attrs=read-write"
    database = settings(tmp_path, "DATABASES", DATABASE_URL=url)["DATABASES"]["default"]
    places = (database["HOST"], database["PORT"], database["NAME"], database["PASSWORD"])
    assert places == ("a.example.com,b.example.com", "5432,5433", "shops", "p@ss")
    assert database["OPTIONS"]["target_session_attrs"] == "read-write"
    assert database["OPTIONS"]["connect_timeout"] == 3


POOLED = {"DATABASE_URL": "postgres://me@pool/shop", "STOREFRONT_PGBOUNCER": "1"}
DIRECT = {"DATABASE_DIRECT_URL": "postgres://me@direct:5432/shop?sslmode=require"}


def test_behind_pgbouncer_nothing_outlasts_a_transaction(tmp_path):
    found = settings(tmp_path, "DATABASES", "DATABASE_DIRECT", **POOLED, **DIRECT)
    pooled, direct = found["DATABASES"]["default"], found["DATABASE_DIRECT"]
    assert (pooled["HOST"], pooled["OPTIONS"]["prepare_threshold"], pooled["OPTIONS"]["options"]) == ("pool", None, "")
    assert pooled["DISABLE_SERVER_SIDE_CURSORS"] is True
    assert (direct["HOST"], direct["PORT"], direct["OPTIONS"]["sslmode"]) == ("direct", "5432", "require")
    assert settings(tmp_path, "DATABASE_DIRECT") == {"DATABASE_DIRECT": None}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            POOLED,
            "DATABASE_DIRECT_URL is ''; expected the PostgreSQL server's own URL, since STOREFRONT_PGBOUNCER is set: "
            "LISTEN and migrations need it.",
        ),
        (DIRECT, "STOREFRONT_PGBOUNCER is ''; expected 1, since DATABASE_DIRECT_URL is set."),
        (
            {"STOREFRONT_PGBOUNCER": "1"},
            "STOREFRONT_PGBOUNCER is '1'; expected 0, since DATABASE_URL is not that of a PostgreSQL database.",
        ),
    ],
)
def test_pgbouncer_and_the_url_past_it_come_together(refusal, given, sentence):
    assert refusal(**given) == sentence


PRIMARY = {"DATABASE_URL": "postgres://me@a/shop"}


def test_replicas_are_read_only_and_given_up_soon(tmp_path):
    urls = "postgres://me@b,c:5433/shop?sslmode=require, postgresql://me@d/shop"
    found = settings(tmp_path, "DATABASES", "REPLICAS", **PRIMARY, DATABASE_REPLICA_URLS=urls)
    first, second = found["REPLICAS"].values()
    assert list(found["DATABASES"]) == ["default", "replica1", "replica2"]
    assert (first["HOST"], first["OPTIONS"]["sslmode"], second["HOST"]) == ("b,c", "require", "d")
    assert "-c default_transaction_read_only=on" in first["OPTIONS"]["options"]
    assert first["OPTIONS"]["connect_timeout"] == 2
    assert settings(tmp_path, "REPLICAS", **PRIMARY) == {"REPLICAS": {}}


def test_replicas_behind_pgbouncer_get_no_start_parameters(tmp_path):
    given = POOLED | DIRECT | {"DATABASE_REPLICA_URLS": "postgres://me@pool/replica"}
    found = settings(tmp_path, "REPLICAS", "REPLICAS_POOLED", **given)
    options = found["REPLICAS"]["replica1"]["OPTIONS"]
    assert (options["options"], options["prepare_threshold"], found["REPLICAS_POOLED"]) == ("", None, True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "nothing, since DATABASE_URL is not a PostgreSQL database's: SQLite has no replicas"),
        (PRIMARY, "URLs of other servers than that of DATABASE_URL, each once"),
    ],
)
def test_replicas_are_other_servers_of_postgresql(refusal, given, expected):
    sentence = refusal(**given, DATABASE_REPLICA_URLS="postgres://me:secret@a/shop")
    assert sentence == f"DATABASE_REPLICA_URLS is not understood; expected {expected}."


def test_files_are_in_the_data_directory_or_in_two_buckets(tmp_path):
    names = ("STORAGES", "MEDIA_URL")
    local = settings(tmp_path, *names)["STORAGES"]
    assert local["default"]["OPTIONS"] == {"base_url": "/media/"}
    assert local["private"]["OPTIONS"]["location"] == tmp_path / "private"
    buckets = {"STOREFRONT_S3_MEDIA_BUCKET": "media", "STOREFRONT_S3_PRIVATE_BUCKET": "private"}
    found = settings(tmp_path, *names, **buckets, STOREFRONT_MEDIA_URL="https://cdn.example.com/shop")
    assert found["STORAGES"]["default"]["OPTIONS"] == {
        "base_url": "https://cdn.example.com/shop/",
        "bucket_name": "media",
    }
    assert found["STORAGES"]["private"]["OPTIONS"] == {"bucket_name": "private"}
    assert found["MEDIA_URL"] == "/media/"


@pytest.mark.parametrize(
    ("media", "private", "named"), [("a", "", "PRIVATE"), ("", "a", "MEDIA"), ("a", "a", "PRIVATE")]
)
def test_pictures_and_private_files_need_a_bucket_each(refusal, media, private, named):
    sentence = refusal(STOREFRONT_S3_MEDIA_BUCKET=media, STOREFRONT_S3_PRIVATE_BUCKET=private)
    assert sentence.startswith(f"STOREFRONT_S3_{named}_BUCKET is ")
    assert sentence.endswith("expected a bucket of its own: pictures and private files need one each.")


def test_the_configuration_page_lists_every_variable_that_is_read():
    source = "".join((SERVER / f"{name}.py").read_text() for name in ("environment", "replica_urls", "settings"))
    read = set(re.findall(r'"(STOREFRONT_[A-Z0-9_]+|OTEL_[A-Z_]+|SECRET_KEY|[A-Z_]+_URLS?)"', source))
    listed = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", (ROOT / "docs/configuration.md").read_text(), re.MULTILINE))
    assert read == listed


def test_the_deployment_page_lists_every_limit_on_visitors_with_its_default(tmp_path):
    found = settings(tmp_path, "LIMITS", "MAX_UNPAID", "MAX_UNPAID_PER_EMAIL")
    page = (ROOT / "docs/deployment.md").read_text()
    listed = dict(re.findall(r"^\| `STOREFRONT_LIMIT_([A-Z_]+)` \| `([^`]+)` \|", page, re.MULTILINE))
    unpaid = {"UNPAID": str(found["MAX_UNPAID"]), "UNPAID_EACH": str(found["MAX_UNPAID_PER_EMAIL"])}
    rates = {name: text for name, text in listed.items() if name not in unpaid}
    assert {name: listed[name] for name in unpaid} == unpaid
    assert {name.lower(): tuple(parse_many(text)) for name, text in rates.items()} == found["LIMITS"]


@pytest.mark.proof
def test_templates_of_the_operator_come_first(tmp_path):
    (tmp_path / "website").mkdir()
    (tmp_path / "website" / "footer.html").write_text("Ours")
    code = "from django.template.loader import render_to_string; print(render_to_string('website/footer.html'))"
    shown = storefront(
        "shell", "--no-imports", "-c", code, STOREFRONT_DATA_DIR=str(tmp_path), STOREFRONT_TEMPLATES=str(tmp_path)
    )
    assert shown.stdout == "Ours\n", shown.stderr

"""The command line as scripts and people meet it: what it prints where, and how it ends."""

import json

import pytest

from storefront.server import cli
from tests.server.programs import storefront

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

SHOP = ["--domain", "shop.example.com", "--name", "Lighthouse", "--base-url", "https://shop.example.com"]


def test_without_arguments_our_commands_are_listed_by_group(capsys):
    assert cli.run(["storefront"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    groups = ["Shops", "Catalogue", "Run", "Maintenance", "Django's own commands"]
    lines = shown.out.splitlines()
    assert [line for line in lines if line in groups] == groups
    for names in cli.GROUPS.values():
        for name in names:
            (line,) = [line for line in lines if line.startswith(f"  {name} ")]
            assert line.endswith(".")


@pytest.mark.parametrize("asked", ["help", "--help", "-h"])
def test_help_shows_the_same(capsys, asked):
    assert cli.run(["storefront", asked]) == 0
    assert capsys.readouterr().out == cli.overview() + "\n"


def test_every_command_of_ours_is_listed():
    from django.core.management import get_commands

    ours = {name for name, app in get_commands().items() if app == "storefront.server"}
    assert ours <= {name for names in cli.GROUPS.values() for name in names}


def test_help_with_a_command_shows_its_options(capsys):
    assert cli.run(["storefront", "help", "createtoken"]) == 0
    assert "--scopes" in capsys.readouterr().out


def test_an_unknown_command_is_one_sentence_with_the_nearest_name(capsys):
    assert cli.run(["storefront", "crateshop"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "storefront: There is no command crateshop; did you mean createshop?\n"


def test_a_script_creates_a_shop_and_a_token(deployment):
    made = storefront("createshop", *SHOP, "--currency", "SEK", "--email", "hello@example.com", **deployment)
    assert (made.returncode, made.stderr) == (0, "")
    (line,) = made.stdout.splitlines()
    shop = json.loads(line)
    assert {name: shop[name] for name in ("domain", "currency", "email")} == {
        "domain": "shop.example.com",
        "currency": "SEK",
        "email": "hello@example.com",
    }
    token = storefront(
        "createtoken", "--shop", "shop.example.com", "--scopes", "read_products,write_cart", **deployment
    )
    assert (token.returncode, token.stderr) == (0, "")
    (line,) = token.stdout.splitlines()
    assert line.startswith("api_")


def test_a_refusal_is_a_sentence_per_field_and_exit_2(deployment):
    refused = storefront("createshop", *SHOP[:4], "--base-url", "shop", "--currency", "EURO", **deployment)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.splitlines() == [
        "storefront: --base-url: Expected an absolute URL such as https://shop.example.com.",
        "storefront: --currency: Expected an ISO 4217 code such as EUR.",
    ]


def test_an_unknown_shop_is_reported_with_existing_shops(deployment):
    storefront("createshop", *SHOP, **deployment)
    refused = storefront("createtoken", "--shop", "shop.example.org", "--scopes", "read_cart", **deployment)
    assert refused.returncode == 2
    assert refused.stderr == ("storefront: --shop: No shop has the domain shop.example.org. Shops: shop.example.com.\n")


def test_wrong_use_shows_the_usage_and_exits_2(capsys):
    assert cli.run(["storefront", "createtoken", "--shop", "a", "--scopes", "read_cart", "--expires", "soon"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "expected a number of days from 1 to 36500, not soon" in shown.err


def test_a_database_that_is_not_migrated_is_one_sentence_and_exit_1(tmp_path):
    failed = storefront("createshop", *SHOP, STOREFRONT_DATA_DIR=str(tmp_path))
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "storefront: The database is not migrated; run storefront migrate first.\n"


def test_an_unreachable_database_is_one_sentence_without_the_password(tmp_path):
    url = "postgres://shop:hidden-word@127.0.0.1:9/shop"
    failed = storefront("createshop", *SHOP, STOREFRONT_DATA_DIR=str(tmp_path), DATABASE_URL=url)
    assert (failed.returncode, failed.stdout) == (1, "")
    (line,) = failed.stderr.splitlines()
    assert line.startswith("storefront: The database cannot be used: ")
    assert "hidden-word" not in failed.stderr


def test_an_unexpected_error_is_one_sentence_and_a_traceback_only_on_request(capsys, monkeypatch):
    def fail(_argv):
        raise KeyError("shelf")

    monkeypatch.setattr(cli, "dispatch", fail)
    assert cli.run(["storefront", "worker"]) == 1
    assert capsys.readouterr().err == (
        "storefront: Unexpected error (KeyError: 'shelf'). Use --traceback to see where.\n"
    )
    with pytest.raises(KeyError):
        cli.run(["storefront", "worker", "--traceback"])


def test_migrate_writes_its_messages_to_stderr(deployment):
    done = storefront("migrate", **deployment)
    assert (done.returncode, done.stdout) == (0, "")
    assert "No migrations to apply." in done.stderr


def test_migrate_applies_what_is_missing(deployment):
    back = storefront("migrate", "sessions", "zero", **deployment)
    assert back.returncode == 0, back.stderr
    done = storefront("migrate", **deployment)
    assert (done.returncode, done.stdout) == (0, "")
    assert "sessions.0001_initial... OK" in done.stderr

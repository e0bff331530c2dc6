"""createapp, installapp, uninstallapp and webhooks test, as the operator types them."""

import json

import pytest
from django.core.management import call_command

from storefront.apps import actions
from storefront.installations.models import App, Installation
from storefront.kit import clock
from storefront.server import cli
from storefront.shops.models import AuditEntry
from storefront.shops.scopes import SCOPES
from storefront.webhooks.models import Delivery
from tests.client import ApiClient
from tests.factories.apps import install, make_app
from tests.webhooks.factories import register

GIFTS = ["createapp", "--name", "Gift notes", "--slug", "gifts", "--install-url", "https://gifts.example.com/install"]


@pytest.fixture
def storefront(capsys):
    """Runs a command; gives its exit code, and what it said on stdout and on stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        # Not the script itself, which ends with closing the test's database.
        code = cli.exit_code_of(lambda: call_command(*arguments) or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def shop_status(token: str) -> int:
    return ApiClient(token.strip(), prefix="/api/apps").get("/shop").status_code


def test_an_app_is_created_installed_and_uninstalled(storefront, shop):
    code, out, err = storefront(*GIFTS, "--scopes", "read_shop, write_extensions")
    assert (code, err) == (0, "")
    app = App.objects.get()
    assert json.loads(out) == {
        "id": app.pk,
        "name": "Gift notes",
        "slug": "gifts",
        "install_url": "https://gifts.example.com/install",
        "scopes": ["read_shop", "write_extensions"],
        "secret": app.secret,
    }
    code, token, err = storefront("installapp", "--shop", shop.domain, "--app", "gifts")
    assert (code, err) == (0, "")
    assert shop_status(token) == 200
    assert Installation.objects.get().scopes == app.scopes
    code, out, err = storefront("uninstallapp", "--shop", shop.domain, "--app", "gifts")
    assert (code, out) == (0, "")
    assert "Gift notes has been uninstalled from Lighthouse." in err
    assert shop_status(token) == 401


def test_some_or_no_scopes_can_be_granted(storefront, shop, other_shop):
    make_app("gifts")
    storefront("installapp", "--shop", shop.domain, "--app", "gifts", "--scopes", "read_shop,read_orders")
    storefront("installapp", "--shop", other_shop.domain, "--app", "gifts", "--scopes", "")
    scopes = [installation.scopes for installation in Installation.objects.order_by("pk")]
    assert scopes == [["read_orders", "read_shop"], []]


def test_contact_and_description_are_kept(storefront, db):
    told = ["--contact", "dev@example.com", "--description", "A card in each parcel."]
    assert storefront(*GIFTS, "--scopes", ",".join(SCOPES), *told)[0] == 0
    app = App.objects.get()
    assert (app.contact, app.description) == ("dev@example.com", "A card in each parcel.")


WRONG = {
    "unknown scope": ([*GIFTS, "--scopes", "fly"], "--scopes: Unknown: fly. Known: read_products"),
    "bad URL": (
        ["createapp", "--name", "N", "--slug", "s", "--scopes", "read_shop", "--install-url", "gifts"],
        "--install-url: The URL must be absolute",
    ),
    "slug taken": (
        [*GIFTS[:4], "notes", *GIFTS[5:], "--scopes", ""],
        "--slug: Another app already has the slug notes.",
    ),
    "bad contact": ([*GIFTS, "--scopes", "", "--contact", "me"], "--contact: Expected an email address."),
    "no such shop": (["installapp", "--shop", "x", "--app", "notes"], "--shop: No shop has the domain x. Shops: "),
    "no such app": (
        ["installapp", "--shop", "shop.example.com", "--app", "x"],
        "--app: No app has the slug x. Apps: notes.",
    ),
    "scope not asked for": (
        ["installapp", "--shop", "shop.example.com", "--app", "notes", "--scopes", "read_shop,read_orders"],
        "--scopes: Notes does not ask for read_orders. It asks for read_shop.",
    ),
    "not installed": (
        ["uninstallapp", "--shop", "shop.example.com", "--app", "notes"],
        "This app is not installed in this shop.",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_a_sentence_and_exit_2(storefront, shop, case):
    make_app("notes", scopes=("read_shop",))
    arguments, sentence = WRONG[case]
    code, out, err = storefront(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_an_app_that_is_installed_is_not_installed_again(storefront, shop):
    install(shop, app=make_app("notes"))
    code, out, err = storefront("installapp", "--shop", shop.domain, "--app", "notes")
    assert (code, out, err) == (2, "", "storefront: This app is already installed in this shop.\n")


def test_without_any_app_the_error_says_how_to_create_one(storefront, shop):
    assert "Create one with storefront createapp." in storefront("installapp", "--shop", shop.domain, "--app", "x")[2]


def test_an_install_url_without_tls_names_the_setting_for_development(db, storefront, settings):
    command = ["createapp", "--name", "N", "--slug", "s", "--scopes", "", "--install-url", "http://localhost:9000/"]
    settings.ALLOW_PRIVATE_CALLBACKS = False
    code, out, err = storefront(*command)
    assert (code, out, App.objects.count()) == (2, "", 0)
    assert "--install-url: The URL must begin with https://." in err
    assert "STOREFRONT_ALLOW_PRIVATE_CALLBACKS=1" in err
    settings.ALLOW_PRIVATE_CALLBACKS = True
    assert storefront(*command)[0] == 0


def test_a_test_delivery_is_sent(storefront, shop, other_shop):
    gifts = make_app("gifts")
    here, elsewhere = install(shop, app=gifts), install(other_shop, app=gifts)
    register(here, "https://gifts.example.com/hook")
    register(elsewhere, "https://gifts.example.com/hook", "order.paid")
    told = ["webhooks", "test", "--shop", shop.domain, "--app", "gifts", "--topic"]
    code, out, err = storefront(*told, "order.placed")
    sent = Delivery.objects.get(kind="test")
    assert (code, json.loads(out)["id"], sent.shop) == (0, sent.pk, shop)
    assert "The worker sends it." in err
    assert AuditEntry.objects.get(action="webhook.tested").actor_kind == "command"
    code, out, err = storefront(*told, "order.paid")
    assert (code, out) == (2, "")
    assert err == "storefront: --topic: Gifts has no webhook for order.paid. It has: order.placed.\n"
    actions.uninstall_app(shop=shop, installation=here.installation, now=clock.now())
    assert storefront(*told, "order.placed")[0] == 2
    assert Delivery.objects.filter(kind="test").count() == 1

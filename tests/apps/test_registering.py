"""The operator registers an app (R-APP-1)."""

import pytest

from storefront.apps import actions
from storefront.installations.models import App
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from tests.factories.apps import make_app

GIFT_NOTES = {
    "name": "Gift notes",
    "slug": "gift-notes",
    "install_url": "https://gifts.example.com/install",
    "scopes": ["write_extensions", "read_shop", "read_shop"],
}


def register(**given):
    return actions.register_app(**GIFT_NOTES | {"now": clock.now()} | given)


@pytest.mark.rule("R-APP-1")
def test_registers_an_app_and_returns_its_secret(db):
    _, secret = register(contact="dev@example.com", description="A card in each parcel.")
    stored = App.objects.get()
    assert (stored.name, stored.slug, stored.is_active) == ("Gift notes", "gift-notes", True)
    assert stored.scopes == ["read_shop", "write_extensions"]
    assert stored.secret == secret
    assert secret.startswith("whsec_")


@pytest.mark.rule("R-APP-1")
def test_the_secret_is_encrypted_at_rest(db):
    _, secret = register()
    assert secret.encode() not in bytes(App.objects.get().sealed_secret)


def test_an_app_can_ask_for_no_scopes(db):
    assert register(scopes=[])[0].scopes == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", " "),
        ("name", "n" * 101),
        ("slug", ""),
        ("slug", "Gift Notes"),
        ("slug", "gift--notes"),
        ("slug", "s" * 61),
        ("contact", "somebody"),
        ("install_url", "gifts.example.com"),
        ("install_url", "https://user:pass@gifts.example.com/"),
        ("install_url", "https://gifts.example.com/" + "x" * 2048),
        ("scopes", ["read_everything"]),
    ],
)
def test_refuses_invalid_values(db, field, value):
    with pytest.raises(InvalidFields) as refused:
        register(**{field: value})
    assert list(refused.value.errors) == [field]
    assert not App.objects.exists()


def test_refuses_a_private_install_url(db, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    for url in ("http://gifts.example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/"):
        with pytest.raises(InvalidFields) as refused:
            register(install_url=url)
        assert list(refused.value.errors) == ["install_url"]


def test_refuses_a_duplicate_slug(db):
    register()
    with pytest.raises(InvalidFields) as refused:
        register(name="Other")
    assert refused.value.errors == {"slug": ["Another app already has the slug gift-notes."]}


def test_a_new_secret_replaces_the_old_one(db):
    app = make_app()
    before = app.secret
    secret = actions.rotate_app_secret(app=app, now=clock.now())
    assert App.objects.get().secret == secret != before

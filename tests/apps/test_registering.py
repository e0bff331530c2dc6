"""An app is made by the operator (decisions: Registration of apps)."""

import pytest

from storefront.apps import actions
from storefront.apps.models import App
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


def test_an_app_is_registered_and_its_secret_handed_out(db):
    _, secret = register(contact="dev@example.com", description="A card in each parcel.")
    stored = App.objects.get()
    assert (stored.name, stored.slug, stored.is_active) == ("Gift notes", "gift-notes", True)
    assert stored.scopes == ["read_shop", "write_extensions"]
    assert stored.secret == secret
    assert secret.startswith("whsec_")


def test_the_secret_is_encrypted_at_rest(db):
    _, secret = register()
    assert secret.encode() not in bytes(App.objects.get().sealed_secret)


def test_an_app_may_ask_for_nothing(db):
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
def test_what_does_not_fit_is_refused_by_field(db, field, value):
    with pytest.raises(InvalidFields) as refused:
        register(**{field: value})
    assert list(refused.value.errors) == [field]
    assert not App.objects.exists()


def test_an_install_url_within_our_own_network_is_refused(db, settings):
    settings.ALLOW_PRIVATE_CALLBACKS = False
    for url in ("http://gifts.example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/"):
        with pytest.raises(InvalidFields) as refused:
            register(install_url=url)
        assert list(refused.value.errors) == ["install_url"]


def test_a_slug_is_given_once(db):
    register()
    with pytest.raises(InvalidFields) as refused:
        register(name="Other")
    assert refused.value.errors == {"slug": ["gift-notes is another app's slug."]}


def test_a_new_secret_takes_the_place_of_the_old(db):
    app = make_app()
    before = app.secret
    secret = actions.rotate_app_secret(app=app, now=clock.now())
    assert App.objects.get().secret == secret != before

"""`storefront reseal` makes old keys removable, and the server reports undecryptable secrets at its start."""

import json

import pytest
import structlog
from django.apps import apps
from django.core.management import call_command
from django.db.models import BinaryField

from storefront.installations.models import App, Installation
from storefront.kit import clock, sealing
from storefront.payments import accounts
from storefront.payments.models import ProviderAccount, ReplacedSettings
from storefront.server import sealed
from storefront.server.command import Failed
from storefront.shops.models import Authenticator
from storefront.staff import second_factor
from storefront.webhooks.models import Delivery
from tests.client import ApiClient
from tests.factories.apps import install
from tests.shops.factories import make_token
from tests.staff import make_staff, open_desk
from tests.webhooks.factories import delivering, emit, listener, register, wait_until

pytestmark = [pytest.mark.any_database, pytest.mark.slow]

OLD, NEW = "o" * 50, "n" * 50
# Public keys.
NOT_SECRET = {
    ("catalogue.FrequentWord", "products"),
    ("catalogue.FrequentWord", "in_markup"),
    ("shops.Passkey", "credential"),
}


@pytest.fixture
def keys(settings):
    """`keys(NEW, OLD)` is SECRET_KEY=new,old."""

    def set_to(newest: str, *others: str) -> None:
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = newest, list(others)

    set_to(OLD)
    return set_to


@pytest.fixture
def filled(shop, other_shop, keys):
    """A sealed value of every kind, encrypted with the old key."""
    for each in (shop, other_shop):
        app = install(each, "read_orders")
        Installation.objects.filter(pk=app.installation.pk).update(
            sealed_previous_secret=sealing.seal(b"whsec_before", purpose="webhook-secret")
        )
        api = ApiClient(make_token(each))
        api.delete("/cart", Idempotency_Key="k")
        key = sealing.seal(b"k" * 20, purpose=second_factor.PURPOSE)
        secrets = sealing.seal(b'{"secret_key": "sk_test_1"}', purpose=accounts.PURPOSE)
        ProviderAccount.objects.create(shop=each, provider="stripe", sealed=secrets)
        ReplacedSettings.objects.create(shop=each, provider="stripe", sealed=secrets, replaced_at=clock.now())
        user = make_staff(each, f"owner-{each.pk}")
        Authenticator.objects.create(user=user, name="Phone", sealed_key=key, created_at=clock.now())
    return shop


def contents() -> list[tuple[str, int, bytes]]:
    return [
        (kind.what, pk, sealing.unseal(bytes(value), purpose=kind.purpose))
        for kind in sealed.SEALED
        for pk, value in kind.rows.values_list("pk", kind.column)
    ]


def test_every_binary_column_is_listed():
    """Sealed values in a column that is not listed would be lost with the old key."""
    found = {
        (f"{model._meta.app_label}.{model.__name__}", field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, BinaryField) and model.__module__.startswith("storefront.")
    }
    assert found - NOT_SECRET == {(kind.model, kind.column) for kind in sealed.SEALED}


def test_the_old_key_can_be_removed_after_resealing(filled, keys, capsys):
    before = contents()
    assert {what for what, _, _ in before} == {kind.what for kind in sealed.SEALED}
    keys(NEW, OLD)
    call_command("reseal")
    answer = {each["what"]: each for each in json.loads(capsys.readouterr().out)}
    assert all(each["resealed"] == 2 and each["unreadable"] == 0 for each in answer.values())
    keys(NEW)
    assert contents() == before
    assert sealed.count_unreadable() == {}


def test_resealing_again_changes_nothing(filled, keys):
    keys(NEW, OLD)
    sealed.reseal()
    again = sealed.reseal()
    assert [(each.resealed, each.current) for each in again] == [(0, 2)] * len(sealed.SEALED)


def test_resealing_continues_after_an_interruption(filled, keys, monkeypatch):
    keys(NEW, OLD)
    monkeypatch.setattr(sealed, "BATCH_ROWS", 1)
    app = App.objects.order_by("pk").first()
    App.objects.filter(pk=app.pk).update(sealed_secret=sealing.reseal(bytes(app.sealed_secret), purpose="app-secret"))
    counts = sealed.reseal()[0]
    assert (counts.resealed, counts.current) == (1, 1)


def test_concurrent_changes_are_not_overwritten(filled, keys, monkeypatch):
    keys(NEW, OLD)
    renew = sealing.reseal

    def meanwhile(value: bytes, *, purpose: str) -> bytes:
        App.objects.update(sealed_secret=sealing.seal(b"whsec_newer", purpose="app-secret"))
        return renew(value, purpose=purpose)

    with monkeypatch.context() as patch:
        patch.setattr(sealing, "reseal", meanwhile)
        counts = sealed.reseal_kind(sealed.SEALED[0])
    assert counts.changed == 2
    assert {app.secret for app in App.objects.all()} == {"whsec_newer"}


def test_undecryptable_secrets_are_reported_and_kept(filled, keys):
    keys(NEW)
    before = bytes(App.objects.earliest("pk").sealed_secret)
    with pytest.raises(Failed, match="2 secrets of apps"):
        call_command("reseal")
    assert bytes(App.objects.earliest("pk").sealed_secret) == before


def test_the_server_reports_undecryptable_secrets_at_its_start(filled, keys):
    keys(NEW)
    with structlog.testing.capture_logs() as logged:
        sealed.warn_of_unreadable()
    told = {line["what"]: line["count"] for line in logged if line["event"] == "secrets_unreadable"}
    assert told == {kind.what: 2 for kind in sealed.SEALED}
    keys(NEW, OLD)
    with structlog.testing.capture_logs() as logged:
        sealed.warn_of_unreadable()
    assert logged == []


def test_the_check_at_the_start_is_bounded(filled, keys, monkeypatch, django_assert_num_queries):
    keys(NEW)
    monkeypatch.setattr(sealed, "SAMPLE_ROWS", 1)
    with django_assert_num_queries(2 * len(sealed.SEALED)):
        assert set(sealed.count_unreadable().values()) == {1}


@pytest.mark.django_db(transaction=True)
def test_webhooks_that_cannot_be_signed_wait_and_go_out_once_the_key_is_back(shop, other_shop, keys):
    from tests.receiver import receiving

    app = listener(shop, "read_orders")
    with receiving() as receiver:
        register(app, receiver.url)
        keys(NEW)
        other = install(other_shop, "read_orders")
        Delivery.objects.all().delete()
        register(other, f"{receiver.url}/other")
        with structlog.testing.capture_logs() as logged, delivering():
            for _ in range(5):
                emit(shop)
            emit(other_shop)
            assert receiver.next().path == "/other"
            wait_until(lambda: any(line["event"] == "webhooks_cannot_be_signed" for line in logged))
            wait_until(lambda: Delivery.objects.filter(due_at__gt=clock.now()).count() == 5)
        rows = Delivery.objects.filter(shop=shop)
        assert {(row.status, row.tries, row.lease) for row in rows} == {("pending", 0, None)}
        desk = open_desk(make_staff(shop, role="owner"))
        for path in ("webhooks/registration", "apps/installation"):
            assert "On hold: the secret cannot be read" in desk.get(f"/admin/{path}/").content.decode()
        keys(NEW, OLD)
        assert "On hold: the secret cannot be read" not in desk.get("/admin/webhooks/registration/").content.decode()
        rows.update(due_at=clock.now())
        with delivering():
            assert len({receiver.next().headers["webhook-id"] for _ in range(5)}) == 5
            wait_until(lambda: rows.filter(status="delivered").count() == 5)


def test_a_new_secret_signs_at_once_though_the_one_before_cannot_be_read(shop, keys):
    from storefront.apps.actions import rotate_secret

    app = install(shop)
    keys(NEW)
    secret = rotate_secret(shop=shop, installation=app.installation, now=clock.now())
    row = Installation.objects.get(pk=app.installation.pk)
    assert (row.signing_secrets(clock.now()), row.can_sign) == ([secret], True)

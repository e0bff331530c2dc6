"""When a token was last used is kept without a write for each call."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection

from storefront.kit import clock
from storefront.shops import token_use
from storefront.shops.models import ApiToken
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.races import run_concurrently
from tests.server.edges import EdgeClient
from tests.shops.factories import make_token
from tests.staff import make_staff, open_desk


def last_used() -> dict[int, datetime | None]:
    return dict(ApiToken.objects.values_list("pk", "last_used_at"))


def test_the_use_of_a_token_is_written_later(shop, other_shop, api, django_assert_num_queries):
    make_token(other_shop)
    row = ApiToken.objects.get(shop=shop)
    before = clock.now()
    api.get("/products")
    assert not any(last_used().values())
    with django_assert_num_queries(1):
        token_use.flush()
    row.refresh_from_db()
    assert before <= row.last_used_at <= clock.now()
    assert [pk for pk, moment in last_used().items() if moment] == [row.pk]
    with django_assert_num_queries(0):
        token_use.flush()


def test_the_use_of_an_apps_token_is_written(shop):
    app = install(shop, "read_shop")
    app.api.get("/shop")
    token_use.flush()
    assert ApiToken.objects.get(installation_id=app.installation.pk).last_used_at


def test_the_use_of_a_refused_token_is_not_written(shop, api):
    ApiToken.objects.update(revoked_at=clock.now())
    assert api.get("/products").status_code == 401
    ApiClient("api_" + "x" * 43).get("/products")
    assert token_use._used == {}


@pytest.mark.django_db(transaction=True)
def test_a_cached_response_counts_as_use(shop):
    token = make_token(shop)
    make_product(shop, "Cup")
    asked = EdgeClient()
    asked.ask("/products", token)
    token_use._used.clear()
    assert asked.is_hit("/products", token)
    assert list(token_use._used) == [ApiToken.objects.get().digest]


def test_an_older_use_does_not_replace_a_newer_one(shop, api):
    digest = ApiToken.objects.get().digest
    later = clock.now() + timedelta(minutes=5)
    ApiToken.objects.update(last_used_at=later)
    token_use.record_use(digest)
    token_use.flush()
    assert ApiToken.objects.get().last_used_at == later


def test_many_tokens_are_written_by_one_statement(shop, django_assert_num_queries):
    for _ in range(50):
        make_token(shop)
    for digest in ApiToken.objects.values_list("digest", flat=True):
        token_use.record_use(digest)
    with django_assert_num_queries(1):
        token_use.flush()
    assert all(last_used().values())


def test_uses_that_could_not_be_written_are_written_next_time(shop, api, monkeypatch):
    api.get("/products")

    def busy(_used):
        raise DatabaseError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(token_use, "_write", busy)
        token_use.flush()
    assert not any(last_used().values())
    token_use.flush()
    assert all(last_used().values())


@pytest.mark.django_db(transaction=True)
def test_concurrent_processes_keep_the_latest_use(shop):
    for _ in range(30):
        make_token(shop)
    digests = list(ApiToken.objects.values_list("digest", flat=True))
    began = int(clock.now().timestamp())

    def write(second: int, order: int) -> None:
        token_use._write([(digest, float(began + second)) for digest in digests[::order]])

    run_concurrently(*[lambda second=second: write(second, 1 if second % 2 else -1) for second in range(1, 9)])
    assert set(last_used().values()) == {datetime.fromtimestamp(began + 8, UTC)}
    connection.close()


def test_the_admin_shows_the_last_use(shop, api):
    desk = open_desk(make_staff(shop, role="owner"))
    row = ApiToken.objects.get()
    ApiToken.objects.update(last_used_at=datetime(2026, 5, 4, 10, 30, tzinfo=UTC))
    assert "12:30" in desk.page(row).content.decode()
    assert "12:30" in desk.get("/admin/shops/apitoken/").content.decode()

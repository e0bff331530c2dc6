"""Sessions that cannot be saved."""

from contextlib import contextmanager

import psycopg
import pytest
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.models import Session
from django.db import InternalError, OperationalError, connection

from storefront.server.sessions import SessionStore
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, fill_cart, link_to
from tests.client import ApiClient
from tests.shops.factories import make_token

pytestmark = pytest.mark.django_db


@contextmanager
def no_session_is_written(error, cause):
    def wrapper(execute, sql, params, many, context):
        if sql.startswith("UPDATE") and "django_session" in sql:
            raise error from cause
        return execute(sql, params, many, context)

    with connection.execute_wrapper(wrapper):
        yield


def test_a_session_that_was_deleted_meanwhile_is_not_created_again():
    session = SessionStore()
    session["a"] = 1
    session.save()
    Session.objects.all().delete()
    with pytest.raises(UpdateError):
        session.save()


@pytest.mark.parametrize(
    ("error", "cause"),
    [(OperationalError("disk full"), None), (InternalError("only reads"), psycopg.errors.ReadOnlySqlTransaction())],
    ids=["full disk", "standby"],
)
def test_a_page_is_503_if_the_database_cannot_save_its_session(shop, error, cause):
    api, mug = ApiClient(make_token(shop)), make_product(shop, "Mug", stock_qty=9)
    first, second = (link_to(api, fill_cart(api, {"product_id": mug.pk})) for _ in range(2))
    shopper = Shopper(shop, shows_errors=False)
    assert shopper.follow(first).status_code == 303
    with no_session_is_written(error, cause):
        assert shopper.follow(second).status_code == 503
    assert shopper.follow(second).status_code == 303

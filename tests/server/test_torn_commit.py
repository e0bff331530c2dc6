"""PgBouncer answers a COMMIT, and loses its server meanwhile: the caller gets a 503, and the connection is dropped."""

import pytest
from django.db import InternalError, connection, connections, transaction

from storefront.kit.database_errors import is_torn, is_unavailable
from storefront.kit.direct import direct_copy
from tests.server.relays import relay

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="PgBouncer is for PostgreSQL")

# In PostgreSQL's protocol: the completed command, and an error that ends the connection.
ENDED = b"SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0\0"
TORN = b"C\0\0\0\x0bCOMMIT\0" + b"E" + (len(ENDED) + 4).to_bytes(4) + ENDED


@pytest.mark.django_db(transaction=True)
def test_a_torn_commit_is_a_database_that_is_away_and_drops_the_connection():
    server = connections["default"].settings_dict
    answer = lambda chunk: TORN if chunk.startswith(b"Q") and b"COMMIT" in chunk else b""  # noqa: E731
    with relay(server["HOST"], int(server["PORT"] or 5432), answer=answer) as between:
        own = direct_copy(connections["default"])
        own.settings_dict = {**own.settings_dict, "HOST": "127.0.0.1", "PORT": between.port}
        connections["torn"] = own
        own.alias = "torn"
        try:
            own.ensure_connection()
            before = own.connection
            with (
                pytest.raises(InternalError, match="received 2 results from command") as raised,
                transaction.atomic(using="torn"),
                own.cursor() as cursor,
            ):
                cursor.execute("SELECT pg_current_xact_id()")
            assert is_torn(raised.value)
            assert is_unavailable(raised.value)
            assert before.closed
            with own.cursor() as cursor:
                cursor.execute("SELECT 1")
                assert own.connection is not before
        finally:
            own.close()
            del connections["torn"]


def test_another_internal_error_is_a_defect():
    assert not is_unavailable(InternalError("could not find block containing chunk"))

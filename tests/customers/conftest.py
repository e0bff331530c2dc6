import pytest

from tests.client import ApiClient
from tests.factories.apps import install


@pytest.fixture(params=["/api/apps", "/api/v1"])
def form(request) -> str:
    """The prefix of both APIs with this resource."""
    return request.param


@pytest.fixture
def app(shop, form) -> ApiClient:
    """An installed app with only the scopes to read and write customers."""
    return ApiClient(install(shop, "read_customers", "write_customers").token, prefix=form)


def one(answer) -> dict:
    """The single record of a response of either API."""
    body = answer.json()
    return body["customer"] if "customer" in body else body["data"]


def many(answer) -> list[dict]:
    """The records of a list response of either API."""
    body = answer.json()
    return body["customers"] if "customers" in body else body["data"]

import pytest

from tests.client import ApiClient
from tests.factories.apps import install


@pytest.fixture(params=["/api/apps", "/api/v1"])
def form(request) -> str:
    """Both forms of the resource: the App API's, and the public API's."""
    return request.param


@pytest.fixture
def app(shop, form) -> ApiClient:
    """An installed app that may read and write customers, and nothing else."""
    return ApiClient(install(shop, "read_customers", "write_customers").token, prefix=form)


def one(answer) -> dict:
    """The single record of an answer, in either form."""
    body = answer.json()
    return body["customer"] if "customer" in body else body["data"]


def many(answer) -> list[dict]:
    body = answer.json()
    return body["customers"] if "customers" in body else body["data"]

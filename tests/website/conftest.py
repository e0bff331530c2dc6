import pytest
from django.test import Client


@pytest.fixture
def visitor(shop) -> Client:
    """Somebody who looks at the shop with a browser."""
    return Client(headers={"host": shop.domain})


@pytest.fixture
def page(visitor):
    """`page("/products")` is the text of that page, which must be there."""

    def read(path: str, status: int = 200) -> str:
        answer = visitor.get(path)
        assert answer.status_code == status, answer.content
        return answer.content.decode()

    return read

"""An integration: calls the API with a token and JSON bodies."""

from typing import Any

from django.http import HttpResponse
from django.test import Client

from tests.answers import check_code


class ApiClient:
    """`api.post("/cart", {...}, cart="cart_...")` calls `/api/v1/cart`; answers are Django test responses."""

    def __init__(self, token: str | None, prefix: str = "/api/v1") -> None:
        self.token, self.prefix = token, prefix
        self.http = Client(raise_request_exception=False)

    def call(
        self, method: str, path: str, body: Any = None, *, cart: str | None = None, **headers: str
    ) -> HttpResponse:
        sent = {"Accept": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if cart:
            sent["X-Cart-Token"] = cart
        # Django's client sends an empty form where there is no body; without data it sends no Content-Type either.
        extra = {"data": "" if body is None else body, "content_type": "application/json"}
        if method in ("get", "head"):
            extra = {}
        answer = getattr(self.http, method)(self.prefix + path, headers=sent, **extra)
        if answer.status_code >= 400 and answer.content:
            check_code(answer)
        return answer

    def get(self, path: str, **given: Any) -> HttpResponse:
        return self.call("get", path, **given)

    def post(self, path: str, body: Any = None, **given: Any) -> HttpResponse:
        return self.call("post", path, body, **given)

    def put(self, path: str, body: Any = None, **given: Any) -> HttpResponse:
        return self.call("put", path, body, **given)

    def patch(self, path: str, body: Any = None, **given: Any) -> HttpResponse:
        return self.call("patch", path, body, **given)

    def delete(self, path: str, **given: Any) -> HttpResponse:
        return self.call("delete", path, **given)

"""Who calls the API, and whether they may: bearer tokens and scopes (decisions: Error bodies, Scopes)."""

from django.http import HttpRequest
from ninja.security.http import HttpAuthBase

from storefront.kit import tokens
from storefront.kit.refusals import Refusal
from storefront.shops import queries
from storefront.shops.request import Caller, Request


class Unauthenticated(Refusal):
    status, code, message = 401, "unauthenticated", "Unauthenticated."

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class InsufficientScope(Refusal):
    status, code, message = 403, "insufficient_scope", "Insufficient scope for this endpoint."


def bearer_token(request: HttpRequest) -> str | None:
    """The token of `Authorization: Bearer <token>`."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def caller_of(request: Request) -> Caller:
    """Whoever the request's credential names. Raises Unauthenticated."""
    token = bearer_token(request)
    found = queries.api_token(token)
    if token is None or found is None or not found.is_valid(request.now):
        raise Unauthenticated
    return Caller(shop=found.shop, scopes=frozenset(found.scopes), digest=tokens.digest(token))


class scope(HttpAuthBase):  # noqa: N801, it reads as a word: auth=scope("read_products")
    """Lets a call through when its credential has all these scopes; sets `request.caller` and `request.shop`."""

    openapi_scheme = "bearer"

    def __init__(self, *required: str) -> None:
        self.required = required
        super().__init__()

    def __call__(self, request: Request) -> Caller:  # type: ignore[override]
        caller = caller_of(request)
        if not caller.scopes.issuperset(self.required):
            raise InsufficientScope(required_scopes=list(self.required), granted_scopes=sorted(caller.scopes))
        request.caller, request.shop = caller, caller.shop
        return caller

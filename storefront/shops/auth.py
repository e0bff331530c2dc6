"""Authentication and authorization of API calls: bearer tokens and scopes (R-CALL-16 to R-CALL-19)."""

from django.http import HttpRequest
from ninja.security.http import HttpAuthBase

from storefront.kit.refusals import Refusal
from storefront.shops import audit, queries, ratelimit, token_use
from storefront.shops.request import Caller, Request
from storefront.shops.scopes import SCOPES


class Unauthenticated(Refusal):
    status, code, message = 401, "unauthenticated", "Unauthenticated."

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class InsufficientScope(Refusal):
    status, code, message = 403, "insufficient_scope", "Insufficient scope for this endpoint."


def bearer_token(request: HttpRequest) -> str | None:
    """The token of `Authorization: Bearer <token>`. Two such headers arrive joined by a comma, which no token has."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def installation_token(request: HttpRequest) -> str | None:
    """The token of `X-Shop-Access-Token`, else the bearer token (R-APP-4)."""
    return request.META.get("HTTP_X_SHOP_ACCESS_TOKEN", "").strip() or bearer_token(request)


def caller_of(request: Request) -> Caller:
    """The caller of the request's credential. Raises Unauthenticated."""
    caller = queries.caller(installation_token(request), now=request.now)
    if caller is None:
        raise Unauthenticated
    return caller


class scope(HttpAuthBase):  # noqa: N801, it reads as a word: auth=scope("read_products")
    """Allows a call whose credential is valid, within its rate limit and has all these scopes. Sets `request.caller`,
    `request.shop` and `request.quota`."""

    openapi_scheme = "bearer"

    def __init__(self, *required: str) -> None:
        unknown = set(required) - SCOPES.keys()
        if unknown:
            raise ValueError(f"no such scope: {', '.join(sorted(unknown))}")
        self.required = required
        super().__init__()

    def __call__(self, request: Request) -> Caller:  # type: ignore[override]
        caller = self.caller_of(request)
        request.caller, request.shop = caller, caller.shop
        audit.act_as(audit.caller(caller))
        if caller.requests_per_minute is not None:
            allowed, request.quota = ratelimit.count_call(caller.counted_as, per_minute=caller.requests_per_minute)
            if not allowed:
                raise ratelimit.RateLimited(ratelimit.retry_after(request.quota))
        token_use.record_use(caller.digest)
        if not caller.scopes.issuperset(self.required):
            raise InsufficientScope(required_scopes=list(self.required), granted_scopes=sorted(caller.scopes))
        return caller

    def caller_of(self, request: Request) -> Caller:
        return caller_of(request)


class app_scope(scope):  # noqa: N801
    """As `scope`, for the App API, which only installed apps may call."""

    def caller_of(self, request: Request) -> Caller:
        caller = caller_of(request)
        if caller.installation_id is None:
            raise Unauthenticated
        return caller

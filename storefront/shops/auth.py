"""Authentication and authorization of API calls: bearer tokens and scopes (R-CALL-16 to R-CALL-19)."""

import structlog
from django.http import HttpRequest
from ninja.security.http import HttpAuthBase

from storefront.kit import tokens
from storefront.kit.refusals import Refusal
from storefront.pods import directory
from storefront.shops import acting, queries, ratelimit, token_use
from storefront.shops.request import Caller, Request
from storefront.shops.scopes import SCOPES


class Unauthenticated(Refusal):
    """No usable credential (R-ERR-3). The message begins with `Unauthenticated.`, followed by help."""

    status = 401

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class TokenMissing(Unauthenticated):
    code = "token_missing"
    message = "Unauthenticated. Send a token as `Authorization: Bearer <token>`."


class TokenMalformed(Unauthenticated):
    code = "token_malformed"
    message = (
        "Unauthenticated. This is not the form of a token: `api_` or `app_` and 57 characters, or 43 if it is older. Is"
        " a part of it missing?"
    )


class TokenUnknown(Unauthenticated):
    """The token is unknown or revoked, or belongs to an uninstalled app or an inactive shop."""

    code = "token_unknown"
    message = "Unauthenticated. No shop has this token. It may have been revoked or replaced, or the app uninstalled."


class TokenExpired(Unauthenticated):
    code = "token_expired"
    message = "Unauthenticated. The token has expired. Ask the merchant for a new one."


class TokenOfAnotherApi(Unauthenticated):
    code = "token_of_another_api"
    message = (
        "Unauthenticated. The App API takes the token of an app's installation, `app_...`, as `X-Shop-Access-Token` or "
        "`Authorization: Bearer <token>`. API tokens are for `/api/v1`."
    )


class InsufficientScope(Refusal):
    """A scope is missing; the body has the required and the granted ones (R-ERR-4)."""

    status, code, message = 403, "insufficient_scope", "Insufficient scope for this endpoint."


def bearer_token(request: HttpRequest) -> str | None:
    """The token of `Authorization: Bearer <token>`. Two such headers arrive joined by a comma, which no token has."""
    scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def installation_token(request: HttpRequest) -> str | None:
    """The token of `X-Shop-Access-Token`, else the bearer token (R-APP-4)."""
    return request.META.get("HTTP_X_SHOP_ACCESS_TOKEN", "").strip() or bearer_token(request)


def caller_of(request: Request) -> Caller:
    """The caller of the request's credential. Raises Unauthenticated, or Misdirected if another pod serves the shop."""
    token = installation_token(request)
    caller = queries.caller(token, now=request.now)
    if caller is None:
        raise _reason(request, token)
    return caller


def _reason(request: Request, token: str | None) -> Unauthenticated:
    """The reason why the token identifies no caller. Raises Misdirected if another pod serves its shop."""
    if not token:
        if request.META.get("HTTP_AUTHORIZATION"):
            return TokenMalformed("Unauthenticated. The `Authorization` header must be `Bearer <token>`.")
        if _is_token(request.META.get("HTTP_X_CART_TOKEN")):
            return TokenMissing(
                "Unauthenticated. Send this token as `Authorization: Bearer <token>`, not as X-Cart-Token."
            )
        return TokenMissing()
    if tokens.is_well_formed(token, "cart"):
        return TokenMalformed(
            "Unauthenticated. This is a cart's token: send it as `X-Cart-Token`, and an API token in `Authorization`."
        )
    if not _is_token(token):
        return TokenMalformed()
    if shop_id := tokens.coded_shop(token):
        directory.require_shop_here(shop_id)
    else:
        directory.require_token_here(tokens.digest(token))
    return TokenExpired() if queries.is_expired(token, now=request.now) else TokenUnknown()


def _is_token(text: str | None) -> bool:
    return tokens.is_well_formed(text, "api") or tokens.is_well_formed(text, "app")


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
        acting.act_as(acting.caller(caller))
        structlog.contextvars.bind_contextvars(shop=caller.shop.domain)
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
    """Like `scope`, for the App API, which only installed apps may call."""

    def caller_of(self, request: Request) -> Caller:
        caller = caller_of(request)
        if caller.installation_id is None:
            raise TokenOfAnotherApi
        return caller

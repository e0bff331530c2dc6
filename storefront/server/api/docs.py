"""Serves the API's description: the OpenAPI document, and a page that shows it to people, with our own static files."""

import re
from functools import lru_cache
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.safestring import mark_safe

from storefront.kit.api.conditional import etag_of, known_etag
from storefront.kit.api.http import JSON
from storefront.kit.refusals import NotFound
from storefront.server.api.api import api
from storefront.server.api.codes import CODES, PROBLEMS, Code
from storefront.shops.places import ADMIN, SECURE, place_of_host


@lru_cache(maxsize=1)
def encoded_document() -> bytes:
    """The OpenAPI document. Built once, since nothing in it depends on a request or a shop."""
    return orjson.dumps(api.get_openapi_schema(), option=orjson.OPT_NON_STR_KEYS)


@lru_cache(maxsize=1)
def _etag() -> str:
    return etag_of(encoded_document())


def openapi_json(request: HttpRequest) -> HttpResponse:
    """`GET /api/openapi.json`."""
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    known = known_etag(request, _etag())
    headers = {"ETag": known or _etag(), "Cache-Control": "public, max-age=0, must-revalidate"}
    if known:
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(encoded_document(), content_type=JSON, headers=headers)


def docs(request: HttpRequest) -> HttpResponse:
    """`GET /api/docs`: all operations, for people."""
    return _page(request, "server/docs.html", {"settings": {"url": "/api/openapi.json", **SWAGGER}})


def errors(request: HttpRequest) -> HttpResponse:
    """`GET /api/docs/errors`: every code, with its cause and what to do about it. Errors lead here (R-ERR-14)."""
    listed = {name: Code(code.status, _marked_up(code.cause), _marked_up(code.remedy)) for name, code in CODES.items()}
    problems = {name: _marked_up(meaning) for name, meaning in PROBLEMS.items()}
    return _page(request, "server/errors.html", {"codes": listed, "problems": problems})


def _page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    if request.method != "GET":
        return HttpResponseNotAllowed(["GET"])
    if place_of_host(request.get_host()) in (ADMIN, SECURE):
        raise NotFound
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"}
    return HttpResponse(render_to_string(template, context), headers=headers)


def _marked_up(text: str) -> str:
    """The text as HTML, with the parts between backticks as code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", escape(text)))  # noqa: S308, escaped just before


_CODE = re.compile("`([^`]+)`")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SWAGGER = {
    "layout": "BaseLayout",
    "deepLinking": True,
    "defaultModelsExpandDepth": 0,
    "docExpansion": "list",
    "displayRequestDuration": True,
    "tryItOutEnabled": False,
    # Otherwise, browsers would send the document to Swagger's server for validation.
    "validatorUrl": None,
}

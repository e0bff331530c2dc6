"""Responses to requests that the gate rejects. They bypass Django, so they need no thread, shop or database."""

import time
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings

from storefront.kit import callers, metrics
from storefront.kit.api.http import JSON
from storefront.pods.directory import Misdirected
from storefront.server.api.errors import described_error
from storefront.server.edge import access_log
from storefront.server.gate.wsgi_environ import Environ
from storefront.server.security_headers import security_headers

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{heading}</title>
<link rel="stylesheet" href="/static/website/shop.css">
</head>
<body>
<main class="page page--narrow error">
  <p class="error__status" aria-hidden="true">{status}</p>
  <h1>{heading}</h1>
  <p class="error__sentence">{sentence}</p>
</main>
</body>
</html>
"""
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@dataclass(frozen=True)
class Rejection:
    """Why a request is rejected. `retry_after` is in seconds; 0 if a retry would not help."""

    status: int
    code: str
    sentence: str
    retry_after: int = 0


TOO_SLOW = Rejection(408, "request_timeout", "The request was not received in time. Please send it again.")
TOO_LARGE = Rejection(413, "too_large", "The request is too large.")
BROKEN = Rejection(400, "bad_request", "The request could not be read.")
MISDIRECTED = Rejection(421, Misdirected.code, Misdirected.message)
BUSY = Rejection(503, "unavailable", "The shop is very busy. Please try again.", retry_after=2)
HEADINGS = {
    400: "Invalid request",
    408: "That took too long",
    413: "That is too large",
    421: "Please try again",
    503: "Please try again",
}


def rejection_page(rejection: Rejection) -> str:
    """The HTML page that tells a visitor about the rejection."""
    return PAGE.format(status=rejection.status, heading=HEADINGS[rejection.status], sentence=rejection.sentence)


def reject(proto: Any, environ: Environ, rejection: Rejection) -> None:
    """Send the rejection, as JSON under /api, and close the connection, since the rest of a body may still arrive."""
    id = callers.request_id(environ, settings.TRUSTED_PROXIES)
    path = environ["PATH_INFO"]
    if path == "/api" or path.startswith("/api/"):
        error = {"message": rejection.sentence, "code": rejection.code}
        content_type, content = JSON, orjson.dumps(described_error(error, id))
    else:
        content_type, content = "text/html; charset=utf-8", rejection_page(rejection).encode()
    headers = [
        *security_headers("page", settings.HTTPS, settings.HSTS_SECONDS),
        ("Content-Type", content_type),
        ("Content-Length", str(len(content))),
        ("Content-Security-Policy", POLICY),
        ("Cache-Control", "no-store"),
        ("X-Request-Id", id),
        ("Connection", "close"),
    ]
    if rejection.retry_after:
        headers.append(("Retry-After", str(rejection.retry_after)))
    proto.response_bytes(rejection.status, headers, content)
    metrics.REJECTIONS.labels(rejection.code).inc()
    access_log.buffer.add(time.time(), id, environ["REQUEST_METHOD"], path, rejection.status, 0.0, "", "")

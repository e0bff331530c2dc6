"""Exports traces of requests, tasks, webhooks and their SQL by OTLP over HTTP, to OTEL_EXPORTER_OTLP_ENDPOINT.

Each process exports its own, from a thread with a bounded queue: a collector that is slow or away costs spans, never a
request. The spans are made here by hand. The instrumentations for Django and psycopg would record whole addresses, with
the signed links in their queries, and statements with values.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.db import connections
from django.db.backends.signals import connection_created
from django.http import HttpResponse

from storefront.kit import callers, tracing
from storefront.kit.middleware import Middleware
from storefront.kit.tracing import Value
from storefront.server.logs import path_without_secrets, redact
from storefront.shops.request import Request

if TYPE_CHECKING:
    from opentelemetry.context import Context

# Seconds after which an export is given up, unless OTEL_EXPORTER_OTLP_TIMEOUT is set; and that a process which ends
# waits for its last one.
EXPORT_SECONDS, FLUSH_SECONDS = 5, 2.0
# Characters of a statement.
MAX_STATEMENT = 1000
# Values that a statement has itself, instead of as parameters.
_VALUES = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")
_stop: Callable[[], None] = lambda: None  # noqa: E731


def start() -> None:
    """Record the spans of this process, if traces are exported."""
    if not settings.TRACES:
        return
    global _stop
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME") or "storefront"
    provider = TracerProvider(
        resource=Resource.create({"service.name": name, "process.pid": os.getpid()}), shutdown_on_exit=False
    )
    timeout = None if os.environ.get("OTEL_EXPORTER_OTLP_TIMEOUT") else EXPORT_SECONDS
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=timeout)))
    tracing.use(Spans(provider.get_tracer("storefront")))
    _stop = provider.shutdown
    connection_created.connect(_trace_connection, dispatch_uid="traces")
    for connection in connections.all(initialized_only=True):
        _trace_connection(connection=connection)


def stop() -> None:
    """Record no more spans, and wait FLUSH_SECONDS for the export of the last ones."""
    global _stop
    tracing.use(None)
    # The time-out of `shutdown` is half a minute.
    thread = threading.Thread(target=_stop, name="traces", daemon=True)
    thread.start()
    thread.join(FLUSH_SECONDS)
    _stop = lambda: None  # noqa: E731


class Spans:
    """Records the spans of `kit/tracing.py`."""

    def __init__(self, tracer: Any) -> None:
        self.tracer = tracer

    @contextmanager
    def span(
        self, name: str, kind: str, attributes: dict[str, Value], parent: "Context | None" = None
    ) -> Iterator[None]:
        from opentelemetry.trace import SpanKind

        given = {"kind": SpanKind[kind.upper()], "attributes": attributes, "context": parent}
        # Without the text of an exception, which may have a secret.
        quiet = {"record_exception": False, "set_status_on_exception": False}
        with self.tracer.start_as_current_span(name, **given, **quiet):
            try:
                yield
            except BaseException as error:
                self.annotate({"error.type": type(error).__name__})
                raise

    def annotate(self, attributes: dict[str, Value]) -> None:
        from opentelemetry.trace import StatusCode, get_current_span

        span = get_current_span()
        span.set_attributes(attributes)
        if "error.type" in attributes:
            span.set_status(StatusCode.ERROR)

    def is_recording(self) -> bool:
        from opentelemetry.trace import get_current_span

        return get_current_span().is_recording()


class TracedRequests(Middleware):
    """A span for each request. It stands right behind the request log, which knows the shop and the caller."""

    def __call__(self, request: Request) -> HttpResponse:
        spans = tracing._tracer
        if not isinstance(spans, Spans):
            return self.get_response(request)
        method = request.method or ""
        given: dict[str, Value] = {
            "http.request.method": method,
            "url.path": redact(path_without_secrets(request.path)),
        }
        with spans.span(method, "server", given, _parent(request)):
            response = self.get_response(request)
            _describe(spans, request, response)
            return response


def _describe(spans: Spans, request: Request, response: HttpResponse) -> None:
    from opentelemetry.trace import get_current_span

    who = structlog.contextvars.get_contextvars()
    found: dict[str, Value] = {
        "http.response.status_code": response.status_code,
        "storefront.request_id": request.id,
    }
    found |= {f"storefront.{name}": who[name] for name in ("shop", "caller") if who.get(name)}
    if match := request.resolver_match:
        found["http.route"] = match.route
        get_current_span().update_name(f"{request.method} {match.route}")
    if response.status_code >= 500:
        found["error.type"] = str(response.status_code)
    spans.annotate(found)


def _parent(request: Request) -> "Context | None":
    """The trace that a trusted proxy began, by its `traceparent`. Those of strangers are ignored."""
    given = request.META.get("HTTP_TRACEPARENT")
    if not given or not callers.is_from_proxy(request.META, settings.TRUSTED_PROXIES):
        return None
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({"traceparent": given})


def _trace_connection(*, connection: Any, **_: Any) -> None:
    if _trace_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_trace_statement)


def _trace_statement(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """A span for a statement within another span, without its values."""
    spans = tracing._tracer
    if not isinstance(spans, Spans) or not spans.is_recording():
        return execute(sql, params, many, context)
    text = statement_without_values(str(sql))
    vendor = context["connection"].vendor
    given: dict[str, Value] = {"db.system.name": vendor, "db.query.text": text}
    with spans.span(text.partition(" ")[0] or "SQL", "client", given):
        return execute(sql, params, many, context)


def statement_without_values(sql: str) -> str:
    """The beginning of the statement, with a question mark for each text and number."""
    return redact(_VALUES.sub("?", " ".join(sql.split())))[:MAX_STATEMENT]

"""Spans of traces for OpenTelemetry. `server/tracing.py` turns them on; while they are off, they cost a comparison, and
nothing of OpenTelemetry is imported.

What must never happen: a secret in an attribute. So no attribute has a query, a body, a header, a parameter of a
statement, the text of an exception, or the path of another program's address.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

Value = str | int | float | bool


class Tracer(Protocol):
    def span(self, name: str, kind: str, attributes: dict[str, Value]) -> AbstractContextManager[object]:
        """A span around the block, below the span around that."""

    def annotate(self, attributes: dict[str, Value]) -> None:
        """Adds attributes to the span around the caller. `error.type` marks it as failed."""


_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Let the spans of this process be recorded, or no more."""
    global _tracer
    _tracer = tracer


def span(name: str, kind: str = "internal", **attributes: Value) -> AbstractContextManager[object]:
    """A span around the block, of the kind `internal`, `client` or `consumer`. `__` in an attribute's name is a dot."""
    return nullcontext() if _tracer is None else _tracer.span(name, kind, _named(attributes))


def annotate(**attributes: Value) -> None:
    """Add attributes to the span around the caller, if there is one."""
    if _tracer is not None:
        _tracer.annotate(_named(attributes))


def _named(attributes: dict[str, Value]) -> dict[str, Value]:
    return {name.replace("__", "."): value for name, value in attributes.items()}

"""Configures logging: JSON lines on stderr, or coloured text if stderr is a terminal.

Tokens, signatures and passwords in URLs are redacted in every line, since a traceback or a library may log one.
"""

import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

SECRETS = [
    # Tokens of kit.tokens. The prefix stays, which tells the kind of token.
    (re.compile(r"\b([a-z]+_)(?:[0-9a-f]{14})?[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"), r"\1…"),
    (re.compile(r"\b(whsec_)[A-Za-z0-9+/=]+"), r"\1…"),
    # Stripe's keys, and the client secrets of its payments.
    (re.compile(r"\b([srp]k_(?:live|test)_)[A-Za-z0-9]+"), r"\1…"),
    (re.compile(r"\b((?:pi|seti)_[A-Za-z0-9]+_secret_)[A-Za-z0-9]+"), r"\1…"),
    (re.compile(r"(signature=)[^&\s\"']+"), r"\1…"),
    (re.compile(r"(?i)(bearer )[^\s\"']+"), r"\1…"),
    (re.compile(r"(://[^:/@\s]*:)[^@/\s]+@"), r"\1…@"),
    # What PostgreSQL adds to an error: values of rows, which are of persons. Ends where a traceback goes on.
    (re.compile(r"(?s)(\n[\s|]*(?:DETAIL|CONTEXT):  ).*?(?=\n[\s|]*\n[\s|]*(?:The above|During)|\Z)"), r"\1…"),
    (re.compile(r'((?:invalid input [^:\n]*|out of range): )".*?"'), r'\1"…"'),
]
_ORDER = re.compile(r"(/orders/[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_DOWNLOAD = re.compile(r"(/downloads/[0-9-]{0,60})[^/]*")


def redact(text: str) -> str:
    """The text with its secrets replaced by an ellipsis."""
    for pattern, replacement in SECRETS:
        text = pattern.sub(replacement, text)
    return text


def path_without_secrets(path: str) -> str:
    """The path of a request, without what alone opens an order or gets a file for a day."""
    if "/downloads/" in path:
        return _DOWNLOAD.sub(r"\1…", path)
    return _ORDER.sub(r"\1…", path) if "/orders/" in path else path


def separate_path(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Move the path out of the event of Django's lines about a response, such as `Internal Server Error: /cart`, into
    a field of its own, so that events can be counted."""
    path = getattr(getattr(line["_record"], "request", None), "path", None)
    if path:
        line["event"] = line["event"].replace(f": {path.encode('unicode_escape').decode()}", "")
        line["path"] = path_without_secrets(path)
    return line


def redact_secrets(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in line.items():
        if isinstance(value, str):
            line[name] = redact(value)
        elif not isinstance(value, int | float | bool | None) and not name.startswith("_"):
            line[name] = redact(repr(value))
    return line


BEFORE: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    redact_secrets,
]


def configure_structlog() -> None:
    """Send structlog's lines through the standard library, so that our lines and those of libraries look the same."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *BEFORE, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def logging_config(level: str, *, human: bool | None = None) -> dict[str, Any]:
    """The configuration for `logging.config.dictConfig`. `human` defaults to whether stderr is a terminal."""
    if human is None:
        human = sys.stderr.isatty()
    # Plain tracebacks: rich ones show the variables of each frame, which may contain secrets.
    renderer = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if human
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [separate_path, *BEFORE],
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            # Refused requests are in the request log already; only exceptions need a line here.
            "django.request": {"level": "ERROR"},
            "django_tasks": {"level": "WARNING"},
            "django_tasks_db": {"level": "WARNING"},
            # Below WARNING, the library logs each step of drawing a PDF.
            "fontTools": {"level": "WARNING"},
            "fpdf": {"level": "WARNING"},
            # On the level `debug`, it logs signed requests.
            "botocore": {"level": "WARNING"},
            # Below that level, it logs the contents of calls and answers.
            "stripe": {"level": "WARNING"},
            # Below that level, it logs its starts and broken connections.
            "_granian": {"handlers": [], "level": "ERROR", "propagate": True},
        },
    }

"""Where log lines go and how they look: JSON on stderr, or coloured text where stderr is a terminal.

Tokens, signatures and passwords in URLs are blotted out of every line, whoever logs them: a traceback or a library may
carry one that no caller meant to write down.
"""

import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

SECRETS = [
    # Tokens of kit.tokens: a short prefix says what it was.
    (re.compile(r"\b([a-z]+_)[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])"), r"\1…"),
    (re.compile(r"\b(whsec_)[A-Za-z0-9+/=]+"), r"\1…"),
    (re.compile(r"(signature=)[^&\s\"']+"), r"\1…"),
    (re.compile(r"(?i)(bearer )[^\s\"']+"), r"\1…"),
    (re.compile(r"(://[^:/@\s]*:)[^@/\s]+@"), r"\1…@"),
]


def blot(text: str) -> str:
    """The text without the secrets in it."""
    for pattern, without in SECRETS:
        text = pattern.sub(without, text)
    return text


def blot_out_secrets(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in line.items():
        if isinstance(value, str):
            line[name] = blot(value)
        elif not isinstance(value, int | float | bool | None) and not name.startswith("_"):
            line[name] = blot(repr(value))
    return line


BEFORE: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
    blot_out_secrets,
]


def configure_structlog() -> None:
    """Send structlog's lines through the standard library, so that ours and the libraries' look the same."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *BEFORE, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def logging_config(level: str, *, human: bool | None = None) -> dict[str, Any]:
    """What `logging.config.dictConfig` takes. `human` is asked of stderr when it is not given."""
    if human is None:
        human = sys.stderr.isatty()
    # Tracebacks stay plain: rich ones show the variables of each frame, and those hold secrets.
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
                "foreign_pre_chain": BEFORE,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            # Every refused request is in the request log already; only defects need a line of their own.
            "django.request": {"level": "ERROR"},
            "django_tasks": {"level": "WARNING"},
            "django_tasks_db": {"level": "WARNING"},
            # Its warnings are advice about thread counts that were chosen on purpose.
            "_granian": {"handlers": [], "level": "ERROR", "propagate": True},
        },
    }

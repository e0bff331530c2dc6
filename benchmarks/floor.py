"""An empty WSGI application on the same server with the same options: it only returns recorded answers.

Its cost is the minimum that an answer of these bytes can cost here; the table's ratios are relative to it.
"""

import argparse
import os
import socket
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import django
import orjson

RECORDED = Path(os.environ.get("BENCH_ANSWERS", os.devnull))
ANSWERS: dict[str, tuple[str, list[tuple[str, str]], bytes]] = {}


def application(environ: dict[str, str], start_response: Callable[..., object]) -> list[bytes]:
    path = environ["PATH_INFO"]
    if path not in ANSWERS:
        read_recorded()
    status, headers, body = ANSWERS[path]
    start_response(status, headers)
    return [body]


# Runs on the thread that also answers from memory, without the thread pool.
application.answer_from_memory = application  # type: ignore[attr-defined]


def read_recorded() -> None:
    """Answers are recorded while the server runs. Each is read before its first request, never during a measurement."""
    for path, answer in orjson.loads(RECORDED.read_bytes()).items():
        headers = [(name, value) for name, value in answer["headers"]]
        ANSWERS[path] = (answer["status"], headers, b64decode(answer["body"]))


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    django.setup()
    from storefront.server import web

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    listening = socket.create_server(("127.0.0.1", parser.parse_args().port), backlog=1024)
    web.serve(listening, "benchmarks.floor.application", workers=1, threads=8)


if __name__ == "__main__":
    main()

"""An empty WSGI application on the same server with the same options: it answers recorded bytes and does nothing else.

What it costs is the least that any answer of these bytes can cost here; the table's ratios are to it.
"""

import argparse
import os
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

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


def read_recorded() -> None:
    """Answers are recorded while this runs; each is read before its first request, and never while it is measured."""
    for path, answer in orjson.loads(RECORDED.read_bytes()).items():
        headers = [(name, value) for name, value in answer["headers"]]
        ANSWERS[path] = (answer["status"], headers, b64decode(answer["body"]))


def main() -> None:
    from storefront.server import web

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    web.serve("benchmarks.floor:application", host="127.0.0.1", port=port, workers=1, threads=8)


if __name__ == "__main__":
    main()

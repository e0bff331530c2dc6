"""Profiles one kind of request: runs the application in this process under Python's profiler.

    python -m benchmarks.profile list|single|categories|deep|q|add|cart [--database SQLite] [--size 20000] [--edge]

It uses a database that `make bench` keeps. The profiler counts every function call, which makes Python code appear up
to three times slower than it is, but not the database.
"""

import argparse
import cProfile
import io
import os
import pstats
import sys
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any
from urllib.parse import quote

import orjson

from benchmarks import postgres, prepared, shop

Environ = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("list", "single", "categories", "deep", "q", "add", "cart"))
    parser.add_argument("--database", choices=("SQLite", "PostgreSQL"), default="SQLite")
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--edge", action="store_true", help="with answers from memory")
    given = parser.parse_args()
    database = prepared.prepare(given.database, given.size, server_of(given.database))
    os.environ.update(database.environment | ({} if given.edge else {"STOREFRONT_EDGE_CACHE_BYTES": "0"}))
    from storefront.server.wsgi import application

    requests = list(islice(cycle(environs(given.kind, given.size, database.token, application)), given.requests))
    run(application, requests[:50])
    took = run(application, requests)
    print(f"{took / len(requests) * 1e6:,.0f} µs of CPU a request, without the profiler")
    profiler = cProfile.Profile()
    profiler.runcall(run, application, requests)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(given.lines)


def server_of(database: str) -> str | None:
    server = postgres.answering_server() if database == "PostgreSQL" else None
    if database == "PostgreSQL" and not server:
        sys.exit("profile: no PostgreSQL answers")
    return server


def run(application: Callable[..., Any], requests: list[Environ]) -> float:
    """CPU seconds of these requests, one after the other."""
    began = time.process_time()
    for environ in requests:
        answer(application, environ)
    return time.process_time() - began


def answer(application: Callable[..., Any], environ: Environ) -> tuple[str, bytes]:
    statuses = []
    environ = environ | {"wsgi.input": io.BytesIO(environ["body"])}
    found = application(environ, lambda status, headers, *rest: statuses.append(status))
    try:
        return statuses[0], b"".join(found)
    finally:
        if hasattr(found, "close"):
            found.close()


def environs(kind: str, size: int, token: str, application: Callable[..., Any]) -> Iterator[Environ]:
    """WSGI environs of such requests, as Granian creates them."""
    products, listed = "/api/v1/products", "per_page=24"
    match kind:
        case "list":
            yield request(token, products, listed)
        case "categories":
            yield request(token, "/api/v1/categories")
        case "deep":
            yield from (request(token, products, f"per_page=100&page={number}") for number in range(1, size // 100))
        case "q":
            words = shop.search_words(size, 2000)
            yield from (request(token, products, f"{listed}&q={quote(word)}") for word in words)
        case "single":
            yield from (request(token, f"{products}/{number}") for number in range(1, 200) if number % 26)
        case "add" | "cart":
            yield from cart(kind, token, application)


def cart(kind: str, token: str, application: Callable[..., Any]) -> Iterator[Environ]:
    for number in range(1, 100):
        add = request(token, "/api/v1/cart", method="POST", body=orjson.dumps({"product_id": number, "qty": 1}))
        status, body = answer(application, add)
        if status.startswith("201"):
            headers = {"HTTP_X_CART_TOKEN": orjson.loads(body)["cart_token"]}
            yield add if kind == "add" else request(token, "/api/v1/cart") | headers


def request(token: str, path: str, query: str = "", *, method: str = "GET", body: bytes = b"") -> Environ:
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8000",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
        "HTTP_ACCEPT": "application/json",
        "CONTENT_TYPE": "application/json" if body else "",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "body": body,
    }


if __name__ == "__main__":
    main()

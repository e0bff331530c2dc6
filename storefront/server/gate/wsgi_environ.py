"""Builds the WSGI environ, which the edge and Django read, from Granian's request scope."""

import sys
from functools import lru_cache
from io import BytesIO
from typing import Any

Environ = dict[str, Any]

# The two headers whose environ keys have no HTTP_ prefix.
_BARE = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


class FileWrapper:
    """WSGI's `wsgi.file_wrapper`: marks a response body as a file, so that it is sent without holding a thread."""

    __slots__ = ("file",)

    def __init__(self, file: Any, _block_size: int = 0) -> None:
        self.file = file


_ALWAYS: Environ = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.file_wrapper": FileWrapper,
}


def build_environ(scope: Any) -> Environ:
    """The environ of this request, with an empty body.

    Headers with an underscore in their names are dropped, since WSGI cannot tell them from those with a hyphen:
    `X_Forwarded_For` would pass for a proxy's header. Values that are not text are dropped too.
    """
    name, _, port = scope.server.rpartition(":")
    environ = _ALWAYS | {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": _decode_as_latin1(scope.path) or "/",
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "SERVER_NAME": name.strip("[]"),
        "SERVER_PORT": port,
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": BytesIO(),
        "wsgi.errors": sys.stderr,
    }
    seen = set()
    for header, value in scope.headers.items():
        key = _environ_key(header)
        if key in seen:
            environ[key] += ("; " if key == "HTTP_COOKIE" else ",") + value
        elif key:
            seen.add(key)
            environ[key] = value
    if "HTTP_HOST" not in environ and scope.authority:
        environ["HTTP_HOST"] = scope.authority
    return environ


def _decode_as_latin1(path: str) -> str:
    """The path in WSGI's form: one character for each byte."""
    return path if path.isascii() else path.encode().decode("latin-1")


@lru_cache(maxsize=512)
def _environ_key(header: str) -> str:
    """The environ key of a header whose name is in lower case; empty if the header is dropped."""
    if "_" in header:
        return ""
    return _BARE.get(header) or f"HTTP_{header.upper().replace('-', '_')}"

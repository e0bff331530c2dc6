"""The gate between the web server and the application: decides which request gets a thread, and when.

Granian's own thread looks at each request first, and never blocks (`Gate.accept_request`):

1. What the edge has in memory is answered immediately.
2. A body is read by the event loop, within a deadline (`request_body.py`). The request continues only when the whole
   body has arrived. So a thousand callers that send a byte a second hold a thousand connections, and nothing else.
3. What needs no database has two threads of its own, so that it is answered while the database stalls: files, `/livez`,
   and what the edge has in memory but must still compress, or count in Redis.
4. All other requests wait for one of the application's threads, with a limit: if the queue is too long, or the wait
   gets too long, the response is 503.

Responses are passed to Granian whole (`response.py`), so slow readers hold no thread either.

Why not Granian's own WSGI: there a thread reads the body, cannot be interrupted, and has no time-out. Why not one of
its asynchronous interfaces as they are: the detour through the event loop costs more than a response from memory. So
the gate receives requests just before Granian would schedule them on the event loop (`server/web.py`).
"""

import asyncio
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine
from functools import partial
from io import SEEK_END, BytesIO
from os.path import isfile, join
from typing import IO, Any

import structlog
from django.conf import settings

from storefront.kit.files.uploads import largest_body
from storefront.server.edge.edge import NeedsThread
from storefront.server.gate import request_body
from storefront.server.gate.rejections import BROKEN, BUSY, TOO_LARGE, TOO_SLOW, reject
from storefront.server.gate.response import ClosingProto, StartResponse, send_response
from storefront.server.gate.threads import ThreadPool
from storefront.server.gate.upload_permission import refusal_of_upload
from storefront.server.gate.wsgi_environ import Environ, build_environ
from storefront.server.health import LIVE

log = structlog.get_logger(__name__)

Application = Callable[..., Any]
Job = Callable[[Any, Environ], None]

# Threads for what needs no database.
FREE_THREADS = 2
# Seconds between checks of which requests have waited too long.
CHECK_SECONDS = 0.5
# Below this path, bodies may be larger than a form, if the sender may see the page; and how many such bodies are read
# at the same time.
UPLOADS, MAX_UPLOADS = "/admin/", 16
NO_BODY = ("", "0")


class Gate:
    """Serves a WSGI application with this many threads. Bodies must arrive within `body_seconds`; large ones get more.
    Bodies are read, and overdue requests rejected, on the event loop.

    If the application has a method `answer_from_memory`, the gate calls it first, on Granian's own thread. It must not
    block, returns None for what it cannot answer, and raises NeedsThread for what it can only with `may_block`.
    `on_ready` is called when the event loop runs.
    """

    def __init__(
        self,
        application: Application,
        loop: AbstractEventLoop,
        *,
        threads: int,
        body_seconds: int,
        on_ready: Callable[[], object] = lambda: None,
    ) -> None:
        self.application = application
        self.answer_from_memory: Application = getattr(application, "answer_from_memory", lambda *_: None)
        self.body_seconds = body_seconds
        self.threads, self.free_threads = ThreadPool("web", threads), ThreadPool("free", FREE_THREADS)
        # Keeps the event loop's tasks alive; the loop itself does not.
        self.tasks: set[asyncio.Task[None]] = set()
        self.uploads = 0
        self.is_closing = False
        self.loop = loop
        self._reject_overdue()
        # The loop runs when the server accepts connections.
        loop.call_soon(on_ready)

    def close_connections(self) -> None:
        """From now on, close each connection after its next response."""
        self.is_closing = True

    def accept_request(self, watcher: Any) -> None:
        """Called on Granian's thread with each request. Never raises, since nothing would catch it."""
        proto = ClosingProto(watcher.proto) if self.is_closing else watcher.proto
        try:
            environ = build_environ(watcher.scope)
            if environ.get("CONTENT_LENGTH", "") not in NO_BODY or "HTTP_TRANSFER_ENCODING" in environ:
                self.loop.call_soon_threadsafe(self._start_task, self._read_request(proto, environ))
                return
            start = StartResponse()
            try:
                body = self.answer_from_memory(environ, start)
            except NeedsThread:
                self._enqueue_in(self.free_threads, proto, environ, self._answer_slowly_from_memory)
                return
            if body is not None:
                proto.response_bytes(start.status, start.headers, b"".join(body))
            else:
                self._enqueue(proto, environ, self._call_application)
        except BaseException as error:
            self._fail(proto, error)

    def _enqueue(self, proto: Any, environ: Environ, job: Job) -> None:
        self._enqueue_in(self.threads if needs_database(environ) else self.free_threads, proto, environ, job)

    def _enqueue_in(self, threads: ThreadPool, proto: Any, environ: Environ, job: Job) -> None:
        def run() -> None:
            try:
                job(proto, environ)
            except BaseException as error:
                self._fail(proto, error)

        if not threads.enqueue(run, partial(reject, proto, environ, BUSY)):
            reject(proto, environ, BUSY)

    def _reject_overdue(self) -> None:
        """Runs on the event loop, again and again: while all threads are held, none of them can reject what waits."""
        for threads in (self.threads, self.free_threads):
            threads.reject_overdue(time.monotonic())
        self.loop.call_later(CHECK_SECONDS, self._reject_overdue)

    def _answer_slowly_from_memory(self, proto: Any, environ: Environ) -> None:
        """Runs on a thread of a pool."""
        start = StartResponse()
        body = self.answer_from_memory(environ, start, may_block=True)
        if body is not None:
            proto.response_bytes(start.status, start.headers, b"".join(body))
        else:
            # The entry is no longer in memory, or the caller's rate limit is exceeded.
            self._enqueue(proto, environ, self._call_application)

    def _call_application(self, proto: Any, environ: Environ) -> None:
        try:
            send_response(self.application, environ, proto, self.loop)
        finally:
            environ["wsgi.input"].close()

    def _fail(self, proto: Any, error: BaseException) -> None:
        log.error("request_lost", exc_info=error)
        # Has no effect if a response was sent already.
        proto.response_empty(500, [])

    def _start_task(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _read_request(self, proto: Any, environ: Environ) -> None:
        """Runs on the event loop: read the body and enqueue the request, or reject it by its Content-Length."""
        try:
            length = _content_length(environ)
            max_size = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            if length is None or length <= max_size:
                await self._read_body(proto, environ, length, max_size)
            elif _is_api(environ):
                # The API rejects it itself, with all its headers; it does not read the body either.
                self._enqueue(proto, environ, self._call_application)
            elif environ["PATH_INFO"].startswith(UPLOADS) and length <= largest_body():
                self._enqueue(proto, environ, self._check_upload)
            else:
                reject(proto, environ, TOO_LARGE)
        except Exception as error:
            self._fail(proto, error)

    async def _read_body(self, proto: Any, environ: Environ, length: int | None, max_size: int) -> None:
        try:
            body = await request_body.read_body(
                proto, content_length=length, max_size=max_size, seconds=self.body_seconds
            )
        except request_body.BodyTimeout:
            reject(proto, environ, TOO_SLOW)
        except request_body.ClientDisconnected:
            reject(proto, environ, BROKEN)
        except request_body.BodyTooLarge:
            if _is_api(environ):
                self._enqueue_with_body(proto, environ, BytesIO(), max_size + 1)
            else:
                reject(proto, environ, TOO_LARGE)
        else:
            size = body.seek(0, SEEK_END)
            body.seek(0)
            self._enqueue_with_body(proto, environ, body, size)

    def _enqueue_with_body(self, proto: Any, environ: Environ, body: IO[bytes], size: int) -> None:
        """Enqueue a request whose body was read. Django sees a Content-Length, also if the body was chunked."""
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(size)}
        self._enqueue(proto, environ, self._call_application)

    def _check_upload(self, proto: Any, environ: Environ) -> None:
        """Runs on a thread of a pool: read a large file only if its sender may see the page in the admin."""
        refusal = refusal_of_upload(self.application, environ)
        if refusal:
            start, content = refusal
            proto.response_bytes(start.status, [*start.headers, ("Connection", "close")], content)
        else:
            self.loop.call_soon_threadsafe(self._start_task, self._read_upload(proto, environ))

    async def _read_upload(self, proto: Any, environ: Environ) -> None:
        if self.uploads >= MAX_UPLOADS:
            reject(proto, environ, BUSY)
            return
        self.uploads += 1
        try:
            size = int(environ["CONTENT_LENGTH"])
            await self._read_body(proto, environ, size, size)
        except Exception as error:
            self._fail(proto, error)
        finally:
            self.uploads -= 1


def _content_length(environ: Environ) -> int | None:
    """The body's size in bytes, which Granian has checked to be a number; None if the body is chunked."""
    return None if "HTTP_TRANSFER_ENCODING" in environ else int(environ["CONTENT_LENGTH"])


def _is_api(environ: Environ) -> bool:
    return environ["PATH_INFO"].startswith("/api/")


def needs_database(environ: Environ) -> bool:
    return environ["PATH_INFO"] != LIVE and not is_file(environ)


def is_file(environ: Environ) -> bool:
    """Whether the path is that of an existing static or media file, which needs no database."""
    path = environ["PATH_INFO"]
    for url, root in ((settings.STATIC_URL, settings.STATIC_ROOT), (settings.MEDIA_URL, settings.MEDIA_ROOT)):
        if path.startswith(url):
            name = path.removeprefix(url)
            # `join` with an absolute name would ignore the root, and allow any file.
            is_inside = not name.startswith("/") and ".." not in name and "\0" not in name
            return is_inside and isfile(join(root, name))
    return False

"""A real HTTP server on loopback, in its own thread, that answers as the test says."""

import asyncio
import ssl
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Queue

from aiohttp import web

# Seconds that a test waits for a request.
PATIENCE = 10


@dataclass
class Received:
    """A received request, with its body unchanged. `at` is in seconds of time.monotonic()."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)


Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Receiver:
    """`url` is its address, `received` the queue of requests. `hold()` makes it delay responses until `let_go()`."""

    url: str = ""
    answering: Answering | None = None
    received: Queue = field(default_factory=Queue)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    def next(self) -> Received:
        """The next request. Waits until it arrives."""
        return self.received.get(timeout=PATIENCE)

    def hold(self) -> None:
        self.loop.call_soon_threadsafe(self.free.clear)

    def let_go(self) -> None:
        self.loop.call_soon_threadsafe(self.free.set)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.received.put(Received(request.method, request.path_qs, dict(request.headers), body))
        await self.free.wait()
        return await self.answering(request) if self.answering else web.Response()


@contextmanager
def receiving(answering: Answering | None = None, *, tls: ssl.SSLContext | None = None):
    """A Receiver that listens on a free port until the block ends."""
    receiver = Receiver(answering=answering)
    ready = threading.Event()

    async def serve() -> None:
        runner = web.ServerRunner(web.Server(receiver.answer), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
        receiver.free.set()
        ready.set()
        await receiver.stopped.wait()
        await runner.cleanup()
        answering = asyncio.all_tasks() - {asyncio.current_task()}
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)

    thread = threading.Thread(target=receiver.loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield receiver
    finally:
        receiver.let_go()
        receiver.loop.call_soon_threadsafe(receiver.stopped.set)
        thread.join(PATIENCE)
        receiver.loop.close()

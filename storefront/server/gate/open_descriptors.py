"""Keeps a file's descriptor open until Granian has opened the file. Granian opens it by `/dev/fd/<number>` some time
after the call that sends it, and does not report when.

If the descriptor were closed too early, another file could get its number and be sent to the wrong caller. So a
descriptor is closed when one of two things happens: the system reports that the file was opened (inotify), or the
caller's connection has ended, after which nothing is sent. Where inotify is missing, only the connection's end counts.
"""

import asyncio
import ctypes
import os
import struct
from asyncio import AbstractEventLoop
from dataclasses import dataclass
from typing import Any

# From <sys/inotify.h>.
IN_OPEN, IN_ONESHOT = 0x20, 0x80000000
_EVENT = struct.Struct("iIII")


@dataclass(slots=True, eq=False)
class _File:
    descriptor: int
    is_opened: bool = False
    disconnect: asyncio.Task[None] | None = None


class OpenDescriptors:
    """Descriptors of files that Granian has yet to open. Nothing else may open these files."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self.libc = ctypes.CDLL(None)
        self.inotify = -1
        # Files by their inotify watch.
        self.watched: dict[int, _File] = {}
        # Files with a running `disconnect` task. This keeps the tasks alive, which the loop does not.
        self.waiting: set[_File] = set()
        if hasattr(self.libc, "inotify_init1"):
            self.inotify = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.inotify >= 0:
            loop.call_soon_threadsafe(loop.add_reader, self.inotify, self._read_inotify_events)

    def keep_open(self, descriptor: int, proto: Any) -> None:
        """Take ownership of this descriptor. Call it, on any thread, before Granian gets the file to send."""
        file = _File(descriptor)
        if self.inotify >= 0:
            path = f"/proc/self/fd/{descriptor}".encode()
            watch = self.libc.inotify_add_watch(self.inotify, path, ctypes.c_uint32(IN_OPEN | IN_ONESHOT))
            if watch >= 0:
                self.watched[watch] = file
        self.loop.call_soon_threadsafe(self._wait, file, proto)

    def _wait(self, file: _File, proto: Any) -> None:
        if file.is_opened:
            os.close(file.descriptor)
            return
        self.waiting.add(file)
        file.disconnect = self.loop.create_task(_wait_for_disconnect(proto))
        file.disconnect.add_done_callback(lambda _task: self._close(file))

    def _close(self, file: _File) -> None:
        self.waiting.discard(file)
        os.close(file.descriptor)

    def _read_inotify_events(self) -> None:
        events, offset = os.read(self.inotify, 64 * 1024), 0
        while offset < len(events):
            watch, _mask, _cookie, length = _EVENT.unpack_from(events, offset)
            offset += _EVENT.size + length
            file = self.watched.pop(watch, None)
            if file is not None:
                file.is_opened = True
                if file.disconnect is not None:
                    # Granian notifies one waiter per connection, and the next file on this connection needs to be it.
                    file.disconnect.cancel()


async def _wait_for_disconnect(proto: Any) -> None:
    await proto.client_disconnect()

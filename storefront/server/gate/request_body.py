"""Reads request bodies on the event loop. While a slow body arrives, no thread, database connection or lock is held,
only the bytes received so far."""

import asyncio
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Any

# Bytes of a body up to which it is kept in memory; a larger one goes to a temporary file.
MAX_BYTES_IN_MEMORY = 64 * 1024
# Bytes per second at which a body must arrive, beyond the time that every body has.
MIN_BYTES_PER_SECOND = 100 * 1024


class BodyTimeout(Exception):
    """The body did not arrive in time."""


class BodyTooLarge(Exception):
    """The body is larger than `max_size`."""


class ClientDisconnected(Exception):
    """The caller closed the connection before the whole body arrived."""


async def read_body(proto: Any, *, content_length: int | None, max_size: int, seconds: float) -> IO[bytes]:
    """The whole body as a file at its start.

    It has exactly `content_length` bytes or, if that is None because the body is chunked, at most `max_size`. The
    deadline is `seconds`, plus a second for each MIN_BYTES_PER_SECOND bytes of `content_length`.

    Raises BodyTimeout, BodyTooLarge and ClientDisconnected.
    """
    in_memory = content_length is not None and content_length <= MAX_BYTES_IN_MEMORY
    body: IO[bytes] = BytesIO() if in_memory else SpooledTemporaryFile(max_size=MAX_BYTES_IN_MEMORY)  # noqa: SIM115
    try:
        async with asyncio.timeout(seconds + (content_length or 0) / MIN_BYTES_PER_SECOND):
            size = await _copy_chunks(proto, body, max_size)
        if content_length not in (None, size):
            raise ClientDisconnected
    except TimeoutError:
        body.close()
        raise BodyTimeout from None
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


async def _copy_chunks(proto: Any, body: IO[bytes], max_size: int) -> int:
    """Copy the body into this file. Returns its size in bytes."""
    size = empty_chunks = 0
    async for chunk in proto:
        # Granian ends a body with one empty chunk, and a broken connection with two.
        empty_chunks += not chunk
        size += len(chunk)
        if size > max_size:
            raise BodyTooLarge
        body.write(chunk)
    if empty_chunks > 1:
        raise ClientDisconnected
    return size

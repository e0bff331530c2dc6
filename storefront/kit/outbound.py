"""HTTP calls to URLs that strangers have given (R-APP-15, R-HOOK-11).

The receiver may be hostile: its name may resolve to an address inside this network; its response may be endless, come
at a byte a minute, or redirect. So the address is checked when the socket is created, after the name was resolved;
`post` follows no redirect, and `download` checks each like the first URL; nothing is decompressed; no cookie is stored
and no proxy is used; and one deadline covers everything from the DNS look-up to the last byte.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from typing import IO, Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings
from yarl import URL

from storefront.kit.addresses import BadAddress, check_url, is_public

# Bytes of a response that are read at most.
MAX_ANSWER_BYTES = 64 * 1024
# Threads for DNS. A look-up blocks its thread until the name server answers; more slow ones make others wait.
NAMES_AT_ONCE = 64
# Statuses that redirect to the URL in `Location`.
REDIRECTS = (301, 302, 303, 307, 308)


class Unreachable(Exception):
    """There is no response; `reason` is a sentence for merchants."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TimedOut(Unreachable):
    """The response did not come in time."""


class Barred(Unreachable):
    """This URL, or one that it redirects to, may not be called. Another attempt would end the same."""


@dataclass(frozen=True)
class Answer:
    """The response, of any status; redirects are not followed. `body` has the first bytes, not decompressed; `is_cut`
    is true if there were more. `seconds` is the duration of the whole call."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool
    seconds: float


def open_session(*, keep: float = 0) -> aiohttp.ClientSession:
    """A session that connects to public addresses only. The caller closes it.

    By default each call opens a connection, since an idle one that the receiver has closed looks like a failure.
    Callers that can repeat a call set `keep`: the seconds for which an idle connection is used again.
    """
    keeping: dict[str, Any] = {"keepalive_timeout": keep} if keep else {"force_close": True}
    connector = aiohttp.TCPConnector(limit=0, **keeping, resolver=_ThreadedResolver(), socket_factory=_guarded_socket)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        headers={"User-Agent": "Storefront", "Accept-Encoding": "identity"},
    )


async def post(
    session: aiohttp.ClientSession,
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    connect: float,
    total: float,
    most: int = MAX_ANSWER_BYTES,
) -> Answer:
    """Send one POST: connect within `connect` seconds, finish within `total` seconds, read at most `most` bytes.

    Raises Unreachable, and its subclass TimedOut if it took too long.
    """
    began = time.monotonic()
    with _as_unreachable(connect=connect, total=total):
        check_url(url)
        async with asyncio.timeout(total):
            limits = aiohttp.ClientTimeout(total=None, connect=connect)
            async with session.post(url, data=body, headers=headers, allow_redirects=False, timeout=limits) as answer:
                try:
                    start, is_cut = await _first(answer.content, most)
                finally:
                    # Closes the connection at once if the response was not read to its end.
                    answer.close()
    return Answer(answer.status, answer.headers, start, is_cut, time.monotonic() - began)


@dataclass(frozen=True)
class Download:
    """The response after all redirects. If its status is 200, its body was written to the file; `is_cut` is true if it
    has more bytes than were allowed."""

    status: int
    headers: Mapping[str, str]
    is_cut: bool = False


async def download(
    session: aiohttp.ClientSession,
    url: str,
    *,
    into: IO[bytes],
    headers: Mapping[str, str],
    connect: float,
    read: float,
    total: float,
    most: int,
    redirects: int,
) -> Download:
    """GET the http or https URL, following at most so many redirects, and write the body to the file `into`, at most
    `most` bytes. Each connection is made within `connect` seconds, `read` seconds pass at most between two pieces of a
    response, and everything is done within `total` seconds. Characters that a URL cannot have are quoted.

    Raises Unreachable; its subclass TimedOut if it took too long, and Barred if the URL, or one that it leads to, may
    not be called.
    """
    with _as_unreachable(connect=connect, total=total, read=read):
        limits = aiohttp.ClientTimeout(total=None, connect=connect, sock_read=read)
        async with asyncio.timeout(total):
            target = _quoted(url)
            for _ in range(redirects + 1):
                check_url(target, schemes=("https", "http"))
                async with session.get(target, headers=headers, allow_redirects=False, timeout=limits) as answer:
                    try:
                        if answer.status in REDIRECTS and (location := answer.headers.get("Location")):
                            target = _quoted(location, base=answer.url)
                            continue
                        is_cut = answer.status == 200 and await _copy(answer, into, most)
                    finally:
                        answer.close()
                return Download(answer.status, answer.headers, is_cut)
    raise Barred(f"There are more than {redirects} redirects.")


def retry_after(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """The wait that the `Retry-After` header asks for, as seconds or a date. None without a valid one."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return timedelta(seconds=int(value[:9]))
    try:
        return max(parsedate_to_datetime(value) - now, timedelta(0))
    except (ValueError, TypeError, OverflowError):
        return None


def _quoted(url: str, *, base: URL | None = None) -> str:
    try:
        return str(base.join(URL(url)) if base else URL(url))
    except ValueError:
        raise BadAddress("The redirect does not lead to a URL." if base else "This is not a URL.") from None


async def _copy(answer: aiohttp.ClientResponse, into: IO[bytes], most: int) -> bool:
    """Write the body to the file. Returns True if it has more than `most` bytes; then the rest is not read."""
    if (answer.content_length or 0) > most:
        return True
    count = 0
    async for piece in answer.content.iter_any():
        count += len(piece)
        if count > most:
            return True
        into.write(piece)
    return False


@contextmanager
def _as_unreachable(*, connect: float, total: float, read: float | None = None) -> Iterator[None]:
    """Turn every way in which a call can fail into Unreachable."""
    try:
        yield
    except aiohttp.SocketTimeoutError:
        raise TimedOut(f"Nothing came for {read:g} seconds.") from None
    except aiohttp.ServerTimeoutError:
        raise TimedOut(f"Could not connect within {connect:g} seconds.") from None
    except TimeoutError:
        raise TimedOut(f"No complete response within {total:g} seconds.") from None
    except (BadAddress, aiohttp.ClientError, OSError, UnicodeError) as error:
        is_barred = isinstance(error, BadAddress) or isinstance(getattr(error, "os_error", None), _NotPublic)
        raise (Barred if is_barred else Unreachable)(_reason(error)) from None


async def _first(content: aiohttp.StreamReader, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes, and True if there are more."""
    taken = bytearray()
    while len(taken) <= most and (piece := await content.read(most + 1 - len(taken))):
        taken += piece
    return bytes(taken[:most]), len(taken) > most


def _reason(error: Exception) -> str:
    # The errors' own texts would reveal this network's resolver and addresses, and memory addresses.
    match error:
        case BadAddress():
            return str(error)
        # UnicodeError: a name that cannot be encoded for a look-up, such as one with two dots in a row.
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return "The host name could not be resolved."
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return "The TLS certificate is not valid."
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return "The TLS connection failed."
        case aiohttp.ClientConnectorError(os_error=_NotPublic()):
            return "The host's address is not public."
        case aiohttp.ClientConnectorError():
            return "Could not connect."
        case aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
            return "The response is not valid HTTP."
        case _:
            return "The connection was interrupted."


class _NotPublic(OSError):
    """The address is not public, so do not connect. An OSError, so that aiohttp tries the host's next address."""

    def __str__(self) -> str:
        # The same text for each address: aiohttp then raises the error itself, not a summary of several.
        return "not public"


def _guarded_socket(address: tuple) -> socket.socket:
    """A socket for this address, which every connection gets here. Raises _NotPublic."""
    family, kind, protocol, _, (host, *_) = address
    if not settings.ALLOW_PRIVATE_CALLBACKS and not is_public(host):
        raise _NotPublic
    return socket.socket(family, kind, protocol)


class _ThreadedResolver(AbstractResolver):
    """Resolves names in threads of its own, so that slow look-ups do not use up the event loop's threads."""

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(NAMES_AT_ONCE, thread_name_prefix="names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        look_up = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self.threads, look_up)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=port,
                family=kind,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)

"""HTTP calls to URLs that strangers gave us (R-APP-15, R-HOOK-11).

The receiver may be hostile: its name may resolve to an address inside our network, its response may be endless or come
at a byte a minute, or redirect us. So the address is checked when the socket is created, after the name was resolved;
redirects are not followed; nothing is decompressed; no cookie is stored and no proxy is used; and one deadline covers
everything from the DNS look-up to the last byte.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings

from storefront.kit.addresses import BadAddress, check_url, is_public

# Bytes of a response that are read at most.
MAX_ANSWER_BYTES = 64 * 1024
# Threads for DNS. A look-up blocks its thread until the name server answers; so many can be slow before others wait.
NAMES_AT_ONCE = 64


class Unreachable(Exception):
    """There is no response; `reason` says why in one sentence that merchants can read."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TimedOut(Unreachable):
    """There was no response in time."""


@dataclass(frozen=True)
class Answer:
    """The response, of any status; redirects are not followed. `body` has the first bytes, not decompressed; `is_cut`
    says that there were more. `seconds` is the duration of the whole call."""

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
    try:
        check_url(url)
        async with asyncio.timeout(total):
            limits = aiohttp.ClientTimeout(total=None, connect=connect)
            async with session.post(url, data=body, headers=headers, allow_redirects=False, timeout=limits) as answer:
                try:
                    start, is_cut = await _first(answer.content, most)
                finally:
                    # Closes the connection at once if the response was not read to its end.
                    answer.close()
    except aiohttp.ServerTimeoutError:
        raise TimedOut(f"Could not connect within {connect:g} seconds.") from None
    except TimeoutError:
        raise TimedOut(f"No complete response within {total:g} seconds.") from None
    except (BadAddress, aiohttp.ClientError, OSError, UnicodeError) as error:
        raise Unreachable(_reason(error)) from None
    return Answer(answer.status, answer.headers, start, is_cut, time.monotonic() - began)


async def _first(content: aiohttp.StreamReader, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes, and whether there are more."""
    taken = bytearray()
    while len(taken) <= most and (piece := await content.read(most + 1 - len(taken))):
        taken += piece
    return bytes(taken[:most]), len(taken) > most


def _reason(error: Exception) -> str:
    # The errors' own texts would reveal our resolver, our addresses and memory addresses.
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

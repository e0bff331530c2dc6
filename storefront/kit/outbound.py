"""HTTP calls to addresses that strangers gave us (decisions: App API, URLs; Events and webhooks).

The receiver may be hostile: it may name an address inside our network, answer without end or a byte a minute, or send
us elsewhere. So the address is judged where the socket is made, after the name was looked up and with nothing between;
redirects are answers like any other; nothing is decompressed; no cookie is kept and no proxy asked; and one deadline
holds from the first look-up to the last byte.
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

# Bytes of an answer that are read at most.
MOST = 64 * 1024
# A look-up blocks a thread, for as long as some name server likes. So many can be slow before others have to wait.
NAMES_AT_ONCE = 64


class Unreachable(Exception):
    """There is no answer; `reason` says why in one sentence, fit for a merchant to read."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TimedOut(Unreachable):
    """There was none in time."""


@dataclass(frozen=True)
class Answer:
    """What came back, whatever its status: a redirect is not followed. `body` holds the first bytes as they were sent;
    `is_cut` when there were more. `seconds` is how long all of it took."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool
    seconds: float


def open_session(*, keep: float = 0) -> aiohttp.ClientSession:
    """A session that connects to public addresses only, as often as it is asked to; close it.

    A kept connection that the receiver gave up meanwhile looks like a failure, so each call makes its own; unless it
    can be made again, and comes within `keep` seconds.
    """
    keeping: dict[str, Any] = {"keepalive_timeout": keep} if keep else {"force_close": True}
    connector = aiohttp.TCPConnector(limit=0, **keeping, resolver=_Names(), socket_factory=_guarded_socket)
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
    most: int = MOST,
) -> Answer:
    """The answer to one POST: connected within `connect` seconds, whole within `total`, read up to `most` bytes.

    Raises Unreachable, or TimedOut where it took too long.
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
                    # Not read to its end, and not to be waited for.
                    answer.close()
    except aiohttp.ServerTimeoutError:
        raise TimedOut(f"No connection within {connect:g} s.") from None
    except TimeoutError:
        raise TimedOut(f"No whole answer within {total:g} s.") from None
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
    # By their own words errors would name our resolver, our addresses and their memory.
    match error:
        case BadAddress():
            return str(error)
        # The second for a name that cannot even be asked for, such as one with two dots in a row.
        case aiohttp.ClientConnectorDNSError() | UnicodeError():
            return "The host name is not known."
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return "The TLS certificate is not valid."
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return "No TLS connection could be made."
        case aiohttp.ClientConnectorError(os_error=_NotPublic()):
            return "The host's address is not a public one."
        case aiohttp.ClientConnectorError():
            return "No connection could be made."
        case aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
            return "The answer was not understood."
        case _:
            return "The connection broke off."


class _NotPublic(OSError):
    """Not connected. An OSError, so that the next of a host's addresses is tried."""

    def __str__(self) -> str:
        # The same for each address: aiohttp then hands on the error itself, not a summary.
        return "not public"


def _guarded_socket(address: tuple) -> socket.socket:
    """A socket for the address that will be connected to: the one place that every connection passes."""
    family, kind, protocol, _, (host, *_) = address
    if not settings.ALLOW_PRIVATE_CALLBACKS and not is_public(host):
        raise _NotPublic
    return socket.socket(family, kind, protocol)


class _Names(AbstractResolver):
    """Looks names up in threads of its own, so that slow ones do not use up the loop's."""

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

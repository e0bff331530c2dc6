"""Calls to addresses that strangers gave us: what comes back, and what a hostile receiver cannot do."""

import asyncio
import gzip
import socket
import ssl
from datetime import timedelta
from functools import partial

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from storefront.kit import clock, outbound
from storefront.kit.outbound import Answer, TimedOut, Unreachable
from tests.receiver import receiving


def post(url: str, **given) -> Answer:
    async def call() -> Answer:
        async with outbound.open_session() as session:
            return await outbound.post(
                session,
                url,
                body=given.pop("body", b"{}"),
                headers=given.pop("headers", {}),
                **{"connect": 3, "total": 10} | given,
            )

    return asyncio.run(call())


def test_the_receiver_gets_the_bytes_and_the_caller_its_answer():
    async def answer(_):
        return web.Response(status=201, text="made", headers={"Retry-After": "7"})

    with receiving(answer) as receiver:
        came = post(f"{receiver.url}/hooks?a=1", body=b'{"a": 1}', headers={"Content-Type": "application/json"})
        got = receiver.next()
    assert (came.status, came.body, came.is_cut) == (201, b"made", False)
    assert came.headers["retry-after"] == "7"
    assert 0 < came.seconds < 10
    assert (got.method, got.path, got.body) == ("POST", "/hooks?a=1", b'{"a": 1}')
    assert got.headers["Content-Type"] == "application/json"
    assert got.headers["User-Agent"] == "Storefront"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    async def answer(request):
        return web.Response(status=status, headers={"Location": f"http://{request.host}/elsewhere"})

    with receiving(answer) as receiver:
        assert post(receiver.url).status == status
        receiver.next()
        assert receiver.received.empty()


def test_reads_at_most_the_requested_bytes():
    async def answer(_):
        return web.Response(body=b"x" * 1_000_000)

    with receiving(answer) as receiver:
        came = post(receiver.url, most=1000)
    assert came.body == b"x" * 1000
    assert came.is_cut


def test_a_response_of_exactly_the_limit_is_not_cut():
    async def answer(_):
        return web.Response(body=b"x" * 1000)

    with receiving(answer) as receiver:
        came = post(receiver.url, most=1000)
    assert (len(came.body), came.is_cut) == (1000, False)


def test_an_endless_answer_is_cut_off():
    cut = []

    async def answer(request):
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b"x" * 65536)
        except ConnectionError:
            cut.append(True)
            raise

    with receiving(answer) as receiver:
        assert post(receiver.url, most=1000).is_cut
    assert cut


@pytest.mark.slow
def test_a_gzip_bomb_stays_small():
    bomb = gzip.compress(b"\0" * 50_000_000)

    async def answer(_):
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip"})

    with receiving(answer) as receiver:
        came = post(receiver.url, most=1000)
        asked = receiver.next()
    assert came.body == bomb[:1000]
    assert asked.headers["Accept-Encoding"] == "identity"


def test_a_receiver_that_does_not_answer_times_out():
    with receiving() as receiver:
        receiver.hold()
        with pytest.raises(TimedOut, match=r"No complete response within 0\.2 seconds\."):
            post(receiver.url, total=0.2)


def test_the_deadline_holds_for_an_answer_that_drips():
    async def drip(request):
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.02)

    with receiving(drip) as receiver, pytest.raises(TimedOut):
        post(receiver.url, total=0.3)


def test_the_deadline_holds_for_a_slow_name(monkeypatch):
    async def slow(*_, **__):
        await asyncio.Event().wait()

    monkeypatch.setattr(outbound._ThreadedResolver, "resolve", slow)
    with pytest.raises(TimedOut, match="within"):
        post("http://app.example.com/", connect=0.1, total=0.5)


def test_a_closed_port_is_unreachable():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable, match="Could not connect"):
            post(f"http://127.0.0.1:{unused.getsockname()[1]}/secret-path")


def test_an_unknown_host_name_is_unreachable(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable, match="The host name could not be resolved"):
        post("http://app.example.com/")


@pytest.mark.parametrize("name", ["app..example.com", "a" * 64 + ".example.com"])
def test_a_host_that_is_no_host_name_is_unreachable(name):
    with pytest.raises(Unreachable, match="The URL's host is not a host name"):
        post(f"http://{name}/")


@pytest.mark.parametrize(
    "said", [b"hello\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", b""]
)
def test_a_response_that_is_not_http_is_unreachable(said):
    async def call() -> None:
        async def say(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(said)
            writer.close()

        server = await asyncio.start_server(say, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        async with server, outbound.open_session() as session:
            await outbound.post(session, url, body=b"{}", headers={}, connect=3, total=10)

    with pytest.raises(Unreachable, match=r"not valid HTTP|interrupted"):
        asyncio.run(call())


def test_endless_headers_are_refused():
    async def answer(_):
        return web.Response(headers={f"X-{number}": "x" * 8000 for number in range(1000)})

    with receiving(answer) as receiver, pytest.raises(Unreachable):
        post(receiver.url)


def test_cookies_are_not_kept():
    async def answer(_):
        return web.Response(headers={"Set-Cookie": "a=1"})

    async def twice(url: str) -> None:
        async with outbound.open_session() as session:
            call = partial(outbound.post, session, url, body=b"", headers={}, connect=3, total=10)
            await call()
            await call()

    with receiving(answer) as receiver:
        asyncio.run(twice(receiver.url))
        receiver.next()
        assert "Cookie" not in receiver.next().headers


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    with receiving() as receiver, receiving() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        assert post(receiver.url).status == 200
        assert proxy.received.empty()


def test_an_untrusted_certificate_is_refused(tmp_path):
    with receiving(tls=self_signed(tmp_path)) as receiver:
        with pytest.raises(Unreachable, match="certificate is not valid"):
            post(receiver.url)
        assert receiver.received.empty()


class TestInProduction:
    """Only public addresses are connected to, whatever a name resolves to."""

    @pytest.fixture(autouse=True)
    def in_production(self, settings):
        settings.ALLOW_PRIVATE_CALLBACKS = False

    @pytest.mark.parametrize("form", ["http://127.0.0.1:{}", "https://127.0.0.1:{}", "https://[::1]:{}"])
    def test_a_private_address_is_not_called(self, form):
        with receiving() as receiver:
            with pytest.raises(Unreachable):
                post(form.format(receiver.url.rpartition(":")[2]))
            assert receiver.received.empty()

    @pytest.mark.rule("R-APP-15")
    @pytest.mark.parametrize(
        "address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1%1", "fd00::1"]
    )
    def test_a_name_of_a_private_address_is_not_connected_to(self, address, monkeypatch):
        monkeypatch.setattr(socket, "getaddrinfo", answering(address))
        connected = watch_connects(monkeypatch)
        with pytest.raises(Unreachable, match="address is not public"):
            post("https://app.example.com/")
        assert connected == []

    @pytest.mark.rule("R-APP-15")
    def test_a_name_is_checked_again_for_each_call(self, monkeypatch):
        connected = watch_connects(monkeypatch)
        for address, says in (("93.184.216.34", "Could not connect"), ("127.0.0.1", "address is not public")):
            monkeypatch.setattr(socket, "getaddrinfo", answering(address))
            with pytest.raises(Unreachable, match=says):
                post("https://app.example.com/")
        assert connected == [("93.184.216.34", 443)]

    def test_of_a_name_with_both_only_the_public_address_is_tried(self, monkeypatch):
        monkeypatch.setattr(socket, "getaddrinfo", answering("127.0.0.1", "93.184.216.34", "10.0.0.1"))
        connected = watch_connects(monkeypatch)
        with pytest.raises(Unreachable):
            post("https://app.example.com/")
        assert set(connected) == {("93.184.216.34", 443)}

    def test_an_address_is_checked_at_the_socket_too(self, monkeypatch):
        monkeypatch.setattr(outbound, "check_url", lambda url: url)
        with receiving() as receiver:
            with pytest.raises(Unreachable, match="address is not public"):
                post(receiver.url)
            assert receiver.received.empty()


def answering(*addresses: str):
    """A `getaddrinfo` that returns these addresses."""

    def getaddrinfo(_host, port, *_, **__):
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in addresses
        ]

    return getaddrinfo


def watch_connects(monkeypatch) -> list[tuple]:
    """Collects the addresses of connection attempts, and lets all of them fail."""
    connected: list[tuple] = []

    async def connect(_loop, _sock, address):
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", connect)
    return connected


def self_signed(folder) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = clock.now()
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    pem = folder / "certificate.pem"
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context

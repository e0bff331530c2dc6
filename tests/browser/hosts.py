"""A shop, its secure pages and the admin on three hosts that the browser can reach, over HTTP or HTTPS."""

import datetime
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientSession, web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from storefront.shops.models import Shop
from tests.pricing.rows import make_rate
from tests.receiver import receiving
from tests.shops.factories import make_shop


@dataclass
class Hosts:
    shop: Shop
    admin: str
    base: str

    @property
    def secure(self) -> str:
        """The base URL of the shop's secure pages."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://secure.{parts.netloc}/{self.shop.domain}"


@contextmanager
def three_hosts(kind: str, live_server: Any, settings: Any, directory: Path) -> Iterator[Hosts]:
    """`localhost` as `make run` has them, `http` and `https` with siblings under one name (`shop.test`)."""
    port = urlsplit(live_server.url).port
    if kind == "https":
        with _tls_proxy(port, _certificate(directory)) as proxied:
            settings.HTTPS = settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
            settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
            yield _hosts("https", "shop.test", proxied, settings)
    else:
        yield _hosts("http", "localhost" if kind == "localhost" else "shop.test", port, settings)


def _hosts(scheme: str, domain: str, port: int | None, settings: Any) -> Hosts:
    settings.ADMIN_HOST, settings.SECURE_HOST = f"admin.{domain}:{port}", f"secure.{domain}:{port}"
    base = f"{scheme}://{domain}:{port}"
    shop = make_shop(domain, base_url=base)
    make_rate(shop, countries=["DE"])
    return Hosts(shop, f"{scheme}://admin.{domain}:{port}", base)


@contextmanager
def _tls_proxy(port: int | None, tls: ssl.SSLContext) -> Iterator[int | None]:
    """An HTTPS proxy for the port, like the one in front of a deployment."""

    async def forward(request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() != "transfer-encoding"}
        headers["X-Forwarded-Proto"] = "https"
        url = f"http://127.0.0.1:{port}{request.raw_path}"
        async with (
            ClientSession(auto_decompress=False) as session,
            session.request(
                request.method, url, headers=headers, data=await request.read(), allow_redirects=False
            ) as answer,
        ):
            kept = [(name, value) for name, value in answer.headers.items() if name.lower() not in HOP_BY_HOP]
            response = web.Response(status=answer.status, body=await answer.read())
            response.headers.clear()
            for name, value in kept:
                response.headers.add(name, value)
            return response

    with receiving(forward, tls=tls) as proxy:
        yield urlsplit(proxy.url).port


HOP_BY_HOP = {"transfer-encoding", "connection", "content-length", "server", "date"}


def _certificate(directory: Path) -> ssl.SSLContext:
    """A self-signed certificate. The browser is set to accept any."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "shop.test")])
    now = datetime.datetime.now(datetime.UTC)
    names = [x509.DNSName(host) for host in ("shop.test", "*.shop.test")]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = directory / "shop.test.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    return tls

"""Asks a public address, as a visitor does, whether this deployment answers there, and looks at its certificate."""

import socket
import ssl
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.x509.oid import ExtensionOID

from storefront.kit import clock
from storefront.staff import domains

# Seconds for each step of the network.
STEP_SECONDS = 5.0
# Codes of OpenSSL, in X509_V_ERR_...
EXPIRED, SELF_SIGNED, WRONG_NAME = 10, (18, 19), 62
MAX_NAMES = 5


@dataclass
class Probe:
    """What was seen at an origin such as `https://shop.example.com`."""

    origin: str
    # Why this deployment does not answer there, and why browsers refuse the certificate, as sentences.
    problem: str = ""
    certificate_problem: str = ""
    certificate_ends_at: datetime | None = None
    # Seconds by which the clock there is ahead of ours.
    ahead: float | None = None

    @property
    def host(self) -> str:
        return urlsplit(self.origin).hostname or ""

    @property
    def is_https(self) -> bool:
        return urlsplit(self.origin).scheme == "https"

    @property
    def port(self) -> int:
        return urlsplit(self.origin).port or (443 if self.is_https else 80)


def probe(origin: str) -> Probe:
    """Look at the origin. Raises nothing: what goes wrong is in the result."""
    seen = Probe(origin)
    try:
        with _connect(seen) as connection:
            _ask(seen, connection)
    except socket.gaierror:
        seen.problem = "Its name has no address in the DNS."
    except TimeoutError:
        seen.problem = f"It does not answer within {STEP_SECONDS:.0f} s."
    except ssl.SSLError as error:
        seen.problem = f"It does not speak HTTPS ({error.reason or 'TLS fails'})."
    except OSError as error:
        seen.problem = f"Nothing can be reached there ({error.strerror or error})."
    except HTTPException as error:
        seen.problem = f"It does not answer as a web server does ({type(error).__name__})."
    return seen


def _connect(seen: Probe) -> socket.socket:
    """A connection to the origin, encrypted if it is HTTPS, even where the certificate is not valid: who answers is
    proved by the answer."""
    if not seen.is_https:
        return socket.create_connection((seen.host, seen.port), STEP_SECONDS)
    try:
        connection = _encrypted(seen, ssl.create_default_context())
    except ssl.SSLCertVerificationError as error:
        any_certificate = ssl.create_default_context()
        any_certificate.check_hostname, any_certificate.verify_mode = False, ssl.CERT_NONE
        connection = _encrypted(seen, any_certificate)
        certificate = _certificate_of(connection)
        seen.certificate_problem = _problem_of(certificate, error)
    else:
        certificate = _certificate_of(connection)
    seen.certificate_ends_at = certificate.not_valid_after_utc
    return connection


def _encrypted(seen: Probe, context: ssl.SSLContext) -> ssl.SSLSocket:
    plain = socket.create_connection((seen.host, seen.port), STEP_SECONDS)
    try:
        return context.wrap_socket(plain, server_hostname=seen.host)
    except BaseException:
        plain.close()
        raise


def _certificate_of(connection: socket.socket) -> x509.Certificate:
    assert isinstance(connection, ssl.SSLSocket)
    encoded = connection.getpeercert(binary_form=True)
    assert encoded, "a TLS server sends its certificate"
    return x509.load_der_x509_certificate(encoded)


def _problem_of(certificate: x509.Certificate, error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code == EXPIRED:
        return f"The certificate ended on {certificate.not_valid_after_utc:%Y-%m-%d}."
    if error.verify_code in SELF_SIGNED:
        return "The certificate is self-signed, which browsers refuse."
    if error.verify_code == WRONG_NAME:
        return f"The certificate is for other names ({', '.join(_names_of(certificate)) or 'none'})."
    return f"The certificate is not valid: {error.verify_message}."


def _names_of(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_oid(ExtensionOID.SUBJECT_ALTERNATIVE_NAME).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    assert isinstance(names, x509.SubjectAlternativeName)
    return names.get_values_for_type(x509.DNSName)[:MAX_NAMES]


def _ask(seen: Probe, connection: socket.socket) -> None:
    client = HTTPConnection(seen.host, seen.port)
    client.sock = connection
    client.request("GET", domains.PROOF_PATH, headers={"Host": urlsplit(seen.origin).netloc})
    answer = client.getresponse()
    received_at = clock.now()
    is_ours = answer.status == 200 and domains.is_proof(seen.host, answer.read(domains.PROOF_BYTES))
    if not is_ours:
        seen.problem = f"Something else answers there (status {answer.status}), and not this deployment."
    seen.ahead = _ahead(answer, received_at)


def _ahead(answer: HTTPResponse, received_at: datetime) -> float | None:
    try:
        # Whole seconds, cut off.
        return (parsedate_to_datetime(answer.headers["Date"]) - received_at).total_seconds() + 0.5
    except (TypeError, ValueError):
        return None

"""`storefront doctor` looks at public addresses as a visitor does: name, certificate, who answers, and the clock."""

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from storefront.server.doctor import hosts, probing
from storefront.server.doctor.findings import Finding, State
from storefront.server.doctor.probing import Probe, probe
from storefront.shops.models import Shop, ShopDomain
from storefront.staff.domains import proof_of
from tests.server.doctor.sites import site, write_certificate
from tests.shops.factories import NOW


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """A certificate for localhost that this process trusts."""
    path = write_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    return path


def seen_with(certificate, *, answer: str | None = None, **given) -> Probe:
    with site(proof_of("localhost") if answer is None else answer, certificate=certificate, **given) as port:
        return probe(f"https://localhost:{port}")


def test_our_host_with_a_valid_certificate_is_well(trusted):
    seen = seen_with(trusted)
    assert (seen.problem, seen.certificate_problem) == ("", "")
    assert seen.certificate_ends_at is not None
    assert timedelta(days=59) < seen.certificate_ends_at - datetime.now(UTC) < timedelta(days=61)
    assert seen.ahead is not None
    assert abs(seen.ahead) < 2


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "The certificate is self-signed, which browsers refuse."),
        ({"name": "other.example.com"}, "The certificate is for other names (other.example.com)."),
        ({"days": -1}, "The certificate ended on "),
    ],
)
def test_an_invalid_certificate_is_named_and_who_answers_all_the_same(tmp_path, monkeypatch, given, problem):
    path = write_certificate(tmp_path, **given)
    if given:
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    seen = seen_with(path)
    assert seen.certificate_problem.startswith(problem)
    assert seen.problem == ""


def test_another_server_is_not_taken_for_us(trusted):
    assert seen_with(trusted, answer="Welcome to nginx!").problem == (
        "Something else answers there (status 200), and not this deployment."
    )
    assert "(status 502)" in seen_with(trusted, status=502).problem
    # The proof of one host is none for another.
    assert seen_with(trusted, answer=proof_of("shop.example.com")).problem


@pytest.mark.slow
def test_a_host_that_is_not_there_is_named(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as probed:
        port = probed.getsockname()[1]
        monkeypatch.setattr(probing, "STEP_SECONDS", 0.2)
        # Connections are taken, and nobody answers.
        assert probe(f"http://127.0.0.1:{port}").problem == "It does not answer within 0 s."
        assert probe(f"https://127.0.0.1:{port}").problem == "It does not answer within 0 s."
    assert probe(f"http://127.0.0.1:{port}").problem == "Nothing can be reached there (Connection refused)."
    assert probe("http://nowhere.invalid").problem == "Its name has no address in the DNS."
    with site("") as port:
        assert probe(f"https://127.0.0.1:{port}").problem.startswith("It does not speak HTTPS")


def test_a_clock_that_differs_is_seen(trusted):
    late = format_datetime(datetime.now(UTC) - timedelta(minutes=2), usegmt=True)
    ahead = seen_with(trusted, date=late).ahead
    assert ahead is not None
    assert -122 < ahead < -117
    assert seen_with(trusted, date="yesterday").ahead is None


@pytest.mark.django_db
def test_every_public_address_is_asked(shop, other_shop, settings):
    settings.HTTPS = True
    settings.ADMIN_HOST, settings.SECURE_HOST = "admin.example.com", "secure.example.com"
    ShopDomain.objects.create(shop=shop, domain="www.example.com", created_at=NOW, confirmed_at=NOW)
    ShopDomain.objects.create(shop=other_shop, domain="new.example.com", created_at=NOW)
    shops = [each.base_url for each in Shop.objects.order_by("pk")]
    assert hosts.origins() == [
        "https://admin.example.com",
        "https://secure.example.com",
        *shops,
        f"{shop.base_url.partition(':')[0]}://www.example.com",
    ]
    (waiting,) = [finding for finding in hosts.configuration() if finding.state == State.WARNING]
    assert waiting.advice == "storefront domains confirm --shop other.example.com --domain new.example.com"


@pytest.mark.django_db
def test_what_is_not_configured_is_named(settings):
    settings.ADMIN_HOST = settings.SECURE_HOST = ""
    found = list(hosts.configuration())
    assert [finding.state for finding in found] == [State.MISSING, State.WARNING]
    assert found[0].advice == "Create one with storefront createshop."


@pytest.mark.django_db
def test_https_shops_need_the_setting(shop, settings):
    Shop.objects.filter(pk=shop.pk).update(base_url="https://shop.example.com")
    settings.HTTPS = False
    assert "Set STOREFRONT_HTTPS=1." in [finding.advice for finding in hosts.configuration()]
    settings.HTTPS = True
    assert "Set STOREFRONT_HTTPS=1." not in [finding.advice for finding in hosts.configuration()]


def states(findings: list[Finding]) -> list[tuple[State, str]]:
    return [(finding.state, finding.text) for finding in findings]


def test_certificates_that_end_soon_and_hosts_without_one_are_named():
    now = datetime.now(UTC)
    probes = [
        Probe("https://a.example.com", certificate_ends_at=now + timedelta(days=60, hours=1)),
        Probe("https://b.example.com", certificate_ends_at=now + timedelta(days=5, hours=1)),
        Probe("https://c.example.com", problem="It is not there."),
        Probe("http://d.example.com"),
        Probe("http://localhost:8000"),
        Probe("http://127.0.0.1:8000"),
    ]
    assert states(list(hosts.certificates(probes))) == [
        (State.WARNING, f"https://b.example.com: the certificate ends on {now + timedelta(days=5, hours=1):%Y-%m-%d}."),
        (State.MISSING, "http://d.example.com is not encrypted."),
        (State.OK, "2 valid; the first ends in 5 days (https://b.example.com)."),
    ]


def test_of_many_that_fail_some_are_listed_and_all_counted():
    probes = [Probe(f"https://{number}.example.com", problem="It is not there.") for number in range(25)]
    found = list(hosts.leading_here([*probes, Probe("https://good.example.com")]))
    assert len(found) == 12
    assert states(found[-2:]) == [
        (State.MISSING, "15 more like these."),
        (State.OK, "1 of 26 hosts lead here."),
    ]

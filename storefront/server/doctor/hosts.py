from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from storefront.kit import clock
from storefront.server.doctor import clocks
from storefront.server.doctor.findings import Finding, State, listed
from storefront.server.doctor.probing import Probe, probe
from storefront.server.doctor.running import run_all
from storefront.shops import places
from storefront.shops.models import Shop, ShopDomain

HOSTS, CERTIFICATE = "hosts", "certificate"
# Seconds for all hosts together, and how many are asked at once.
DEADLINE_SECONDS, AT_ONCE = 45.0, 16
# Certificates are renewed a month before they end.
RENEWED_BEFORE = timedelta(days=20)


def look() -> Iterator[Finding]:
    """Whether the hosts of the deployment and its shops lead here, by valid certificates."""
    yield from configuration()
    wanted = origins()
    seen = run_all([partial(probe, origin) for origin in wanted], seconds=DEADLINE_SECONDS, at_once=AT_ONCE)
    probes = [
        found or Probe(origin, problem="It was not reached in time.")
        for origin, found in zip(wanted, seen, strict=True)
    ]
    yield from leading_here(probes)
    yield from certificates(probes)
    if offs := [abs(found.ahead) for found in probes if found.ahead is not None]:
        yield clocks.finding_of("The clock at the public addresses", max(offs))


def configuration() -> Iterator[Finding]:
    """Which hosts are configured, and which further domains wait for the operator."""
    shops = Shop.objects.order_by("pk")
    if not shops.exists():
        yield Finding(HOSTS, State.MISSING, "There is no shop.", "Create one with storefront createshop.")
    if not places.hosts_are_separate():
        text = "Admin and checkout share the shops' hosts, so scripts of apps do not run."
        yield Finding(HOSTS, State.WARNING, text, "Set STOREFRONT_ADMIN_HOST and STOREFRONT_SECURE_HOST.")
    if not settings.HTTPS and shops.filter(base_url__startswith="https:").exists():
        text = "Shops have https:// addresses, and STOREFRONT_HTTPS is 0: cookies are sent without encryption, too."
        yield Finding(HOSTS, State.MISSING, text, "Set STOREFRONT_HTTPS=1.")
    waiting = ShopDomain.objects.filter(confirmed_at=None).select_related("shop").order_by("pk")
    yield from listed(
        Finding(
            HOSTS,
            State.WARNING,
            f"{row.shop.domain} asked for the domain {row.domain}.",
            f"storefront domains confirm --shop {row.shop.domain} --domain {row.domain}",
        )
        for row in waiting
    )


def origins() -> list[str]:
    """The origins of the admin, of the secure pages, of all shops and of their confirmed further domains."""
    found = [places.origin_at(host) for host in (settings.ADMIN_HOST, settings.SECURE_HOST) if host]
    found += map(places.origin_of, Shop.objects.order_by("pk").values_list("base_url", flat=True))
    further = ShopDomain.objects.exclude(confirmed_at=None).order_by("pk").values_list("shop__base_url", "domain")
    for base_url, domain in further:
        parts = urlsplit(base_url)
        found.append(f"{parts.scheme}://{domain}" + (f":{parts.port}" if parts.port else ""))
    return list(dict.fromkeys(found))


def leading_here(probes: list[Probe]) -> Iterator[Finding]:
    advice = "Point its DNS to the proxy, and let the proxy pass it on with its Host."
    failed = [
        Finding(HOSTS, State.MISSING, f"{found.origin}: {found.problem}", advice) for found in probes if found.problem
    ]
    yield from listed(failed)
    if count := len(probes) - len(failed):
        yield Finding(HOSTS, State.OK, f"{count} of {len(probes)} hosts lead here.")


def certificates(probes: list[Probe]) -> Iterator[Finding]:
    """The certificates of HTTPS addresses that answered, and addresses without HTTPS that others can reach."""
    soon = clock.now() + RENEWED_BEFORE
    findings, valid = [], []
    for found in probes:
        if not found.is_https and not is_on_this_machine(found.host):
            text = f"{found.origin} is not encrypted."
            findings.append(Finding(CERTIFICATE, State.MISSING, text, "Use https:// and STOREFRONT_HTTPS=1."))
        elif found.certificate_problem:
            advice = "Get one for this name: Caddy does so by itself, certbot when asked."
            findings.append(Finding(CERTIFICATE, State.MISSING, f"{found.origin}: {found.certificate_problem}", advice))
        elif found.certificate_ends_at:
            valid.append((found.certificate_ends_at, found.origin))
            if found.certificate_ends_at < soon:
                text = f"{found.origin}: the certificate ends on {found.certificate_ends_at:%Y-%m-%d}."
                advice = "See why it was not renewed: the log of Caddy or of certbot."
                findings.append(Finding(CERTIFICATE, State.WARNING, text, advice))
    yield from listed(findings)
    if valid:
        ends_at, origin = min(valid)
        days = (ends_at - clock.now()).days
        yield Finding(CERTIFICATE, State.OK, f"{len(valid)} valid; the first ends in {days} days ({origin}).")


def is_on_this_machine(host: str) -> bool:
    """Returns True for names and addresses that only this machine reaches."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")

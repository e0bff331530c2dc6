"""Further domains of a shop, which redirect to the shop's own address.

Every domain whose DNS leads to this deployment answers here, whoever it belongs to. So that no shop takes a domain that
another one is about to use, a merchant only asks for a domain, and the operator, who also sets up its certificate,
confirms it (`storefront domains confirm`). A shop's own domain always wins over further ones.
"""

import asyncio
from datetime import datetime
from io import BytesIO
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.core.validators import DomainNameValidator
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import gettext_noop

from storefront import audit
from storefront.kit.outbound import Barred, Unreachable, download, open_session
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.pods import directory
from storefront.shops import places
from storefront.shops.models import Shop, ShopDomain
from storefront.shops.ratelimit import RateLimited, seconds_to_wait

MAX_DOMAINS = 20
# Path on which a host proves that it is served by this deployment (`server/wellknown.py`).
PROOF_PATH = "/.well-known/shop-domain"
CONNECT_SECONDS, TOTAL_SECONDS, PROOF_BYTES = 3, 8, 1000
ELSEWHERE = gettext_noop(
    "It answers, but not with this shop: its DNS leads to another server, or a redirect comes before the shop."
)
_is_domain_name = DomainNameValidator()


class CheckedOften(RateLimited):
    message = _lazy("This shop's domains were checked very often just now. Please try again later.")


def normal_domain(text: str) -> str:
    """The domain as it is stored: without scheme, path and a dot at the end, in lower case. Other text stays, and is
    refused later."""
    text = text.strip().lower()
    try:
        host = urlsplit(text).hostname if "://" in text else text.rstrip("/")
    except ValueError:
        # Something that only looks like a URL, such as http://[
        return text
    return (host or "").removesuffix(".")


def problem_of(shop: Shop, domain: str) -> str | None:
    """The reason why the shop cannot request this domain, as a sentence; None if it can."""
    try:
        _is_domain_name(domain)
    except ValidationError:
        return _("Expected a host name such as www.example.com, without scheme, port or path.")
    # Hosts are looked up without a dot at the end.
    if not domain.isascii() or domain.endswith(".") or domain.rpartition(".")[2].isdigit():
        return _("Expected a host name such as www.example.com. Write international names as xn--….")
    if places.is_reserved(domain):
        return places.reserved_message(domain)
    if domain in (shop.domain, urlsplit(shop.base_url).hostname):
        return _("This is the shop's own address.")
    is_elsewhere = is_taken(domain, besides=shop) or _is_address(domain, besides=shop)
    return taken_message(domain) if is_elsewhere else None


def is_taken(domain: str, *, besides: Shop | None = None) -> bool:
    """Returns True if another shop, of any pod, has this domain, as its own or as a confirmed further one."""
    own = Shop.objects.filter(domain=domain)
    if besides is not None and besides.pk:
        own = own.exclude(pk=besides.pk)
    return own.exists() or is_further(domain, besides=besides) or directory.is_elsewhere(domain)


def is_further(domain: str, *, besides: Shop | None = None) -> bool:
    """Returns True if another shop has this as a confirmed further domain. Then it cannot be a shop's own address:
    visitors would be redirected to the other shop, or back and forth."""
    further = ShopDomain.objects.filter(domain=domain, confirmed_at__isnull=False)
    return (further.exclude(shop=besides) if besides is not None and besides.pk else further).exists()


def _is_address(domain: str, besides: Shop) -> bool:
    """Returns True if the base URL of another shop has this host."""
    others = Shop.objects.exclude(pk=besides.pk).filter(base_url__icontains=f"://{domain}")
    return any(urlsplit(url).hostname == domain for url in others.values_list("base_url", flat=True))


def taken_message(domain: str) -> str:
    return _("Another shop already has the domain %(domain)s.") % {"domain": domain}


@transaction.atomic
def ask_for_domain(*, shop: Shop, domain: str, now: datetime) -> ShopDomain:
    """Register a further domain for the shop. It serves no pages until it is confirmed. Raises InvalidFields."""
    # A concurrent request waits here, and then sees this one's domain.
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)
    domain = normal_domain(domain)
    own = ShopDomain.objects.filter(shop=shop)
    problem = problem_of(shop, domain)
    if not problem and own.filter(domain=domain).exists():
        problem = _("The shop already has this domain in its list.")
    if not problem and own.count() >= MAX_DOMAINS:
        problem = _("A shop can have at most %(max_domains)s further domains.") % {"max_domains": MAX_DOMAINS}
    if problem:
        raise InvalidFields(errors={"domain": [problem]})
    row = ShopDomain.objects.create(shop=shop, domain=domain, created_at=now)
    audit.record_created(shop=shop, object=row, now=now)
    return row


def confirm_domain(*, shop: Shop, domain: str, now: datetime) -> ShopDomain:
    """Let the domain lead to the shop from now on. Confirming again changes nothing. Raises NotFound if the shop has
    not asked for it, and InvalidFields if another shop has it."""
    domain = normal_domain(domain)
    taken = InvalidFields(errors={"domain": [taken_message(domain)]})
    try:
        with transaction.atomic():
            row = ShopDomain.objects.select_for_update().filter(shop=shop, domain=domain).first()
            if row is None:
                raise NotFound(
                    f"{shop.domain} has not asked for {domain}. Its owner does that under Settings > Domains."
                )
            if row.confirmed_at is None:
                if problem := problem_of(shop, domain):
                    raise InvalidFields(errors={"domain": [problem]})
                row.confirmed_at = now
                row.save(update_fields=["confirmed_at"])
                audit.record(shop=shop, action="domain.confirmed", object=row, now=now)
            return row
    except IntegrityError:
        # Another shop's request for the domain was confirmed at the same moment.
        raise taken from None


@transaction.atomic
def remove_domain(*, shop: Shop, domain: str, now: datetime) -> None:
    """Remove the further domain from the shop. Raises NotFound."""
    row = ShopDomain.objects.select_for_update().filter(shop=shop, domain=normal_domain(domain)).first()
    if row is None:
        raise NotFound(f"{shop.domain} has no further domain {domain}.")
    audit.record_deleted(shop=shop, rows=[row], now=now)
    row.delete()


def check_domain(*, shop: Shop, row: ShopDomain, now: datetime) -> str:
    """Check that the domain leads to this deployment. Returns the problem as a sentence; empty if there is none.
    Connects to public addresses only. Takes `TOTAL_SECONDS` at most, and raises CheckedOften so that one shop's checks
    do not take the threads of all shops' pages."""
    for item in settings.LIMITS["domain_checks"]:
        if wait := seconds_to_wait(item, f"domain_checks:{shop.pk}"):
            raise CheckedOften(wait)
    problem = asyncio.run(_problem_of_way(shop, row.domain))
    ShopDomain.objects.filter(shop=shop, pk=row.pk).update(checked_at=now, problem=problem)
    audit.record(shop=shop, action="domain.checked", object=row, after={"problem": problem}, now=now)
    return problem


async def _problem_of_way(shop: Shop, domain: str) -> str:
    address, body = urlsplit(shop.base_url), BytesIO()
    port = f":{address.port}" if address.port else ""
    async with open_session() as session:
        try:
            answer = await download(
                session,
                f"{address.scheme}://{domain}{port}{PROOF_PATH}",
                into=body,
                headers={},
                connect=CONNECT_SECONDS,
                read=CONNECT_SECONDS,
                total=TOTAL_SECONDS,
                most=PROOF_BYTES,
                redirects=0,
            )
        except Barred as barred:
            return ELSEWHERE if "redirects" in barred.reason else barred.reason
        except Unreachable as failed:
            return failed.reason
    is_ours = answer.status == 200 and not answer.is_cut and is_proof(domain, body.getvalue())
    return "" if is_ours else ELSEWHERE


def proof_of(host: str) -> str:
    """The answer at `PROOF_PATH` of this host, which no other deployment can give."""
    return _signer().signature(normal_domain(host))


def is_proof(host: str, body: bytes) -> bool:
    try:
        _signer().unsign(f"{normal_domain(host)}:{body.decode('ascii', 'replace').strip()}")
    except BadSignature:
        return False
    return True


def _signer() -> Signer:
    return Signer(salt="shops.domains")

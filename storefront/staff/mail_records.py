"""Looks up the DNS records by which receivers judge mails from a domain: SPF, DKIM and DMARC (docs/emails.md)."""

import time
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

# Seconds for one question, and for all of them: the page waits for the answers.
QUESTION_SECONDS, TOTAL_SECONDS = 3, 8
# Domains above the address's own at which a DMARC record is looked for.
MAX_PARENTS = 4
COULD_NOT_LOOK = _lazy("%(record)s of %(domain)s could not be looked up: DNS does not answer here. Try again later.")


class State(StrEnum):
    GOOD = "good"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """The state of one kind of record, with a sentence that names what to add."""

    record: str
    state: State
    text: str


def check_records(domain: str) -> list[Finding]:
    """What receivers of mails from this domain find in DNS, and what is missing. Takes `TOTAL_SECONDS` at most."""
    look = _Looking(time.monotonic() + TOTAL_SECONDS)
    findings = []
    for record, check in (("SPF", _spf), ("DKIM", _dkim), ("DMARC", _dmarc)):
        try:
            state, text = check(domain, look)
        except DNSException:
            state, text = State.UNKNOWN, str(COULD_NOT_LOOK) % {"record": record, "domain": domain}
        findings.append(Finding(record, state, text))
    return findings


class _Looking:
    def __init__(self, until: float) -> None:
        self.until = until

    def texts(self, name: str) -> list[str]:
        """The TXT records of the name. Raises DNSException if nobody answers."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise DNSException
        try:
            found = resolver().resolve(f"{name}.", "TXT", search=False, lifetime=min(left, QUESTION_SECONDS))
        except (NXDOMAIN, NoAnswer):
            return []
        return [b"".join(row.strings).decode("ascii", "replace") for row in found]


def resolver() -> Resolver:
    """Asks the DNS servers of this machine. Raises DNSException if it has none."""
    return Resolver()


def _spf(domain: str, look: _Looking) -> tuple[State, str]:
    found = [text.lower().split() for text in look.texts(domain) if text.lower().split()[:1] == ["v=spf1"]]
    term = settings.EMAIL_SPF.lower()
    if not found:
        return (
            State.MISSING,
            _("SPF is missing: add a TXT record “v=spf1 %(term)s ~all” at %(domain)s.")
            % {"term": term or _("(your mail server)"), "domain": domain},
        )
    if len(found) > 1:
        return State.MISSING, _("SPF: %(domain)s has %(count)s records, so that none counts. Make them one.") % {
            "domain": domain,
            "count": len(found),
        }
    if not term:
        return State.UNKNOWN, _(
            "SPF: %(domain)s has a record. Its operator knows whether it allows this mail server."
        ) % {"domain": domain}
    if term not in found[0]:
        return (
            State.MISSING,
            _("SPF does not allow this deployment's mail server: add “%(term)s” to the record of %(domain)s.")
            % {"term": term, "domain": domain},
        )
    return State.GOOD, _("SPF: %(domain)s allows this deployment's mail server.") % {"domain": domain}


def _dkim(domain: str, look: _Looking) -> tuple[State, str]:
    if not settings.EMAIL_DKIM:
        return State.UNKNOWN, _("DKIM cannot be looked up: the operator has not set STOREFRONT_EMAIL_DKIM.")
    name = f"{settings.EMAIL_DKIM}._domainkey.{domain}"
    tags = [tag.replace(" ", "") for text in look.texts(name) for tag in text.split(";")]
    if any(tag.startswith("p=") and tag != "p=" for tag in tags):
        return State.GOOD, _("DKIM: %(name)s has a key.") % {"name": name}
    return State.MISSING, _("DKIM is missing: add the mail server's public key as a TXT record at %(name)s.") % {
        "name": name
    }


def _dmarc(domain: str, look: _Looking) -> tuple[State, str]:
    labels = domain.split(".")
    for depth in range(max(1, min(MAX_PARENTS + 1, len(labels) - 1))):
        name = ".".join(["_dmarc", *labels[depth:]])
        if any(text.lower().replace(" ", "").startswith("v=dmarc1") for text in look.texts(name)):
            return State.GOOD, _(
                "DMARC: %(name)s has a policy. Emails count as genuine if SPF or DKIM is that of %(domain)s."
            ) % {"name": name, "domain": domain}
    return State.MISSING, _(
        "DMARC is missing: add a TXT record such as “v=DMARC1; p=quarantine” at _dmarc.%(domain)s."
    ) % {"domain": domain}

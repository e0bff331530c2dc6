"""Looks up the DNS records by which receivers judge mails from a domain: SPF, DKIM and DMARC (docs/emails.md)."""

import time
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, Resolver

# Seconds for one question, and for all of them: the page waits for the answers.
QUESTION_SECONDS, TOTAL_SECONDS = 3, 8
# Domains above the address's own at which a DMARC record is looked for.
MAX_PARENTS = 4
COULD_NOT_LOOK = "could not be looked up: DNS does not answer here. Try again later."


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
            state, text = State.UNKNOWN, f"{record} of {domain} {COULD_NOT_LOOK}"
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
            f"SPF is missing: add a TXT record “v=spf1 {term or '(your mail server)'} ~all” at {domain}.",
        )
    if len(found) > 1:
        return State.MISSING, f"SPF: {domain} has {len(found)} records, so that none counts. Make them one."
    if not term:
        return State.UNKNOWN, f"SPF: {domain} has a record. Its operator knows whether it allows this mail server."
    if term not in found[0]:
        return (
            State.MISSING,
            f"SPF does not allow this deployment's mail server: add “{term}” to the record of {domain}.",
        )
    return State.GOOD, f"SPF: {domain} allows this deployment's mail server."


def _dkim(domain: str, look: _Looking) -> tuple[State, str]:
    if not settings.EMAIL_DKIM:
        return State.UNKNOWN, "DKIM cannot be looked up: the operator has not set STOREFRONT_EMAIL_DKIM."
    name = f"{settings.EMAIL_DKIM}._domainkey.{domain}"
    tags = [tag.replace(" ", "") for text in look.texts(name) for tag in text.split(";")]
    if any(tag.startswith("p=") and tag != "p=" for tag in tags):
        return State.GOOD, f"DKIM: {name} has a key."
    return State.MISSING, f"DKIM is missing: add the mail server's public key as a TXT record at {name}."


def _dmarc(domain: str, look: _Looking) -> tuple[State, str]:
    labels = domain.split(".")
    for depth in range(max(1, min(MAX_PARENTS + 1, len(labels) - 1))):
        name = ".".join(["_dmarc", *labels[depth:]])
        if any(text.lower().replace(" ", "").startswith("v=dmarc1") for text in look.texts(name)):
            return State.GOOD, f"DMARC: {name} has a policy. Mails count as genuine if SPF or DKIM is that of {domain}."
    return State.MISSING, f"DMARC is missing: add a TXT record such as “v=DMARC1; p=quarantine” at _dmarc.{domain}."

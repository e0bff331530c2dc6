"""Who a mail of a shop comes from.

Threats. A shop's e-mail address is what its staff typed, so it may be anybody's, also the operator's. It becomes the
sender only when it is proved: somebody who reads its mail followed a link (`staff.senders`). On a domain of this
deployment that is not enough, since whoever has a mailbox there would write as the deployment: the operator allows such
an address (`storefront senders allow`). Both are stored as the address itself, so that a new address is unproved.
"""

from email.utils import parseaddr

from django.conf import settings
from django.utils.encoding import punycode

from storefront.shops.models import Shop


def is_proved(shop: Shop) -> bool:
    """Whether mails to shoppers come from the shop's own address. Otherwise they come from that of the deployment, and
    replies go to the shop."""
    if not shop.email:
        return False
    if shop.email == shop.allowed_sender:
        return True
    return shop.email == shop.proved_sender and not is_of_deployment(shop.email)


def is_of_deployment(email: str) -> bool:
    """Whether the address is on a domain of this deployment, above one or below one."""
    domain = domain_of(email)
    hosts = [host.partition(":")[0] for host in (settings.ADMIN_HOST, settings.SECURE_HOST)]
    own = [domain_of(deployment_address()), *hosts]
    return any(_is_within(domain, host) or _is_within(host, domain) for host in own if host)


def deployment_address() -> str:
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1]


def written_address(email: str) -> str:
    """The address as it stands in a mail: its domain in ASCII letters."""
    return f"{email.rpartition('@')[0]}@{domain_of(email)}"


def domain_of(email: str) -> str:
    """The domain in lower case and ASCII, as mail servers look it up, so that no other spelling passes for another
    domain."""
    return punycode(email.rpartition("@")[2].lower()).lower().rstrip(".")


def _is_within(domain: str, other: str) -> bool:
    return f".{domain}".endswith(f".{other}")

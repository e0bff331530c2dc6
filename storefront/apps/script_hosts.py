"""The hosts whose scripts a merchant lets the shop's pages run, beside those of installed apps."""

from django.db import transaction

from storefront.apps.models import AllowedScriptHost, BlockedScript
from storefront.apps.rules import is_script_host, script_host
from storefront.kit import addresses
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops.models import Shop

# They all stand in a header of each page, and what is between us and the shopper bounds those.
MOST_HOSTS = 30


class TooManyScriptHosts(Refusal):
    code, field = "too_many_script_hosts", "host"
    message = f"A shop can allow {MOST_HOSTS} hosts. Please take one out that no script needs any more."


def checked_host(text: str) -> str:
    """The host as a policy names it, from a host name or from the address of a script.

    Raises InvalidFields for what is none, or leads into a network of our own.
    """
    text = text.strip().lower()
    url = text if "://" in text else f"https://{text}"
    try:
        host = script_host(addresses.check_url(url))
    except ValueError as bad:
        # A BadAddress has a sentence about URLs, of which the merchant may have written none.
        sentence = str(bad) if "://" in text and isinstance(bad, addresses.BadAddress) else ""
        raise InvalidFields(errors={"host": [sentence or _EXPECTED]}) from None
    if not is_script_host(host):
        raise InvalidFields(errors={"host": [_EXPECTED]})
    return host


_EXPECTED = "Expected the name of a public host, such as scripts.example.com."


@transaction.atomic
def allow_script_host(*, shop: Shop, host: str) -> AllowedScriptHost:
    """Let the shop's pages run scripts of this host from the next page on. What was told of it being blocked is over.

    Raises InvalidFields and TooManyScriptHosts.
    """
    host = checked_host(host)
    # One at a time, so that there are never more than so many.
    Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk").first()
    own = AllowedScriptHost.objects.filter(shop=shop, installation=None)
    row = own.filter(host=host).first()
    if row is None and own.count() >= MOST_HOSTS:
        raise TooManyScriptHosts
    for blocked in BlockedScript.objects.filter(shop=shop):
        if script_host(blocked.source) == host:
            blocked.delete()
    return row or AllowedScriptHost.objects.create(shop=shop, host=host)

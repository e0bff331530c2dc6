"""The hosts whose scripts the merchant allows on the shop's pages, besides those of installed apps."""

from datetime import datetime

from django.db import transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.apps.models import AllowedScriptHost, BlockedScript
from storefront.apps.rules import is_script_host, script_host
from storefront.kit import addresses
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops.models import Shop

# Each page lists all of them in a header, and proxies limit the size of headers.
MAX_HOSTS = 30


class TooManyScriptHosts(Refusal):
    code, field = "too_many_script_hosts", "host"
    message = format_lazy(
        _lazy("A shop can allow {most} hosts. Remove one that you no longer need first."), most=MAX_HOSTS
    )


def checked_host(text: str) -> str:
    """The host as a Content-Security-Policy names it, from a host name or the URL of a script.

    Raises InvalidFields for anything else, and for hosts that are not public.
    """
    text = text.strip().lower()
    url = text if "://" in text else f"https://{text}"
    try:
        host = script_host(addresses.check_url(url))
    except ValueError as error:
        # The message of BadAddress is about a URL, but the merchant may have entered a host name.
        sentence = str(error) if "://" in text and isinstance(error, addresses.BadAddress) else ""
        raise InvalidFields(errors={"host": [str(sentence or _EXPECTED)]}) from None
    if not is_script_host(host):
        raise InvalidFields(errors={"host": [str(_EXPECTED)]})
    return host


_EXPECTED = _lazy("Expected the name of a public host, such as scripts.example.com.")


@transaction.atomic
def allow_script_host(*, shop: Shop, host: str, now: datetime) -> AllowedScriptHost:
    """Allow scripts of this host on the shop's pages, and delete the reports that the host was blocked.

    Raises InvalidFields and TooManyScriptHosts.
    """
    host = checked_host(host)
    # Locks the shop's row, so that concurrent requests cannot exceed MAX_HOSTS.
    Shop.objects.select_for_update(no_key=True).filter(pk=shop.pk).values_list("pk").first()
    own = AllowedScriptHost.objects.filter(shop=shop, installation=None)
    row = own.filter(host=host).first()
    if row is None and own.count() >= MAX_HOSTS:
        raise TooManyScriptHosts
    for blocked in BlockedScript.objects.filter(shop=shop):
        if script_host(blocked.source) == host:
            blocked.delete()
    if row is None:
        row = AllowedScriptHost.objects.create(shop=shop, host=host)
        audit.record(shop=shop, action="script_host.allowed", object=row, after={"host": host}, now=now)
    return row

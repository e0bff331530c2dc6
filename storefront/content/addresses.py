"""The forms in which addresses of redirects are stored and compared."""

import re
import unicodedata
from collections.abc import Collection
from enum import Enum
from urllib.parse import quote, unquote, urlsplit

from django.core.exceptions import ValidationError
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from storefront.content.address_models import MAX_PATH_LENGTH, MAX_TARGET_LENGTH
from storefront.content.models import check_link
from storefront.shops.models import Shop
from storefront.shops.places import SHOP, SINGLE, hosts_are_separate, urlconf_of

# First segments of the paths where our pages handle accounts, orders and money, or that serve programs. No redirect
# begins there: one from `/admin` or `/account/login` could lead to another site's copy of the page.
_OWN_SEGMENTS = frozenset({
    ".well-known", "account", "admin", "api", "arrive", "basket", "checkout", "hand-over", "media", "orders", "static",
})  # fmt: skip

# Letters of all scripts stay readable; what has a meaning in an address is written as a % code.
_NOT_AS_IS = re.compile(r"[^\w/.~!$&'()*+,;=:@-]")


class WrongAddress(ValueError):
    """The reason, as a sentence, why an address cannot be used."""


class PageKind(Enum):
    """When the shop has a page at a path: depending on what it sells or has written, or whatever it has."""

    NEVER, AT_TIMES, ALWAYS = range(3)


def normal_path(path: str) -> str:
    """A decoded path as it is compared: in lower case, without a slash at its end, and without the segments `.` and
    `..`, which browsers resolve."""
    kept: list[str] = []
    for segment in unicodedata.normalize("NFC", path).casefold().split("/"):
        if segment == "..":
            # The first one stands before the first slash.
            del kept[max(len(kept) - 1, 1) :]
        elif segment != ".":
            kept.append(segment)
    return "/".join(kept).rstrip("/") or "/"


def is_ours(path: str) -> bool:
    """Returns True for a normal path that no redirect of a merchant can lead from."""
    return path.lstrip("/").partition("/")[0] in _OWN_SEGMENTS


def own_hosts(shop: Shop) -> frozenset[str]:
    """The host names that lead to the shop."""
    further = shop.further_domains.filter(confirmed_at__isnull=False).values_list("domain", flat=True)
    return frozenset({shop.domain, urlsplit(shop.base_url).hostname or "", *further})


def path_of(text: str, hosts: Collection[str]) -> str:
    """The normal path from which a redirect leads, entered as a path or as an address of the shop's own. Raises
    WrongAddress."""
    text = _own_path(text, hosts)
    if not text.startswith("/") or text.startswith(("//", "/\\")):
        raise WrongAddress(_("Enter a path of your shop, such as /old-page."))
    if "?" in text or "#" in text:
        raise WrongAddress(_("Leave out what follows ? or #: the redirect holds for every query."))
    try:
        path = normal_path(unquote(text, errors="strict"))
    except UnicodeDecodeError:
        raise WrongAddress(_("This address has an invalid % code.")) from None
    if any(unicodedata.category(mark) == "Cc" for mark in path):
        raise WrongAddress(_("This address has an invalid character."))
    if path == "/":
        raise WrongAddress(_("The home page cannot be redirected."))
    if is_ours(path):
        raise WrongAddress(_("Addresses of the admin, the API, accounts, baskets and orders cannot be redirected."))
    if _page_at(path) is PageKind.ALWAYS:
        raise WrongAddress(_("The shop has a page at %(path)s, and pages that exist win.") % {"path": path})
    if len(path) > MAX_PATH_LENGTH:
        raise WrongAddress(
            _("This address is longer than %(max_path_length)s characters.")
            % {"max_path_length": f"{MAX_PATH_LENGTH:,}"}
        )
    return path


def as_entered(path: str) -> str:
    """The text from which `path_of` reads this normal path."""
    text = _NOT_AS_IS.sub(lambda mark: quote(mark[0], safe=""), path)
    return f"/%2F{text[2:]}" if text.startswith("//") else text


def target_of(text: str, hosts: Collection[str]) -> str:
    """Where a redirect leads: a path of the shop, or a web address. Raises WrongAddress."""
    target = _own_path(text, hosts)
    if len(target) > MAX_TARGET_LENGTH:
        raise WrongAddress(
            _("This address is longer than %(max_target_length)s characters.")
            % {"max_target_length": f"{MAX_TARGET_LENGTH:,}"}
        )
    try:
        check_link(target)
    except ValidationError:
        raise WrongAddress(_("Enter a path of your shop, such as /products, or an address with https://.")) from None
    if any(unicodedata.category(mark) == "Cc" for mark in target) or "@" in urlsplit(target).netloc:
        raise WrongAddress(_("Enter an address without a name and password, and without invalid characters."))
    return _with_ascii_host(target)


def may_have_page(path: str) -> bool:
    """Returns True for a normal path at which the shop has a page, now or at times, as at a product's address."""
    return _page_at(path) is not PageKind.NEVER


def path_in(target: str) -> str | None:
    """The normal path of a target in the shop; None for another site."""
    return normal_path(unquote(urlsplit(target).path)) if target.startswith("/") else None


def with_query(address: str, query: str) -> str:
    """The address with this query string added to its own, before its fragment."""
    address, mark, fragment = address.partition("#")
    if query:
        address += ("&" if "?" in address else "?") + query
    return address + mark + fragment


def _page_at(path: str) -> PageKind:
    try:
        match = resolve(path, urlconf_of(SHOP if hosts_are_separate() else SINGLE))
    except Resolver404:
        return PageKind.NEVER
    return PageKind.AT_TIMES if match.kwargs else PageKind.ALWAYS


def _own_path(text: str, hosts: Collection[str]) -> str:
    """The text without the shop's own host, if it begins with it."""
    text = text.strip()
    try:
        parts = urlsplit(text)
    except ValueError:
        raise WrongAddress(_("This is not a web address.")) from None
    if parts.scheme in ("http", "https") and _ascii_host(parts.hostname or "").rstrip(".") in hosts:
        text = text.partition("//")[2]
        return "/" + text.partition("/")[2] if "/" in text else "/"
    return text


def _ascii_host(host: str) -> str:
    """The host name as browsers look it up (`xn--...`). Raises WrongAddress."""
    if host.isascii() and "%" not in host:
        return host
    # Browsers decode % codes of a host. Some letters are others for Python than for them, so another site's name.
    if "%" in host or any(mark in host for mark in "ßẞς\u200c\u200d"):
        raise WrongAddress(_("Enter the name of this host as xn--..., without % codes."))
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise WrongAddress(_("This is not a web address.")) from None


def _with_ascii_host(target: str) -> str:
    """A checked target whose host is in ASCII: a header can have no other letters."""
    parts = urlsplit(target)
    host = parts.hostname or ""
    if host.isascii():
        return target
    return parts._replace(netloc=_ascii_host(host) + (f":{parts.port}" if parts.port else "")).geturl()

"""The scripts of apps on the shopper's pages: registered, listed, taken away, put into a page (contract: App API)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import CharField, Value

from storefront.apps.models import AllowedScriptHost, ScriptTag
from storefront.apps.rules import is_script_host
from storefront.kit import addresses
from storefront.kit.clock import timestamp
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops import app_tokens
from storefront.shops.models import Shop

# Every page of the shop carries them all.
MOST_SCRIPT_TAGS = 20


class TooManyScriptTags(Refusal):
    code, field = "too_many_script_tags", "src"
    message = f"An app can have {MOST_SCRIPT_TAGS} script tags in a shop."


@dataclass(frozen=True)
class PageScripts:
    """The addresses of the scripts at each location of a page, in the order in which they were registered, and the
    hosts whose scripts the shop's pages may run, as a Content-Security-Policy names them."""

    at: dict[str, list[str]]
    hosts: list[str]


@transaction.atomic
def register_script_tag(
    *, shop: Shop, installation_id: int, src: str, location: str, now: datetime
) -> tuple[ScriptTag, bool]:
    """A script of the app on the shop's pages from now on, and whether it is a new one: the same script at the same
    location is there once, however often it is registered.

    Raises InvalidFields for an address that the shop would not send browsers to, TooManyScriptTags, and
    Unauthenticated where the app is being uninstalled.
    """
    try:
        addresses.check_url(src)
    except addresses.BadAddress as bad:
        raise InvalidFields(errors={"src": [str(bad)]}) from None
    # Two that register the same thing at once do so one after the other.
    app_tokens.hold_installation(shop=shop, installation_id=installation_id)
    own = ScriptTag.objects.filter(shop=shop, installation=installation_id)
    standing = own.filter(src=src, location=location).first()
    if standing:
        return standing, False
    if own.count() >= MOST_SCRIPT_TAGS:
        raise TooManyScriptTags
    given = {"src": src, "location": location, "created_at": now, "updated_at": now}
    return ScriptTag.objects.create(shop=shop, installation_id=installation_id, **given), True


@transaction.atomic
def delete_script_tag(*, shop: Shop, installation_id: int, script_tag_id: int) -> None:
    """Take the app's own script off the pages. Raises NotFound, also for one of another app or shop."""
    own = ScriptTag.objects.filter(shop=shop, installation=installation_id, pk=script_tag_id)
    if not own.delete()[0]:
        raise NotFound


def script_tag_records(shop: Shop) -> list[dict[str, Any]]:
    """Every app's script tags of this shop, in the order in which they were registered."""
    return [script_tag_record(tag) for tag in ScriptTag.objects.filter(shop=shop).order_by("pk")]


def script_tag_record(tag: ScriptTag) -> dict[str, Any]:
    """The members of the contract, in its order."""
    return {
        "id": tag.pk,
        "app_installation_id": tag.installation_id,
        "src": tag.src,
        "location": tag.location,
        "is_active": tag.is_active,
        "created_at": timestamp(tag.created_at),
        "updated_at": timestamp(tag.updated_at),
    }


def page_scripts(shop: Shop) -> PageScripts:
    """What apps have on each of the shop's pages, in one query, so that whatever is switched off is gone at once."""
    tags = ScriptTag.objects.filter(shop=shop, is_active=True).values_list("location", "src", "pk")
    # No location is called so.
    host = Value("host", output_field=CharField())
    hosts = AllowedScriptHost.objects.filter(shop=shop).values_list(host, "host", "pk")
    found: dict[str, list[str]] = {}
    for kind, text, _ in sorted(tags.union(hosts, all=True), key=lambda row: row[2]):
        found.setdefault(kind, []).append(text)
    allowed = sorted({host for host in found.pop("host", []) if is_script_host(host)})
    return PageScripts(at=found, hosts=allowed)

"""Registers, lists and deletes the script tags of apps, and reads those of a page (R-APP-25 to R-APP-28)."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import CharField, QuerySet, Value
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.apps.models import AllowedScriptHost, ScriptTag
from storefront.apps.rules import is_script_host
from storefront.installations import app_tokens
from storefront.kit import addresses
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops.models import Shop
from storefront.shops.places import hosts_are_separate

# Script tags of one app in a shop. Every page of the shop contains all of them.
MAX_SCRIPT_TAGS = 20
NOT_APART = _lazy(
    "App scripts are turned off because the shop's pages share a host with the admin and the checkout. To turn them"
    " on, the operator must set STOREFRONT_ADMIN_HOST and STOREFRONT_SECURE_HOST."
)


class TooManyScriptTags(Refusal):
    code, field = "too_many_script_tags", "src"
    message = format_lazy(_lazy("An app can have {most} script tags in a shop."), most=MAX_SCRIPT_TAGS)


@dataclass(frozen=True)
class PageScripts:
    """The scripts of a page: the URLs at each location in the order of registration, and the hosts whose scripts may
    run, as a Content-Security-Policy names them."""

    at: dict[str, list[str]]
    hosts: list[str]


@transaction.atomic
def register_script_tag(
    *, shop: Shop, installation_id: int, src: str, location: str, now: datetime
) -> tuple[ScriptTag, bool]:
    """Add a script of the app to the shop's pages. Returns the tag, and True if it is new; an existing tag with the
    same URL and location is returned unchanged.

    Raises InvalidFields for a URL that is not public, TooManyScriptTags, and Unauthenticated if the app is being
    uninstalled.
    """
    try:
        addresses.check_url(src)
    except addresses.BadAddress as bad:
        raise InvalidFields(errors={"src": [str(bad)]}) from None
    # Locked, so that concurrent registrations of the same script run one after the other.
    app_tokens.lock_installation(shop=shop, installation_id=installation_id)
    own = ScriptTag.objects.filter(shop=shop, installation=installation_id)
    existing = own.filter(src=src, location=location).first()
    if existing:
        return existing, False
    if own.count() >= MAX_SCRIPT_TAGS:
        raise TooManyScriptTags
    values = {"src": src, "location": location, "created_at": now, "updated_at": now}
    tag = ScriptTag.objects.create(shop=shop, installation_id=installation_id, **values)
    audit.record_created(shop=shop, object=tag, action="script_tag.registered", now=now)
    return tag, True


@transaction.atomic
def delete_script_tag(*, shop: Shop, installation_id: int, script_tag_id: int, now: datetime) -> None:
    """Delete one of the app's own script tags. Raises NotFound, also for one of another app or shop (R-APP-13)."""
    own = ScriptTag.objects.filter(shop=shop, installation=installation_id, pk=script_tag_id)
    rows = list(own.select_for_update())
    if not rows:
        raise NotFound
    own.delete()
    audit.record_deleted(shop=shop, rows=rows, now=now)


def script_tags_of(shop: Shop) -> QuerySet[ScriptTag]:
    """The script tags of all apps in the shop, in the order of registration (R-APP-11)."""
    return ScriptTag.objects.filter(shop=shop).order_by("pk")


def blocked_reason() -> str | None:
    """Why app scripts do not run on this deployment, as a sentence; None if they do."""
    return None if hosts_are_separate() else str(NOT_APART)


def page_scripts(shop: Shop) -> PageScripts:
    """The active scripts and the allowed hosts of the shop's pages, in one query. Not cached: changes apply at once."""
    tags = ScriptTag.objects.filter(shop=shop, is_active=True).values_list("location", "src", "pk")
    # Marks rows of hosts. No location has this name.
    host = Value("host", output_field=CharField())
    hosts = AllowedScriptHost.objects.filter(shop=shop).values_list(host, "host", "pk")
    found: dict[str, list[str]] = {}
    for kind, text, _ in sorted(tags.union(hosts, all=True), key=lambda row: row[2]):
        found.setdefault(kind, []).append(text)
    allowed = sorted({host for host in found.pop("host", []) if is_script_host(host)})
    return PageScripts(at=found, hosts=allowed)

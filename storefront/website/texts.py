"""Merchants' texts, which may be HTML from any source, made safe to show on pages."""

from datetime import datetime
from hashlib import sha256
from importlib.metadata import version

import structlog
from django.db import DatabaseError, transaction
from django.utils.html import linebreaks
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from storefront.catalogue.models import CleanedText
from storefront.kit import markup
from storefront.kit.html import TAGS, clean
from storefront.kit.replicas import reading
from storefront.shops.models import Shop
from storefront.website.versions import own_links

log = structlog.get_logger(__name__)

# Texts with at most this many characters and tags are cleaned faster than they are read from the database.
SMALL, FEW_TAGS = 4000, 100
# Characters from which an excerpt is made.
SHOWN_CHARACTERS = 20_000
# Part of the cache key, so that a text that was cleaned by other rules is not used.
_RULES = f"{version('nh3')} {markup.MAX_DEPTH} {markup.MAX_MARK_DEPTH} {markup.MAX_ATTRIBUTES} {' '.join(sorted(TAGS))}"


def safe_html(shop: Shop, text: str, *, now: datetime) -> SafeString:
    """The text as HTML without scripts, styles or forms; plain text becomes paragraphs.

    A large text is cleaned once and cached in the database. A text that exceeds the limits of `markup`, because it was
    saved before they existed, is shown without its tags.
    """
    if "<" not in text:
        return _paragraphs(text)
    if len(text) <= SMALL and text.count("<") <= FEW_TAGS:
        return mark_safe(own_links(shop, clean(text)))  # noqa: S308, cleaned by nh3
    if markup.problem(text):
        return _paragraphs(markup.plain_text(text))
    return mark_safe(own_links(shop, _cached_html(shop, text, now)))  # noqa: S308, cleaned before it was cached


def excerpt(text: str, length: int = 155) -> str:
    """The beginning of the text without tags, at most `length` characters. Plain text, so templates must escape it."""
    return Truncator(" ".join(markup.plain_text(text[:SHOWN_CHARACTERS]).split())).chars(length)


def _paragraphs(text: str) -> SafeString:
    return mark_safe(linebreaks(text, autoescape=True))  # noqa: S308, escaped by linebreaks


def _cached_html(shop: Shop, text: str, now: datetime) -> str:
    digest = sha256(f"{_RULES}\n{text}".encode()).hexdigest()
    cached = CleanedText.objects.filter(shop=shop, digest=digest).values_list("html", flat=True)
    for html in cached:
        return html
    html = clean(text)
    try:
        with reading.on_primary(), transaction.atomic():
            row = CleanedText(shop=shop, digest=digest, html=html, made_at=now)
            CleanedText.objects.bulk_create([row], ignore_conflicts=True)
    except DatabaseError as error:
        # For example because the database is locked or read-only. The page does not need the cache.
        log.warning("cleaned_text_not_kept", shop=shop.pk, reason=str(error).strip())
    return html

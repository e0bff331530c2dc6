"""Merchants' texts, which may be HTML from anywhere, as pages may show them."""

from html import unescape

import nh3
from django.utils.html import linebreaks
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

# Headings of a description stand under the page's own.
TAGS = nh3.ALLOWED_TAGS - {"h1", "h2", "hgroup", "header", "footer", "nav", "article"}


def cleaned(text: str) -> SafeString:
    """HTML without anything that could act on the page; plain text in paragraphs."""
    if "<" not in text:
        return mark_safe(linebreaks(text, autoescape=True))  # noqa: S308, escaped by it
    return mark_safe(nh3.clean(text, tags=TAGS))  # noqa: S308, cleaned by it


def in_short(text: str, length: int = 155) -> str:
    """The first words without tags, as search engines show them. Plain text: to be escaped like any other."""
    words = unescape(nh3.clean(text.replace("<", " <"), tags=set())).split()
    return Truncator(" ".join(words)).chars(length)

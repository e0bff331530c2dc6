"""The language in which a page, a mail or a paper is made: its texts, numbers, dates and links.

Outside of such a block, as in the API and the operators' commands, everything is English, and links lead to pages in
the shop's main language.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.utils import translation

from storefront.shops.languages import language_of_texts
from storefront.shops.models import Shop

_spoken: ContextVar[str] = ContextVar("spoken", default="")


@contextmanager
def speaking(shop: Shop, code: str) -> Iterator[str]:
    """Everything in this block is in the shop's language with this code; in its main one if it has none of that code,
    such as no longer. Returns the code."""
    language = code if code in shop.further_languages else shop.language
    before = _spoken.set(language)
    try:
        with translation.override(language_of_texts(language)):
            yield language
    finally:
        _spoken.reset(before)


def spoken_language(shop: Shop) -> str:
    """The code of the shop's language that is spoken; empty outside of a block."""
    language = _spoken.get()
    return language if language in shop.languages else ""


def further_language(shop: Shop, code: str) -> str:
    """The code if it is that of one of the shop's further languages, else empty. The shop's texts in its main language
    are the originals: a translation into it is left from when it was a further one."""
    return code if code in shop.further_languages else ""


def path_of_language(shop: Shop, code: str | None = None) -> str:
    """The part of the path below which the shop's pages in this language are, such as `/de`; empty for its main one.
    Without `code`, for the language that is spoken."""
    language = _spoken.get() if code is None else code
    return f"/{language}" if language in shop.further_languages else ""

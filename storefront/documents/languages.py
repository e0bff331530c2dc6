"""The language of a document: kept in its record when the record is built, and used whenever it is drawn."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.utils import translation

from storefront.shops.languages import RIGHT_TO_LEFT

# Of records from before they had a language.
DEFAULT = "en"


def current_language() -> str:
    """The active language, for the record of a document that is built now. The papers' font has no letters of languages
    that are written from right to left: their documents are in English."""
    active = translation.get_language() or DEFAULT
    return DEFAULT if active in RIGHT_TO_LEFT else active


@contextmanager
def writable_language() -> Iterator[None]:
    """Context manager, and decorator, in which texts for a document's record are written."""
    with translation.override(current_language()):
        yield


@contextmanager
def language_of(record: Mapping[str, Any]) -> Iterator[None]:
    """Context manager in which the document of this record is drawn."""
    with translation.override(record.get("language", DEFAULT)):
        yield

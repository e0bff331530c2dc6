"""Sanitises merchants' HTML."""

import nh3

from storefront.kit import markup

# Without the top heading and page landmarks, which belong to the page itself.
TAGS = nh3.ALLOWED_TAGS - {"h1", "hgroup", "header", "footer", "nav", "article"}


def clean(text: str) -> str:
    """The sanitised HTML: without scripts, styles, forms, and attributes that could act. Takes up to 0.1 seconds for a
    text within the limits of `markup`."""
    return nh3.clean(markup.tidy(text, allowed=TAGS).text, tags=TAGS)

"""What the shop asks of an app's block, and what of the answer it shows (decisions: Extension call).

An app is a stranger on the shop's page. What it sends is text, lists, tables, pictures and links; nothing that runs,
submits, is styled, covers the page or is named like a part of it. Its attributes are a short list, so that neither
`style` nor `class`, `id`, `on…` or `hx-…` gets through.
"""

from typing import Any

import nh3
import orjson

from storefront.kit.outbound import Answer

# The library's list holds nothing that runs or submits; these belong to a page as a whole, or lay links over pictures.
_OF_THE_PAGE = {"h1", "h2", "hgroup", "header", "footer", "nav", "aside", "article", "map", "area"}
# What stands between these tags is no text either.
_NO_TEXT = {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "textarea", "title", "select"}
# Tags that a block may have. Reading thousands, one in the other, would take seconds.
MOST_TAGS = 2000

_CLEANER = nh3.Cleaner(
    tags=nh3.ALLOWED_TAGS - _OF_THE_PAGE,
    clean_content_tags=_NO_TEXT,
    attributes={
        "*": {"lang", "dir", "title"},
        "a": {"href"},
        "img": {"src", "alt", "width", "height"},
        "ol": {"start"},
        "time": {"datetime"},
        "td": {"colspan", "rowspan"},
        "th": {"colspan", "rowspan"},
    },
    # Pages that are left for a link, such as the checkout, stay open.
    set_tag_attribute_values={"a": {"target": "_blank"}, "img": {"referrerpolicy": "no-referrer"}},
    link_rel="noopener nofollow",
    url_schemes={"https", "mailto", "tel"},
    # An app's own paths mean nothing here, and the shop's are not for it to name.
    url_relative="deny",
    attribute_filter=lambda tag, name, value: value if (tag, name) != ("img", "src") or _is_https(value) else None,
)


class NoBlock(Exception):
    """The answer holds no block; the message says why in a sentence."""


def block_of(answer: Answer) -> str:
    """The answer's HTML, fit for the shop's page; empty where the app has nothing to show. Raises NoBlock."""
    if not 200 <= answer.status < 300:
        raise NoBlock(f"The app answered {answer.status}.")
    if answer.is_cut:
        raise NoBlock(f"The answer is larger than {len(answer.body) // 1024} KiB.")
    try:
        said: Any = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        raise NoBlock("The answer is not JSON.") from None
    if not isinstance(said, dict) or not isinstance(said.get("html"), str):
        raise NoBlock("The answer is not a JSON object with the string html.")
    if said["html"].count("<") > MOST_TAGS:
        raise NoBlock(f"The block has more than {MOST_TAGS:,} tags.")
    return sanitised(said["html"])


def sanitised(html: str) -> str:
    """The part of an app's HTML that can do the page no harm, every element closed; empty if nothing is to be seen."""
    clean = _CLEANER.clean(html).strip()
    return clean if ' src="' in clean or nh3.clean(clean, tags=set()).strip() else ""


def _is_https(url: str) -> bool:
    return url.strip().lower().startswith("https://")

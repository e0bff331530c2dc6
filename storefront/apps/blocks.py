"""Parses and sanitises the blocks that apps send (R-APP-22).

The shop does not trust an app's HTML. A block may contain text, lists, tables, pictures and links; nothing that runs,
submits, has styles, covers the page or has the names of the page's own elements. Only a few attributes are allowed,
and not `style`, `class`, `id`, `on…` or `hx-…`.
"""

from typing import Any

import nh3
import orjson

from storefront.kit import markup
from storefront.kit.outbound import Answer

# The library's default tags run and submit nothing. These of them structure the whole page, or put links over pictures.
_OF_THE_PAGE = {"h1", "h2", "hgroup", "header", "footer", "nav", "aside", "article", "map", "area"}
# Tags that are removed with the text inside them.
_NO_TEXT = {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "textarea", "title", "select"}
# Maximum of tags in a block.
MAX_TAGS = 2000

_TAGS = nh3.ALLOWED_TAGS - _OF_THE_PAGE
_CLEANER = nh3.Cleaner(
    tags=_TAGS,
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
    # Links open a new tab, so that the page, such as the checkout, stays open.
    set_tag_attribute_values={"a": {"target": "_blank"}, "img": {"referrerpolicy": "no-referrer"}},
    link_rel="noopener nofollow",
    url_schemes={"https", "mailto", "tel"},
    # A relative URL would lead to the shop's own paths.
    url_relative="deny",
    attribute_filter=lambda tag, name, value: value if (tag, name) != ("img", "src") or _is_https(value) else None,
)


class NoBlock(Exception):
    """The answer contains no valid block. The message is the reason, as a sentence."""


def parse_block(answer: Answer) -> str:
    """The answer's sanitised HTML; empty if the app has nothing to show. Raises NoBlock."""
    if not 200 <= answer.status < 300:
        raise NoBlock(f"The app answered with status {answer.status}.")
    if answer.is_cut:
        raise NoBlock(f"The response is larger than {len(answer.body) // 1024} KiB.")
    try:
        body: Any = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        raise NoBlock("The response is not JSON.") from None
    if not isinstance(body, dict) or not isinstance(body.get("html"), str):
        raise NoBlock("The response is not a JSON object with a string html.")
    if body["html"].count("<") > MAX_TAGS:
        raise NoBlock(f"The block has more than {MAX_TAGS:,} tags.")
    return sanitised(body["html"])


def sanitised(html: str) -> str:
    """The harmless part of an app's HTML, every element closed; empty if nothing of it is visible."""
    clean = _CLEANER.clean(markup.tidy(html, allowed=_TAGS).text).strip()
    return clean if ' src="' in clean or markup.plain_text(clean).strip() else ""


def _is_https(url: str) -> bool:
    return url.strip().lower().startswith("https://")

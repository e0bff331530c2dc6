"""What tests look at in a mail's HTML."""

import re
from html import unescape

from django.utils.html import strip_tags

from storefront.shops.mail_html import TOTAL_RULE


def html_of(message) -> str:
    ((content, kind),) = message.alternatives
    assert kind == "text/html"
    return content


def words(html: str) -> list[str]:
    """The words below the heading, with the URLs of buttons. The order differs from the text's where a table has
    columns, and names in tables have no colon."""
    content = html[html.index('class="content"') : html.index('<tr><td class="foot')]
    content = re.sub(r'<a href="([^"]+)"(?! class| style="color)[^>]*>([^<]+)</a>', r"\2 \1", content)
    return _comparable(unescape(strip_tags(content[content.index(">") + 1 :])))


def words_of_text(message) -> list[str]:
    return _comparable(message.body.replace(TOTAL_RULE, ""))


def _comparable(text: str) -> list[str]:
    return sorted(filter(None, (word.rstrip(":") for word in text.split())))

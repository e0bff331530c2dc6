"""What tests look at in a mail's HTML."""

from html import unescape

from django.utils.html import strip_tags


def html_of(message) -> str:
    ((content, kind),) = message.alternatives
    assert kind == "text/html"
    return content


def words(html: str) -> list[str]:
    """The words below the shop's name."""
    content = html[html.index('class="content"') :]
    return unescape(strip_tags(content[content.index(">") + 1 :])).split()

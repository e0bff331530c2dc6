"""The tags `opening` and `closing` mark the texts in a mail's template that a merchant can change.

The standard text is between the tags, with placeholders such as `{shop_name}`. The context's `words` has the shop's own
text (`content.mail_words`).
"""

from typing import Any

from django import template
from django.template import Context, Node, NodeList

register = template.Library()


class WordsNode(Node):
    def __init__(self, part: str, standard: NodeList) -> None:
        self.part, self.standard = part, standard

    def render(self, context: Context) -> Any:
        return context["words"](self.part, self.standard.render(context))


class ClosingNode(WordsNode):
    """Renders the closing text as a paragraph of its own; nothing if it is empty."""

    def render(self, context: Context) -> Any:
        text = super().render(context)
        return f"\n{text}\n" if text else ""


@register.tag
def opening(parser: Any, token: Any) -> Node:
    standard = parser.parse(("endopening",))
    parser.delete_first_token()
    return WordsNode("opening", standard)


@register.tag
def closing(parser: Any, token: Any) -> Node:
    standard = parser.parse(("endclosing",))
    parser.delete_first_token()
    return ClosingNode("closing", standard)

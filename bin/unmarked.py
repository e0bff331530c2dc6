"""`make check`: texts that shoppers see and that are not marked for translation.

In templates: text between tags, and attributes that are read to people. In Python: messages, errors of forms, labels,
help texts, and sentences of refusals. In scripts: all sentences. Files that only staff see (`bin/texts.py`) are not
checked.
"""

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from texts import ROOT, is_staffs

# Rooms whose pages, mails and refusals shoppers see.
ROOMS = (
    *("apps", "carts", "catalogue", "checkout", "content", "customers", "documents", "gift_cards", "orders"),
    *("payments", "pricing", "shops", "stock_alerts", "website"),
)
# Texts that shoppers do not see, by file and beginning: with the reason.
EXCEPTIONS = {
    ("storefront/carts/rules.py", "f'Expected "): "only programs send fields of their own",
    ("storefront/checkout/templates/checkout/frame.html", "checkout"): "a class of the style sheet",
    ("storefront/checkout/vat_ids.py", "VIES "): "for the log",
    ("storefront/checkout/vat_ids.py", "f'VIES "): "for the log",
    ("storefront/customers/actions.py", "The shop has no customer group"): "for programs",
    ("storefront/payments/providers/base.py", "f"): "a mistake in the code of a provider",
    ("storefront/payments/providers/stripe.py", "This is not an event"): "for Stripe",
}
_MARKS = {
    "_",
    "_lazy",
    "gettext",
    "gettext_lazy",
    "ngettext",
    "ngettext_lazy",
    "pgettext",
    "pgettext_lazy",
    "npgettext",
}
_READ = ("alt", "title", "placeholder", "aria-label", "aria-roledescription")
_BLOCK = re.compile(r"{% (blocktranslate|comment|verbatim)\b.*?{% end\1 %}", re.DOTALL)
_TEMPLATE_TAG = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
# A literal text that is passed to another template, or stands in for an empty value.
_LITERAL = re.compile(r"""(?:[\w]=|:)(["'])([A-Z][^"']*[a-z][^"']*)\1""")
_WORD = re.compile(r"(?<![\w/])[^\W\d_]{2,}")


def problems(root: Path = ROOT) -> Iterator[str]:
    """Unmarked texts, as lines with file, line and text."""
    for room in ROOMS:
        for path in sorted((root / "storefront" / room).rglob("*")):
            name = str(path.relative_to(root))
            if is_staffs(name) or "migrations" in path.parts:
                continue
            if path.suffix in (".html", ".txt") and "templates" in path.parts:
                found = list(in_template(path.read_text()))
            elif path.suffix == ".py":
                found = list(in_python(path.read_text()))
            elif path.suffix == ".js" and not path.name.endswith(".min.js"):
                found = list(in_script(path.read_text()))
            else:
                continue
            shown = ((line, text) for line, text in found if not _is_exception(name, text))
            yield from (f"{name}:{line}: not marked: {text!r}" for line, text in shown)


def _is_exception(name: str, text: str) -> bool:
    return any(name == file and text.startswith(beginning) for file, beginning in EXCEPTIONS)


def in_template(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each unmarked text of a template."""
    lines = source.count
    for tag in _TEMPLATE_TAG.finditer(source):
        literal = _LITERAL.search(tag[0])
        if literal and not tag[0].startswith(("{% translate", "{% if", "{% elif")):
            yield lines("\n", 0, tag.start()) + 1, literal[2]
        if "|pluralize" in tag[0]:
            yield lines("\n", 0, tag.start()) + 1, "|pluralize, which knows English alone"
    reader = _Reader()
    reader.feed(_TEMPLATE_TAG.sub(_lines_of, _BLOCK.sub(_lines_of, source)))
    reader.close()
    yield from ((line, " ".join(text.split())) for line, text in reader.texts if _WORD.search(text))


def _lines_of(found: re.Match[str]) -> str:
    """The line breaks of what is left out, so that the lines keep their numbers."""
    return "\n" * found[0].count("\n")


class _Reader(HTMLParser):
    """Collects the texts of a page, with their lines."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in ("script", "style")
        is_button = tag == "input" and dict(attrs).get("type") in ("submit", "button", "reset")
        shown = (value for name, value in attrs if name in _READ or (name == "value" and is_button))
        self.texts += [(self.getpos()[0], value or "") for value in shown]
        if tag == "meta" and dict(attrs).get("name") == "description":
            self.texts.append((self.getpos()[0], dict(attrs).get("content") or ""))

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.texts.append((self.getpos()[0], data))


def in_script(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each sentence in a script, whose texts come from its page."""
    code = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", _lines_of, source, flags=re.DOTALL | re.MULTILINE)
    for found in re.finditer(r"""(["'`])([A-Z][a-z]+ (?:(?!\1).)*)\1""", code):
        yield code.count("\n", 0, found.start()) + 1, found[2]


def in_python(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each unmarked text of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.ClassDef):
            for line in node.body:
                yield from _of_refusal(line)


def _of_call(call: ast.Call) -> Iterator[tuple[int, str]]:
    name = _name_of(call.func)
    if name in _MARKS:
        # Catalogues have the text before values are put in.
        yield from ((each.lineno, "an f-string in gettext") for each in call.args if isinstance(each, ast.JoinedStr))
    is_message = isinstance(call.func, ast.Attribute) and _name_of(call.func.value) == "messages"
    is_error = bool(re.search(r"(Error|Refused|Unavailable|Required|404|NoSuchPage)$", name)) and name[0].isupper()
    shown = [*call.args[1:2]] if is_message or name == "add_error" else call.args[:1] if is_error else []
    shown += [each.value for each in call.keywords if each.arg in ("label", "help_text", "empty_label")]
    if name == "InvalidFields":
        shown += [*call.args[:1], *(each.value for each in call.keywords if each.arg == "errors")]
    for value in shown:
        yield from _unmarked(value)


def _of_refusal(line: ast.stmt) -> Iterator[tuple[int, str]]:
    """The sentence of a refusal, `message = "..."` in its class, alone or among others."""
    if not isinstance(line, ast.Assign) or len(line.targets) != 1:
        return
    names, value = line.targets[0], line.value
    pairs = [(names, value)]
    if isinstance(names, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(names.elts, value.elts, strict=False))
    for name, each in pairs:
        if _name_of(name) == "message":
            yield from _unmarked(each)


def _unmarked(value: ast.expr) -> Iterator[tuple[int, str]]:
    """The literal texts in this value that are not inside of a call."""
    if isinstance(value, ast.Call):
        return
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and _WORD.search(value.value):
        yield value.lineno, value.value
    elif isinstance(value, ast.JoinedStr):
        yield from ((value.lineno, ast.unparse(value)) for _ in [0] if _WORD.search(_words_of(value)))
    elif isinstance(value, ast.Dict):
        for each in value.values:
            yield from _unmarked(each)
    elif isinstance(value, ast.List | ast.Tuple):
        for each in value.elts:
            yield from _unmarked(each)
    elif isinstance(value, ast.BinOp):
        yield from _unmarked(value.left)
    elif isinstance(value, ast.BoolOp):
        for each in value.values:
            yield from _unmarked(each)
    elif isinstance(value, ast.IfExp):
        yield from _unmarked(value.body)
        yield from _unmarked(value.orelse)


def _words_of(text: ast.JoinedStr) -> str:
    return " ".join(str(part.value) for part in text.values if isinstance(part, ast.Constant))


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    found = list(problems())
    sys.stderr.write("".join(f"{problem}\n" for problem in found))
    sys.exit(bool(found))

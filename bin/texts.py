"""The catalogues of the service's texts, for gettext.

`--extract` writes the marked texts of code and templates into the catalogues (`.po`), keeps their translations, and
compiles them (`.mo`). Without it, as in `make check`, nothing is written: each catalogue is compared with what it was
compiled to, and each translation with its text. `--gaps` also reports texts without a translation.

Texts that shoppers see are in `storefront/locale`, in all of the service's languages. Texts of the admin alone are in
`storefront/staff/locale`, in German. The file in which a text is marked decides: see STAFF_FILES. A text of both is the
shoppers'. Texts that differ from code to code, such as names of fields in the API, are not marked.
"""

import argparse
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from storefront.shops.languages import TEXTS

ROOT = Path(__file__).resolve().parents[1]
SHOPPERS, STAFF = "storefront/locale", "storefront/staff/locale"
# What Django and Unfold say, in the words of this project. It is written by hand.
ENGLISH = f"{STAFF}/en/LC_MESSAGES/django.po"
LANGUAGES = {SHOPPERS: [code for code in TEXTS if code != "en"], STAFF: ["de"]}
# Files whose texts only staff and programs see, as patterns of their paths. What shoppers see of a model's choices is
# written in a template, so models are among them.
STAFF_FILES = (
    r"/(admin|theme)(/|_\w+/)",
    r"/\w*admin\w*\.(py|html)$",
    r"/(\w+_)?models\.py$",
    r"/(\w*api|\w*schemas)\.py$",
    r"^storefront/(audit|deployment|exports|installations|pictures|pods|product_files|server|staff|sync|webhooks)/",
    r"^storefront/apps/\w+\.py$",
    r"^storefront/privacy/(?!(exporting|kinds)\.py)",
    r"^storefront/catalogue/(?!stock\.py)",
    r"^storefront/checkout/(dashboard|first_steps)\.py$",
    r"^storefront/content/(addresses|colours|links|mail_kinds|mail_words|redirects|sections|starting_texts)\.py$",
    r"^storefront/documents/(issuing|numbering|printing)\.py$",
    r"^storefront/gift_cards/(codes|issuing)\.py$",
    r"^storefront/orders/(actions|allowing|dashboard|desk_\w+|erasing|figures|fulfilling|problems|rules|sent_mails|timeline)\.py$",
    r"^storefront/payments/(accounts|actions|alerts|asking|erasing|line_refunds|refund_ledger|refunds|rules|settling)\.py$",
    r"^storefront/payments/providers/stripe_(amounts|calls|client|settings)\.py$",
    r"^storefront/pricing/(codes|discount_kinds|eu_rates|postcodes|rate_tables|zones)\.py$",
    r"^storefront/shops/((auth|idempotency|languages|places|rights|scopes)\.py$|templates/shops/mail/)",
    r"^storefront/kit/(currencies|files/\w+|markup|money|money_field)\.py$",
    r"^storefront/orders/static/",
    r"^storefront/shops/static/",
    r"^storefront/website/(mail_samples\.py|static/website/(mail-)?preview\.js)$",
)
# In a note to translators: the text's placeholder need not be in a translation.
MAY_BE_LEFT_OUT = "may be left out"
# The names under which gettext's functions are imported, with the places of their arguments.
_FUNCTIONS = {
    **dict.fromkeys(("_", "_lazy", "_noop", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
# Plural forms in which babel's own table differs from the one that translators know.
_PLURALS = {
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);"
}
_PLACEHOLDER = re.compile(r"%\(\w+\)s|%%|\{\w+\}")
_TAG = re.compile(r"<[^<>]+>")

Key = tuple[str | None, str]


class TextCatalog(Catalog):
    """A catalogue whose header has no dates, so that it changes only with its texts."""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        plural_forms = _PLURALS.get(str(self.locale_identifier), self.plural_forms)
        return [
            ("Language", str(self.locale_identifier)),
            ("Plural-Forms", plural_forms),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit"),
        ]


def is_staffs(path: str) -> bool:
    """Returns True if only staff and programs see the texts of this file."""
    return any(re.search(pattern, path) for pattern in STAFF_FILES)


def marked(root: Path = ROOT) -> dict[str, Catalog]:
    """The marked texts by the folder of their catalogues, without translations."""
    found: dict[Key, Message] = {}
    for path in _files(root):
        name = str(path.relative_to(root))
        for _line, text, comments, context in _texts_of(path):
            _add(found, text, name, comments, context)
    catalogs = {folder: Catalog() for folder in LANGUAGES}
    for message in found.values():
        catalogs[STAFF if all(is_staffs(name) for name, _ in message.locations) else SHOPPERS][message.id] = message
    return catalogs


def _add(found: dict[Key, Message], text: Any, place: str, comments: list[str], context: str | None) -> None:
    message = found.setdefault((context, _first(text)), Message(text, context=context))
    if isinstance(text, tuple):
        # The text may be marked without a plural elsewhere.
        message.id = text
    message.locations.append((place, 0))
    message.auto_comments += [each for each in comments if each not in message.auto_comments]


def _files(root: Path) -> list[Path]:
    paths = [path for ending in ("py", "html", "txt") for path in (root / "storefront").rglob(f"*.{ending}")]
    return sorted(path for path in paths if "migrations" not in path.parts)


def _texts_of(path: Path) -> list[Any]:
    source = path.read_text()
    if path.suffix != ".py":
        if "trans" not in source and "_(" not in source:
            return []
        source = _as_python(source)
    elif "gettext" not in source:
        return []
    return list(extract("python", io.BytesIO(source.encode()), _FUNCTIONS, ["Translators:"], strip_comment_tags=True))


def _as_python(template: str) -> str:
    """The template's texts as calls of gettext, as Django's `makemessages` makes them."""
    return "\n".join(line.lstrip() for line in templatize(template).splitlines())


def merged(texts: Catalog, old: Catalog | None, language: str) -> Catalog:
    """The texts with the translations that `old` has for them. A translation that was guessed is left out."""
    catalog = TextCatalog(language, charset="utf-8", header_comment=f"# Texts of the service: {language}.", fuzzy=False)
    for message in _messages(texts):
        known = old.get(_first(message.id), message.context) if old else None
        string = known.string if known and not known.fuzzy and known.pluralizable == message.pluralizable else ""
        catalog.add(
            message.id,
            string or (("",) * catalog.num_plurals if message.pluralizable else ""),
            locations=sorted(set(message.locations)),
            auto_comments=message.auto_comments,
            user_comments=known.user_comments if known else (),
            context=message.context,
        )
    return catalog


def extract_all(root: Path = ROOT) -> None:
    """Write all catalogues with the texts that are marked now, and compile them."""
    for folder, texts in marked(root).items():
        for language in LANGUAGES[folder]:
            path = _path(root, folder, language)
            path.parent.mkdir(parents=True, exist_ok=True)
            catalog = merged(texts, _read(path, language), language)
            with path.open("wb") as file:
                write_po(file, catalog, width=0, sort_output=True, include_lineno=False, ignore_obsolete=True)
            path.with_suffix(".mo").write_bytes(compiled(catalog))
    if english := _read(root / ENGLISH, "en"):
        (root / ENGLISH).with_suffix(".mo").write_bytes(compiled(merged(english, english, "en")))


def compiled(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def problems(root: Path = ROOT, *, gaps: bool = False) -> Iterator[str]:
    """Problems of the catalogues, a line each."""
    for folder, texts in marked(root).items():
        for language in LANGUAGES[folder]:
            path = _path(root, folder, language)
            old = _read(path, language)
            name = str(path.relative_to(root))
            if old is None:
                yield from [f"{name}: missing"] if gaps else []
                continue
            if gaps:
                yield from (f"{name}: no translation: {_first(each.id)!r}" for each in missing(texts, old, language))
            yield from (f"{name}: {problem}" for each in _messages(old) for problem in faults(each))
            binary = path.with_suffix(".mo")
            if not binary.exists() or binary.read_bytes() != compiled(merged(old, old, language)):
                yield f"{binary.relative_to(root)}: differs from its .po: run bin/texts.py --extract"


def english_problems(root: Path = ROOT) -> Iterator[str]:
    """Problems of the catalogue of English texts."""
    catalog = _read(root / ENGLISH, "en")
    compiled_now = compiled(merged(catalog, catalog, "en")) if catalog else b""
    if catalog and (root / ENGLISH).with_suffix(".mo").read_bytes() != compiled_now:
        yield f"{ENGLISH}: differs from what it was compiled to: run bin/texts.py --extract"


def missing(texts: Catalog, old: Catalog, language: str) -> Iterator[Message]:
    """The texts that have no translation, or not one for each plural form."""
    for message in _messages(merged(texts, old, language)):
        forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if not all(forms):
            yield message


def faults(message: Message) -> Iterator[str]:
    """Problems of a translation: other placeholders, other tags, or quotation marks that would end an HTML
    attribute."""
    original = _first(message.id)
    for form in message.string if isinstance(message.string, tuple | list) else (message.string,):
        if not form:
            continue
        allowed = set(_PLACEHOLDER.findall(" ".join(message.id if message.pluralizable else (original,))))
        found = set(_PLACEHOLDER.findall(form))
        # The form for one piece, or for two, may leave out the number; and some texts say so themselves.
        optional = message.pluralizable or MAY_BE_LEFT_OUT in " ".join(message.auto_comments)
        if found - allowed or len(allowed - found) > optional:
            yield f"other placeholders than {original!r}: {form!r}"
        if sorted(_TAG.findall(form)) != sorted(_TAG.findall(original)):
            yield f"other tags than {original!r}: {form!r}"
        if '"' in form and '"' not in original:
            yield f"straight quotation marks: {form!r}"


def _messages(catalog: Catalog) -> Iterator[Message]:
    """All messages of the catalogue but its header."""
    return (message for message in catalog if message.id)


def _read(path: Path, language: str) -> Catalog | None:
    if not path.exists():
        return None
    with path.open("rb") as file:
        return read_po(file, locale=language)


def _path(root: Path, folder: str, language: str) -> Path:
    return root / folder / language / "LC_MESSAGES/django.po"


def _first(text: Any) -> str:
    """The text, or the singular of one with plurals."""
    return str(text if isinstance(text, str) else text[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extract", action="store_true", help="write and compile the catalogues")
    parser.add_argument("--gaps", action="store_true", help="report texts without a translation, too")
    given = parser.parse_args()
    if given.extract:
        extract_all()
        return
    found = [*problems(gaps=given.gaps), *english_problems()]
    sys.stderr.write("".join(f"{problem}\n" for problem in found))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()

"""The sections of a shop's home page: one declaration for each kind, with its fields and their limits.

A row of looks stores them as a JSON list in the order of the page. Each is an object with `id`, `kind`, `hidden`, the
kind's fields, `translations` of its texts by language and field, and `demo`, the demo picture that it shows until it
has one of its own. A new kind is a row of KINDS and the template `website/sections/KIND.html`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.content.links import check_link
from storefront.kit.text import Text

Section = dict[str, Any]
# The most sections of a home page, sections with products, and products that a section names.
MAX_SECTIONS, MAX_PRODUCT_SECTIONS, MAX_PRODUCTS = 20, 6, 12
# Names of parts of the page, such as the target of a label, have other forms.
ID = re.compile(r"lead|hero|categories|featured|newest|s[0-9a-z]{1,12}")
DEMO = re.compile(r"[a-z]+-[a-z]+")
RULES = {
    "newest": _lazy("The newest"),
    "featured": _lazy("Featured products"),
    "sale": _lazy("On sale"),
    "best": _lazy("Best sellers of the last 30 days"),
    "category": _lazy("Of a category"),
    "chosen": _lazy("Chosen ones"),
}


@dataclass(frozen=True)
class Field:
    """A field of a section. `choices` has values and names; `help` stands below it in the editor."""

    name: str
    label: Text
    type: Literal["text", "lines", "link", "choice", "picture", "category", "products"] = "text"
    max_length: int = 120
    choices: Any = None
    help: Text = ""
    is_required: bool = False

    @property
    def is_translated(self) -> bool:
        return self.type in ("text", "lines")

    @property
    def empty(self) -> Any:
        match self.type:
            case "choice":
                return next(iter(self.choices))
            case "picture" | "category":
                return None
            case "products":
                return []
        return ""

    def cleaned(self, value: Any) -> Any:
        """The value as it is stored. Raises ValidationError."""
        if self.type in ("picture", "category"):
            return value if isinstance(value, int) else None
        if self.type == "products":
            ids = [each for each in value if isinstance(each, int)] if isinstance(value, list) else []
            if len(ids) > MAX_PRODUCTS:
                raise ValidationError(too_many_products())
            return ids
        text = value.replace("\0", "").replace("\r\n", "\n").strip() if isinstance(value, str) else ""
        if self.type == "choice":
            return text if text in self.choices else self.empty
        if len(text) > self.max_length:
            raise ValidationError(_("At most %(count)s characters.") % {"count": self.max_length})
        if self.type == "link" and text:
            check_link(text)
        return text


@dataclass(frozen=True)
class Kind:
    title: Text
    icon: str
    fields: tuple[Field, ...] = ()
    # A template needs the fields that are required, and a button both of its fields.
    about: Text = ""


_TITLE = Field("title", _lazy("Heading"))
_PICTURE = (
    Field("picture", _lazy("Picture"), "picture"),
    Field("alt", _lazy("What the picture shows"), max_length=200, help=_lazy("For those who cannot see it.")),
)
_BUTTON = (
    Field("button", _lazy("Button"), max_length=60, help=_lazy("The text on it, such as “See all”.")),
    Field("link", _lazy("Link of the button"), "link", max_length=500, help=_lazy("/… or https://…")),
)
KINDS: dict[str, Kind] = {
    "hero": Kind(
        _lazy("Opening"),
        "wallpaper",
        (
            Field("title", _lazy("Heading"), is_required=True),
            Field("text", _lazy("Text"), "lines", max_length=400),
            *_BUTTON,
            *_PICTURE,
            Field(
                "layout",
                _lazy("Text and picture"),
                "choice",
                choices={"beside": _lazy("Side by side"), "wide": _lazy("Text on a wide picture")},
            ),
        ),
        _lazy("A large picture with a few words."),
    ),
    "lead": Kind(_lazy("First featured product"), "star", (), _lazy("Shows the first of the featured products large.")),
    "text": Kind(
        _lazy("Text with picture"),
        "article",
        (
            _TITLE,
            Field("text", _lazy("Text"), "lines", max_length=2000, is_required=True),
            *_PICTURE,
            Field(
                "side",
                _lazy("Picture"),
                "choice",
                choices={"end": _lazy("After the text"), "start": _lazy("Before the text")},
            ),
            *_BUTTON,
        ),
    ),
    "categories": Kind(_lazy("Categories"), "category", (_TITLE,)),
    "products": Kind(
        _lazy("Products"),
        "shopping_bag",
        (
            _TITLE,
            Field("rule", _lazy("Which"), "choice", choices=RULES),
            Field("category", _lazy("Category"), "category", help=_lazy("For products of a category.")),
            Field(
                "products",
                _lazy("Chosen products"),
                "products",
                max_length=2000,
                help=_lazy("SKUs or addresses, separated by commas. For chosen ones."),
            ),
            Field("count", _lazy("How many"), "choice", choices={number: number for number in ("8", "4", "9", "12")}),
        ),
    ),
    "quotes": Kind(
        _lazy("Quotes"),
        "format_quote",
        (
            _TITLE,
            *(
                field
                for number in (1, 2, 3)
                for field in (
                    Field(f"quote_{number}", _lazy("Quote"), "lines", max_length=400),
                    Field(f"name_{number}", _lazy("Who said it"), max_length=80),
                )
            ),
        ),
    ),
    "newsletter": Kind(
        _lazy("Newsletter"),
        "mail",
        (
            Field("title", _lazy("Heading"), is_required=True),
            Field("text", _lazy("Text"), "lines", max_length=400),
            Field("button", _lazy("Button"), max_length=60, is_required=True),
            Field(
                "link",
                _lazy("Link of the button"),
                "link",
                max_length=500,
                is_required=True,
                help=_lazy("Where your newsletter is subscribed to: /… or https://…"),
            ),
        ),
    ),
    "video": Kind(
        _lazy("Video"),
        "play_circle",
        (
            _TITLE,
            Field(
                "link",
                _lazy("Link to the video"),
                "link",
                max_length=500,
                is_required=True,
                help=_lazy("On YouTube, Vimeo, or a file of your own. It opens when the visitor clicks."),
            ),
            *_PICTURE,
            Field("text", _lazy("Text below it"), max_length=200),
        ),
    ),
}


def too_many_products() -> str:
    return _("Choose at most %(count)s products.") % {"count": MAX_PRODUCTS}


def new_section(kind: str, id: str, **given: Any) -> Section:
    values = {field.name: field.empty for field in KINDS[kind].fields}
    return {"id": id, "kind": kind, "hidden": False} | values | given


def usual_sections() -> list[Section]:
    """The home page of a shop that has chosen nothing."""
    return [
        new_section("lead", "lead"),
        new_section("categories", "categories"),
        new_section("products", "featured", rule="featured"),
        new_section("products", "newest", rule="newest"),
    ]


def cleaned(given: Any) -> tuple[list[Section], dict[tuple[str, str], str]]:
    """The sections as they are stored, and what is wrong with them by section and field. A field with a problem keeps
    what was given. What is no section is left out."""
    found: list[Section] = []
    problems: dict[tuple[str, str], str] = {}
    seen: set[str] = set()
    for section in given if isinstance(given, list) else []:
        if not isinstance(section, dict) or section.get("kind") not in KINDS:
            continue
        id = str(section.get("id"))
        if not ID.fullmatch(id) or id in seen:
            continue
        seen.add(id)
        found.append(_cleaned_section(section, id, problems))
    if len(found) > MAX_SECTIONS:
        problems["", ""] = _("A home page has at most %(count)s sections.") % {"count": MAX_SECTIONS}
    elif sum(section["kind"] == "products" for section in found) > MAX_PRODUCT_SECTIONS:
        problems["", ""] = _("At most %(count)s sections can show products.") % {"count": MAX_PRODUCT_SECTIONS}
    return found, problems


def _cleaned_section(given: Section, id: str, problems: dict[tuple[str, str], str]) -> Section:
    kind = KINDS[given["kind"]]
    found = {"id": id, "kind": given["kind"], "hidden": bool(given.get("hidden"))}
    for field in kind.fields:
        try:
            found[field.name] = field.cleaned(given.get(field.name))
            if field.is_required and not found[field.name]:
                raise ValidationError(_("This field is required."))
        except ValidationError as error:
            found[field.name] = given.get(field.name) or ""
            problems[id, field.name] = " ".join(error.messages)
    if "button" in found and bool(found["button"]) != bool(found["link"]) and (id, "link") not in problems:
        problems[id, "link"] = _("A button needs both its words and where it leads.")
    if translations := _cleaned_translations(kind, given.get("translations"), id, problems):
        found["translations"] = translations
    if found.get("picture") is None and DEMO.fullmatch(str(given.get("demo") or "")):
        found["demo"] = given["demo"]
    return found


def _cleaned_translations(kind: Kind, given: Any, id: str, problems: dict[tuple[str, str], str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for code, texts in given.items() if isinstance(given, dict) else ():
        for field in kind.fields:
            if field.is_translated and isinstance(texts, dict) and texts.get(field.name):
                try:
                    text = field.cleaned(texts[field.name])
                except ValidationError as error:
                    text, problems[id, f"{field.name}-in-{code}"] = texts[field.name], " ".join(error.messages)
                if text:
                    found.setdefault(code, {})[field.name] = text
    return found


def spoken_sections(sections: list[Section], language: str) -> list[Section]:
    """The sections that are shown, with their texts in this language, where there are any."""
    shown = [section for section in sections if not section["hidden"]]
    return [section | (section.get("translations") or {}).get(language, {}) for section in shown]


def without_problems(sections: list[Section], problems: dict[tuple[str, str], str]) -> list[Section]:
    """What a preview shows of sections that are being written: an invalid field is empty, unless it is a text."""
    for section in sections:
        for field in KINDS[section["kind"]].fields:
            if (section["id"], field.name) in problems and not field.is_translated:
                section[field.name] = field.empty
    return sections[:MAX_SECTIONS]


def picture_ids(sections: list[Section]) -> Iterator[int]:
    """The ids of the pictures that the sections show."""
    return (section["picture"] for section in sections if section.get("picture"))


def shows_demo_pictures(sections: list[Section]) -> bool:
    """Returns True if shoppers see a picture of a starting theme."""
    return any(section.get("demo") and not section["hidden"] for section in sections)

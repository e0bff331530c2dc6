"""The sections of the home page in the editor of the looks: one form field with a list of sections.

Without scripts, buttons of the form add, move and remove sections; the form is then shown again and nothing is saved.
"""

import re
import secrets
from collections.abc import Mapping
from itertools import islice
from typing import Any

from django import forms
from django.core.files.storage import default_storage
from django.db.models import Q
from django.utils.translation import gettext as _

from storefront.catalogue.media.uploaded import find_uploaded
from storefront.catalogue.models import Category, Product
from storefront.content import sections
from storefront.content.sections import KINDS, MAX_PRODUCTS, RULES, Section
from storefront.shops.models import Shop
from storefront.staff.admin_translations import LANGUAGES
from storefront.website import demo_pictures
from storefront.website.looks_versions import picture_names

# The button of a form that changes the list: what to do and the id of the section, or the kind of a new one.
DO = "home-do"
# The picture that a section's form sends, and the kind that is chosen for a new section.
FILE = re.compile(rf"home-({sections.ID.pattern})-file")
NEW_ID = "sNEW"
# Categories that a section can be of.
MAX_CATEGORIES = 500


class SectionsWidget(forms.Widget):
    template_name = "website/admin/sections.html"
    needs_multipart_form = False
    shop: Shop
    problems: Mapping[tuple[str, str], str] = {}

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[Section] | None:
        """The sections as they were sent, after what a button does with their list. None if none were sent."""
        if f"{name}-order" not in data:
            return None
        found = [
            self._sent(data, name, id)
            for id in str(data[f"{name}-order"]).split(",")
            if sections.ID.fullmatch(id) and data.get(f"{name}-{id}-kind") in KINDS
        ]
        return _after_button(found, str(data.get(DO, "")), str(data.get(f"{name}-new", "")))

    def _sent(self, data: Any, name: str, id: str) -> Section:
        kind = data[f"{name}-{id}-kind"]
        start = f"{name}-{id}"
        found: Section = {"id": id, "kind": kind, "hidden": f"{start}-shown" not in data}
        texts: dict[str, dict[str, str]] = {}
        for field in KINDS[kind].fields:
            found[field.name] = data.get(f"{start}-{field.name}", "")
            for code in self.shop.further_languages if field.is_translated else ():
                if text := data.get(f"{start}-{field.name}-in-{code}", ""):
                    texts.setdefault(code, {})[field.name] = text
        if data.get(f"{start}-drop"):
            found["picture"] = ""
        elif data.get(f"{start}-demo"):
            found["demo"] = data[f"{start}-demo"]
        return found | ({"translations": texts} if texts else {})

    def posted(self, name: str, value: Any) -> dict[str, str]:
        """What a browser sends if nobody changes the sections."""
        found = {f"{name}-order": ",".join(section["id"] for section in value)}
        for section in self._described(name, value):
            start = f"{name}-{section['id']}"
            found[f"{start}-kind"] = section["kind"]
            found |= {f"{start}-shown": "on"} if not section["hidden"] else {}
            found |= {f"{start}-demo": section["demo"]} if section["demo"] else {}
            for field in section["fields"]:
                found[field["html_name"]] = str(field["value"])
                found |= {each["html_name"]: each["value"] for each in field["languages"]}
        return found

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        shown = self._described(name, value or [])
        blank = [sections.new_section(kind, NEW_ID) for kind in KINDS]
        return super().get_context(name, value, attrs) | {
            "name": name,
            "sections": shown,
            "order": ",".join(section["id"] for section in shown),
            "new_sections": self._described(name, blank),
            "new_id": NEW_ID,
            "problem": self.problems.get(("", "")),
        }

    def _described(self, name: str, value: list[Section]) -> list[dict[str, Any]]:
        """What the template shows of each section."""
        ids = {each for section in value if isinstance(each := _number(section.get("picture")), int)}
        pictures = picture_names(self.shop, ids)
        products = _slugs(self.shop, value)
        categories = self._categories() if any(section["kind"] == "products" for section in value) else []
        return [
            {
                "id": section["id"],
                "kind": section["kind"],
                "hidden": section["hidden"],
                "demo": section.get("demo", ""),
                "about": KINDS[section["kind"]].about,
                "icon": KINDS[section["kind"]].icon,
                "title": KINDS[section["kind"]].title,
                "heading": section.get("title") or RULES.get(section.get("rule", ""), ""),
                "has_problem": any(id == section["id"] for id, _ in self.problems),
                "fields": [
                    self._field(name, section, field, pictures, products, categories)
                    for field in KINDS[section["kind"]].fields
                ],
            }
            for section in value
        ]

    def _field(self, name: str, section: Section, field: Any, pictures: Any, products: Any, categories: Any) -> Any:
        value = section.get(field.name)
        start = f"{name}-{section['id']}"
        shown = {
            "name": field.name,
            "label": field.label,
            "type": field.type,
            "help": field.help,
            "max_length": field.max_length,
            "html_name": f"{start}-{field.name}",
            "value": "" if value is None else value,
            "problem": self.problems.get((section["id"], field.name)),
            "languages": self._languages(start, section, field),
        }
        if field.type == "products" and isinstance(value, list):
            shown["value"] = ", ".join(products[id] for id in value if id in products)
        elif field.type == "choice":
            shown["choices"] = [(key, text, key == value) for key, text in field.choices.items()]
        elif field.type == "category":
            shown["choices"] = [("", "–", not value), *((id, text, str(id) == str(value)) for id, text in categories)]
        elif field.type == "picture":
            shown |= {"url": self._picture_url(value, pictures), "demo": demo_pictures.path_of(section.get("demo"))}
            shown |= {"file_name": f"{start}-file", "drop_name": f"{start}-drop", "demo_name": f"{start}-demo"}
        return shown

    def _languages(self, start: str, section: Section, field: Any) -> list[dict[str, str]]:
        codes = self.shop.further_languages if field.is_translated else ()
        texts = section.get("translations") or {}
        return [
            {
                "code": code,
                "label": f"{field.label} ({LANGUAGES.get(code, code)})",
                "html_name": f"{start}-{field.name}-in-{code}",
                "value": (texts.get(code) or {}).get(field.name, ""),
                "problem": self.problems.get((section["id"], f"{field.name}-in-{code}"), ""),
            }
            for code in codes
        ]

    def _picture_url(self, value: Any, pictures: Mapping[int, str]) -> str:
        name = pictures.get(_number(value) or 0)
        if name is None and value:
            uploaded = find_uploaded(self.shop, str(value))
            name = str(uploaded.file.name) if uploaded else None
        return default_storage.url(name) if name else ""

    def _categories(self) -> list[tuple[int, str]]:
        rows = Category.objects.filter(shop=self.shop).order_by("lft").values_list("pk", "name")
        return list(rows[:MAX_CATEGORIES])


class SectionsField(forms.Field):
    """The list of sections. `clean` returns them as they are stored, but for a new picture, which is named by its
    token until the looks are saved."""

    widget = SectionsWidget

    def clean(self, value: Any) -> list[Section]:
        found, problems = self.understood(value or [])
        self.widget.problems = problems
        if problems:
            kinds = {section["id"]: KINDS[section["kind"]] for section in found}
            raise forms.ValidationError([_named(kinds, place, text) for place, text in problems.items()])
        return found

    def has_changed(self, initial: Any, data: Any) -> bool:
        return data is not None and self.understood(data)[0] != sections.cleaned(initial or [])[0]

    def understood(self, value: list[Section]) -> tuple[list[Section], dict[tuple[str, str], str]]:
        """The sections that were sent, with the ids of what they name, and their problems."""
        shop = self.widget.shop
        wanted = {name for each in value for name in _names(each)}
        ids = _ids_by_name(shop, wanted)
        pictures = picture_names(shop, {id for each in value if (id := _number(each.get("picture")))})
        categories = {id for each in value if (id := _number(each.get("category")))}
        known = set(Category.objects.filter(shop=shop, pk__in=categories).values_list("pk", flat=True))
        tokens: dict[str, str] = {}
        problems: dict[tuple[str, str], str] = {}
        given = []
        for section in value:
            names = _names(section)
            if len(names) > MAX_PRODUCTS:
                problems[section["id"], "products"] = sections.too_many_products()
            elif missing := [name for name in names if name not in ids]:
                problems[section["id"], "products"] = _("There is no product %(name)s.") % {"name": missing[0]}
            picture = section.get("picture")
            number = _number(picture)
            if picture and number not in pictures:
                if find_uploaded(shop, str(picture)):
                    tokens[section["id"]] = str(picture)
                else:
                    problems[section["id"], "picture"] = _("This picture is no longer stored. Choose it again.")
            changed: Section = {"picture": number if number in pictures else None} if "picture" in section else {}
            if "category" in section:
                category = _number(section["category"])
                changed["category"] = category if category in known else None
            if "products" in section and not isinstance(section["products"], list):
                changed["products"] = list(dict.fromkeys(ids[name] for name in names if name in ids))
            given.append(section | changed)
        found, more = sections.cleaned(given)
        for section in found:
            if section["id"] in tokens:
                section["picture"] = tokens[section["id"]]
                section.pop("demo", None)
        return found, more | problems


def _named(kinds: Mapping[str, Any], place: tuple[str, str], text: str) -> str:
    kind = kinds.get(place[0])
    if kind is None:
        return text
    name, _in, code = place[1].partition("-in-")
    label = next(field.label for field in kind.fields if field.name == name)
    return f"{kind.title}, {label}{f' ({LANGUAGES.get(code, code)})' if code else ''}: {text}"


def _after_button(found: list[Section], pressed: str, new_kind: str) -> list[Section]:
    deed, _colon, id = pressed.partition(":")
    places = [section["id"] for section in found]
    if deed == "add" and new_kind in KINDS:
        return [*found, sections.new_section(new_kind, f"s{secrets.token_hex(4)}")]
    if id not in places:
        return found
    at = places.index(id)
    section = found.pop(at)
    if deed == "up":
        found.insert(max(at - 1, 0), section)
    elif deed == "down":
        found.insert(at + 1, section)
    elif deed != "remove":
        found.insert(at, section)
    return found


def _number(value: Any) -> int | None:
    """An id, also one that was sent as a text."""
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else None


def _names(section: Section) -> list[str]:
    """The products that a sent section names: of too many, one more than it may name."""
    value = section.get("products")
    words = (word.strip() for word in value.replace("\0", "").split(",")) if isinstance(value, str) else ()
    return list(islice(dict.fromkeys(word for word in words if word), MAX_PRODUCTS + 1))


def _ids_by_name(shop: Shop, names: set[str]) -> dict[str, int]:
    if not names:
        return {}
    rows = Product.objects.filter(Q(slug__in=names) | Q(sku__in=names), shop=shop, deleted_at=None)
    found = list(rows.order_by("-pk").values_list("pk", "slug", "sku"))
    return {sku: pk for pk, _slug, sku in found} | {slug: pk for pk, slug, _sku in found}


def _slugs(shop: Shop, value: list[Section]) -> dict[int, str]:
    ids = {id for each in value if isinstance(each.get("products"), list) for id in each["products"]}
    rows = Product.objects.filter(shop=shop, pk__in=ids, deleted_at=None).values_list("pk", "slug")
    return dict(rows) if ids else {}

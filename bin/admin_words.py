"""`make check`: no text of the admin reads as Django made it, such as "Is active".

Compared with the patterns of `admin_words.txt` are the names, help texts and choices of the models and fields that the
admin shows, the labels and help texts of forms, all texts that are marked in code and templates of the admin, and those
of Django and Unfold that its pages can show, in the words that the English catalogue has for them.
"""

import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import django

sys.path.insert(0, str(Path(__file__).parent))
import texts

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = ROOT / "bin/admin_words.txt"
# The code of Django and Unfold whose texts pages of the admin show; the templates of both are added.
CODE = (
    *("django.contrib.admin", "django.contrib.auth.forms", "django.contrib.auth.password_validation"),
    *("django.forms", "django.core.validators", "django.db.models.base", "django.db.models.fields", "unfold"),
)
# Lists of texts that are checked where they come from.
LISTS = ("derived_texts.py", "theme_texts.py")
# Pages of Django's and Unfold's that this admin does not have: of users, of the documentation of templates, and
# commands of Unfold's for parts that are not installed.
NOT_SHOWN = re.compile(
    r"/(admin_doc|auth|registration|import_export|guardian|simple_history|constance|celery|hijack|location_field"
    r"|modeltranslation|crispy)/|/templates/(admin|unfold)/(app_index|app_list|nav_sidebar|index|color_theme_toggle|404"
    r"|500|popup_response|prepopulated_fields_js|pagination|delete_selected_confirmation|invalid_setup)\.html$"
    r"|admin/(tests|sites|checks|apps|models|templatetags/log)\.py$|/unfold/contrib/"
)

Text = tuple[str, str]


def found() -> Iterator[Text]:
    """Each text of the admin with the place that it comes from."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    django.setup()
    from storefront.staff.model_names import places_of_admin

    yield from places_of_admin()
    yield from labels_of_forms()
    for path in texts._files(ROOT):
        name = str(path.relative_to(ROOT))
        if texts.is_staffs(name) and path.name not in LISTS:
            yield from ((name, text) for text in marked(path))
    yield from others()


def labels_of_forms() -> Iterator[Text]:
    """The labels and help texts of all forms; Django makes a label of the field's name where the code has none."""
    from django import forms
    from django.forms.utils import pretty_name

    for module in pkgutil.walk_packages([str(ROOT / "storefront")], "storefront."):
        if re.search(r"form|admin", module.name) and "migrations" not in module.name:
            importlib.import_module(module.name)
    for form in _below(forms.Form):
        if form.__module__.startswith("storefront."):
            for name, field in form.base_fields.items():
                place = f"{form.__module__}.{form.__name__}.{name}"
                label = pretty_name(name) if field.label is None else str(field.label)
                yield from ((place, text) for text in (label, str(field.help_text)) if text)


def others() -> Iterator[Text]:
    """The texts of Django and Unfold, in this project's English."""
    catalog = texts._read(ROOT / texts.ENGLISH, "en")
    messages = texts._messages(catalog) if catalog else ()
    english = {(message.context, texts._first(message.id)): message.string for message in messages}
    for name, path in sorted({**dict(_code()), **dict(_templates())}.items()):
        if not NOT_SHOWN.search(str(path)):
            for _line, text, _comments, context in texts._texts_of(path):
                shown = english.get((context, texts._first(text)), text)
                yield from ((name, each) for each in (shown if isinstance(shown, tuple | list) else [shown]) if each)


def marked(path: Path) -> Iterator[str]:
    for _line, text, _comments, _context in texts._texts_of(path):
        yield from filter(None, text if isinstance(text, tuple) else [text])


def _code() -> Iterator[tuple[str, Path]]:
    for name in CODE:
        module = importlib.import_module(name)
        folder = Path(str(module.__file__))
        paths = sorted(folder.parent.rglob("*.py")) if folder.name == "__init__.py" else [folder]
        yield from ((str(path.relative_to(folder.parents[len(name.split("."))])), path) for path in paths)


def _templates() -> Iterator[tuple[str, Path]]:
    """The templates of Django and Unfold that this project does not replace by its own."""
    from django.template.engine import Engine

    loader = Engine.get_default().template_loaders[0]
    for package in ("django.contrib.admin", "unfold"):
        folder = Path(str(importlib.import_module(package).__file__)).parent / "templates"
        for path in folder.rglob("*.html"):
            name = str(path.relative_to(folder))
            if next(each.name for each in loader.get_template_sources(name) if Path(each.name).exists()) == str(path):
                yield name, path


def _below(kind: Any) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def patterns() -> list[tuple[str, str]]:
    lines = PATTERNS.read_text().splitlines()
    return [(line.split("\t")[0], line.split("\t")[1]) for line in lines if line and not line.startswith("#")]


def problems(every: Iterable[Text]) -> Iterator[str]:
    """A line for each text that has words of the list: its place, the text, and what to write instead."""
    bans = patterns()
    for place, text in sorted(set(every)):
        shown = re.sub(r"%\(\w+\)[sd]|\{\w*\}", "%s", " ".join(text.split()))
        for ban, instead in bans:
            if re.search(ban, shown):
                yield f"{place}: {text!r}: write {instead}"
                break


if __name__ == "__main__":
    sys.exit("\n".join(problems(found())) or 0)

"""bin/unmarked.py finds texts of shoppers' pages that are not marked for translation."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Writes one file, and returns the unmarked texts of its project."""
    monkeypatch.syspath_prepend(ROOT / "bin")
    unmarked = import_module("unmarked")

    def check(text: str, path: str) -> list[str]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return list(unmarked.problems(tmp_path))

    return check


PAGE, MAIL, CODE = (
    f"storefront/website/{name}" for name in ("templates/website/x.html", "templates/website/x.txt", "x.py")
)
MARKED = {
    PAGE: [
        '<p>{% translate "Sold out" %} – {{ shop.name }}</p>',
        "<p>{% blocktranslate with name=lead.name %}View\n{{ name }}{% endblocktranslate %}</p>",
        '<input value="Search" name="q" placeholder="{% translate "Search" %}">',
        '{% comment %}A note.{% endcomment %}<script>const text = "Sale";</script>{# Translators: a word #}',
        '{% include "website/head.html" with heading=_("All products") kind="product" %}',
        "<td>9 × 3 €</td>",
    ],
    MAIL: ['{% opening %}{% translate "Hello," %}{% endopening %}\n\n{{ shop.base_url }}/account/details'],
    CODE: [
        'messages.success(request, _("Saved."))',
        'raise Http404(_("There is no shop at this address."))',
        'class Wrong(Refusal):\n    status, message = 403, gettext_lazy("This link is too old.")',
        'name = forms.CharField(label=_lazy("Name"), max_length=200)',
        'raise InvalidFields(errors={"qty": [_("Only %(count)s left.") % {"count": 2}]})',
        'log.warning("shop_closed")\nraise KeyError(name)',
    ],
    "storefront/website/static/website/x.js": ['// Says it.\n"use strict";\nbutton.textContent = texts.soldOut;'],
    "storefront/website/templates/website/admin/x.html": ["<p>Only staff see this.</p>"],
    "storefront/website/admin.py": ['messages.success(request, "Saved.")'],
    "storefront/listing/x.py": ['raise Http404("Not a room of texts.")'],
}
UNMARKED = {
    PAGE: {
        "<p>Sold out</p>": "Sold out",
        "<p>{% if x %}\n{{ name }}: sold\n{% endif %}</p>": ": sold",
        '<img alt="A mug">': "A mug",
        '<a aria-label="{% if links %}Shop{% endif %}">': "Shop",
        '<input type="submit" value="Buy">': "Buy",
        '{% include "website/head.html" with heading="All products" %}': "All products",
        '{{ shop.name|default:"Our shop" }}': "Our shop",
        "{{ count }} {% translate 'item' %}{{ count|pluralize }}": "|pluralize, which knows English alone",
        '<meta name="description" content="All we have">': "All we have",
    },
    MAIL: {"{% autoescape off %}Hello,\n{% endautoescape %}": "Hello,"},
    CODE: {
        'messages.success(request, "Saved.")': "Saved.",
        'messages.error(request, f"{name} is gone.")': "f'{name} is gone.'",
        'raise forms.ValidationError("Enter a name.")': "Enter a name.",
        'raise Http404("There is no shop.")': "There is no shop.",
        'form.add_error(None, "The password is incorrect.")': "The password is incorrect.",
        'class Wrong(Refusal):\n    status, message = 403, "This link is too old."': "This link is too old.",
        'name = forms.CharField(label="Name", max_length=200)': "Name",
        'raise InvalidFields(errors={"qty": [f"Only {left} left."]})': "f'Only {left} left.'",
        'raise InvalidFields("Too many." if left else _("None."))': "Too many.",
        'text = _(f"Only {left} left.")': "an f-string in gettext",
    },
    "storefront/website/static/website/x.js": {'/* A note. */\nbutton.textContent = "Sold out now";': "Sold out now"},
}


@pytest.mark.parametrize(("path", "text"), [(path, text) for path, texts in MARKED.items() for text in texts])
def test_marked_texts_and_what_nobody_reads_are_no_problems(check, path, text):
    assert check(text, path) == []


@pytest.mark.parametrize(
    ("path", "text", "found"), [(path, *pair) for path, pairs in UNMARKED.items() for pair in pairs.items()]
)
def test_an_unmarked_text_is_found(check, path, text, found):
    problems = check(text, path)
    assert len(problems) == 1, problems
    assert problems[0].startswith(f"{path}:")
    assert f"not marked: {found!r}" in problems[0]


def test_the_line_of_an_unmarked_text_is_named(check):
    text = "{% blocktranslate %}\n\n{% endblocktranslate %}\n{# one\ntwo #}\n<p>\nSold out</p>"
    assert check(text, PAGE) == [f"{PAGE}:6: not marked: 'Sold out'"]

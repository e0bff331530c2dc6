"""bin/texts.py writes catalogues of the marked texts, and finds translations that are missing or wrong."""

from importlib import import_module
from pathlib import Path

import pytest
from django.utils.translation import gettext as _
from django.utils.translation import override, trans_real

ROOT = Path(__file__).parents[2]
GERMAN = "storefront/locale/de/LC_MESSAGES/django.po"
PAGE, MODULE, ADMIN = "website/templates/x.html", "website/x.py", "orders/admin.py"
IMPORT = "from django.utils.translation import gettext as _\n"
PAGE_TEXT = """    <p>{% translate "Sold out" %}</p>
  {% translate "From" context "price" %}
{% blocktranslate count counter=n %}{{ counter }} mug{% plural %}{{ counter }} mugs{% endblocktranslate %}
{# Translators: who did it #}
{% blocktranslate with who=name %}By <b>{{ who }}</b>{% endblocktranslate %}
"""
ADMIN_TEXT = f'{IMPORT}_("Orders"), _("Sold out")\n'
STAFF = "storefront/staff/locale/de/LC_MESSAGES/django.po"


@pytest.fixture
def texts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bin")
    return import_module("texts")


@pytest.fixture
def project(tmp_path):
    """Writes files into the folder storefront of a project, by name."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "storefront" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


@pytest.fixture
def mugs(project):
    """A project with a page, a mail, a module and a page of the admin."""
    return project({PAGE: PAGE_TEXT, MODULE: f'{IMPORT}_("Hello %(name)s") % {{"name": 1}}\n', ADMIN: ADMIN_TEXT})


def translate(root: Path, translations: dict[str, str], path: str = GERMAN) -> None:
    """Write these translations over the empty ones that follow their texts."""
    text = (root / path).read_text()
    for original, translation in translations.items():
        before, middle, after = text.partition(f'msgid "{original}"\n')
        text = before + middle + after.replace('msgstr ""', f'msgstr "{translation}"', 1)
    (root / path).write_text(text)


def test_each_marked_text_is_in_the_catalogue_of_those_who_see_it(texts, mugs):
    texts.extract_all(mugs)
    text = (mugs / GERMAN).read_text()
    for line in (
        'msgid "Sold out"',
        'msgctxt "price"\nmsgid "From"',
        'msgid "%(counter)s mug"\nmsgid_plural "%(counter)s mugs"\nmsgstr[0] ""\nmsgstr[1] ""',
        "#. who did it\n#: storefront/website/templates/x.html\n",
        'msgid "By <b>%(who)s</b>"',
        'msgid "Hello %(name)s"',
        "#: storefront/orders/admin.py storefront/website/templates/x.html\n",
    ):
        assert line in text, line
    assert "Orders" not in text
    staff = (mugs / STAFF).read_text()
    assert 'msgid "Orders"' in staff
    assert "Sold out" not in staff
    assert 'msgstr[5] ""' in (mugs / GERMAN.replace("/de/", "/ar/")).read_text()


def test_extracting_again_changes_nothing_and_keeps_translations(texts, mugs, project):
    texts.extract_all(mugs)
    translate(mugs, {"Sold out": "Ausverkauft", "From": "Ab"})
    texts.extract_all(mugs)
    first = (mugs / GERMAN).read_bytes(), (mugs / GERMAN).with_suffix(".mo").read_bytes()
    assert b"Ausverkauft" in first[0]
    assert b"Ausverkauft" in first[1]
    texts.extract_all(mugs)
    assert ((mugs / GERMAN).read_bytes(), (mugs / GERMAN).with_suffix(".mo").read_bytes()) == first
    project({PAGE: '{% translate "Sold" %}', ADMIN: ""})
    texts.extract_all(mugs)
    # A text that was changed has no translation: none is guessed.
    assert "Ausverkauft" not in (mugs / GERMAN).read_text()


def test_a_text_without_a_translation_is_a_gap(texts, mugs):
    texts.extract_all(mugs)
    assert list(texts.problems(mugs)) == []
    gaps = [line for line in texts.problems(mugs, gaps=True) if line.startswith(GERMAN)]
    assert len(gaps) == 5
    translate(mugs, {"Sold out": "Ausverkauft"})
    texts.extract_all(mugs)
    assert f"{GERMAN}: no translation: 'Sold out'" in gaps
    assert f"{GERMAN}: no translation: 'Sold out'" not in list(texts.problems(mugs, gaps=True))


def test_a_text_that_is_not_in_the_catalogue_and_one_that_was_guessed_are_gaps(texts, mugs, project):
    texts.extract_all(mugs)
    translate(mugs, {"Sold out": "Ausverkauft"})
    path = mugs / GERMAN
    path.write_text(path.read_text().replace('msgid "Sold out"', '#, fuzzy\nmsgid "Sold out"'))
    project({"website/y.py": f'{IMPORT}_("New")\n'})
    found = list(texts.problems(mugs, gaps=True))
    assert f"{GERMAN}: no translation: 'New'" in found
    assert f"{GERMAN}: no translation: 'Sold out'" in found


def test_a_plural_form_that_is_missing_is_a_gap(texts, mugs):
    texts.extract_all(mugs)
    path = mugs / GERMAN
    path.write_text(path.read_text().replace('msgstr[0] ""', 'msgstr[0] "%(counter)s Krug"'))
    assert f"{GERMAN}: no translation: '%(counter)s mug'" in list(texts.problems(mugs, gaps=True))
    path.write_text(path.read_text().replace('msgstr[1] ""', 'msgstr[1] "%(counter)s Krüge"'))
    assert f"{GERMAN}: no translation: '%(counter)s mug'" not in list(texts.problems(mugs, gaps=True))


@pytest.mark.parametrize(
    ("original", "translation", "problem"),
    [
        ("Hello %(name)s", "Hallo", "other placeholders"),
        ("Hello %(name)s", "Hallo %(vorname)s", "other placeholders"),
        ("By <b>%(who)s</b>", "Von %(who)s", "other tags"),
        ("Sold out", '\\\\"Ausverkauft\\\\"', "straight quotation marks"),
        ("Sold out", "100 %% weg", "other placeholders"),
    ],
)
def test_a_translation_that_would_break_a_page_is_a_problem(texts, mugs, original, translation, problem):
    texts.extract_all(mugs)
    translate(mugs, {original: translation.replace("\\\\", "\\")})
    assert any(problem in line for line in texts.problems(mugs))


def test_a_plural_form_may_leave_out_the_number(texts, mugs):
    texts.extract_all(mugs)
    path = mugs / GERMAN
    path.write_text(path.read_text().replace('msgstr[0] ""', 'msgstr[0] "Ein Krug"'))
    assert not any("placeholders" in line for line in texts.problems(mugs))


def test_a_compiled_catalogue_that_differs_is_a_problem(texts, mugs):
    texts.extract_all(mugs)
    translate(mugs, {"Sold out": "Ausverkauft"})
    assert any("differs from its .po" in line for line in texts.problems(mugs))
    texts.extract_all(mugs)
    assert list(texts.problems(mugs)) == []


def test_django_reads_what_was_compiled(texts, mugs, settings, monkeypatch):
    texts.extract_all(mugs)
    translate(mugs, {"Sold out": "Ausverkauft"})
    texts.extract_all(mugs)
    settings.LOCALE_PATHS = [mugs / "storefront/locale"]
    monkeypatch.setattr(trans_real, "_translations", {})
    with override("de"):
        assert _("Sold out") == "Ausverkauft"


def test_the_catalogues_of_the_project_fit_their_texts(texts):
    assert list(texts.problems()) == []

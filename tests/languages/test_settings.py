"""A shop's further languages: chosen in its settings, by the operator and on the command line."""

import json

import pytest
from django.core.management import call_command
from django_tasks_db.models import DBTaskResult

from storefront.kit.refusals import InvalidFields
from storefront.shops import changes
from storefront.shops.languages import FURTHER_CHOICES, MAX_FURTHER, native_name, problem_of_further
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import make_shop


def errors(page) -> list[str]:
    return page.context_data["adminform"].form.errors.get("further_languages", [])


def test_the_owner_chooses_them(desk, shop, other_shop):
    before = changes.version(shop.pk)
    desk.fill(shop, further_languages=["de", "fr"])
    shop.refresh_from_db()
    other_shop.refresh_from_db()
    assert (shop.languages, other_shop.languages) == (["en", "de", "fr"], ["fr", "es"])
    tasks = DBTaskResult.objects.filter(task_path__endswith="rewrite_search_texts")
    assert [task.args_kwargs["args"] for task in tasks] == [[shop.pk]], "the search finds what was translated"
    desk.fill(shop, further_languages=[])
    shop.refresh_from_db()
    assert shop.further_languages == []
    assert changes.version(shop.pk) >= before


def test_the_main_language_is_not_a_further_one(desk, shop):
    assert errors(desk.fill(shop, further_languages=["en", "de"])) == ["English is the main language already."]
    assert errors(desk.fill(shop, language="de")) == ["German is the main language already."]
    assert errors(desk.fill(shop, further_languages=["xx"]))
    shop.refresh_from_db()
    assert shop.languages == ["en", "de", "ar", "pt"]


@pytest.mark.parametrize(
    ("further", "problem"),
    [
        (["de", "fr"], ""),
        (["xx", "other"], "Unknown: xx, other. Expected codes such as de or fr."),
        (["de", "de"], "List each language only once."),
        (["en"], "English is the main language already."),
        ([code for code, _ in FURTHER_CHOICES if code != "en"][: MAX_FURTHER + 1], "At most 20 further languages."),
    ],
)
def test_which_a_shop_can_have(further, problem):
    assert problem_of_further("en", further) == problem


def test_every_language_has_a_name_of_its_own():
    assert (native_name("de"), native_name("he"), native_name("other")) == ("Deutsch", "עברית", "")
    assert all(native_name(code) for code, _ in FURTHER_CHOICES)


def test_none_is_created_with_others(db):
    with pytest.raises(InvalidFields) as refused:
        make_shop("new.example.com", further_languages=["de", "xx"])
    assert list(refused.value.errors) == ["further_languages"]
    assert not Shop.objects.exists()


def test_the_command_takes_them(db, capsys):
    new = ("--domain", "new.example.com", "--name", "New", "--base-url", "https://new.example.com")
    call_command("createshop", *new, "--language", "de", "--further-languages", "fr, it")
    assert json.loads(capsys.readouterr().out)["further_languages"] == ["fr", "it"]
    assert Shop.objects.get().languages == ["de", "fr", "it"]


def test_the_admin_names_an_orders_language(desk, shop):
    mug = make_product(shop, "Mug", stock_qty=9)
    german, other = make_order(shop, sale_line(mug), language="de"), make_order(shop, sale_line(mug))
    assert "<h3>Language</h3><p>German</p>" in desk.page(german).content.decode()
    assert "<h3>Language</h3>" not in desk.page(other).content.decode()

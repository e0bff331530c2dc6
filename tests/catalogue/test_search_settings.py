"""Changes in the admin that concern the search texts of many products, and the language of a new shop."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django_tasks_db.models import DBTaskResult

from storefront.catalogue import jobs
from storefront.catalogue.models import Brand
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.catalogue.test_search_finds import found
from tests.shops.factories import make_shop


def queued() -> list[int]:
    """The shops whose texts are to be written again."""
    path = f"{jobs.rewrite_search_texts.module_path}"
    tasks = DBTaskResult.objects.filter(task_path=path).order_by("enqueued_at")
    return [task.args_kwargs["args"][0] for task in tasks]


def run_queued() -> None:
    for shop in queued():
        jobs.rewrite_search_texts.call(shop)


@pytest.mark.slow
def test_another_language_finds_other_plurals(shop, other_shop, desk):
    for each in (shop, other_shop):
        make_product(each, "Haus")
    assert found(shop, "häusern") == []
    desk.fill(shop, language="de")
    assert Shop.objects.get(pk=shop.pk).language == "de"
    assert queued() == [shop.pk]
    run_queued()
    assert found(Shop.objects.get(pk=shop.pk), "häusern") == ["Haus"]
    assert found(other_shop, "häusern") == []


def test_other_settings_write_no_texts(shop, desk):
    desk.fill(shop, name="Harbour")
    assert queued() == []


def test_products_are_found_by_the_new_name_of_their_brand(shop, desk):
    brand = Brand.objects.create(shop=shop, name="Kettlewright")
    make_product(shop, "Mug", brand=brand)
    desk.fill(brand, name="Riverside")
    run_queued()
    assert (found(shop, "kettlewright"), found(shop, "riverside")) == ([], ["Mug"])


def test_a_shop_is_created_with_its_language(db):
    out = StringIO()
    names = ["--domain=de.example.com", "--name=Laden", "--base-url=https://de.example.com"]
    call_command("createshop", *names, "--language=de", stdout=out)
    assert json.loads(out.getvalue())["language"] == "de"
    assert Shop.objects.get(domain="de.example.com").language == "de"
    with pytest.raises(InvalidFields) as refused:
        make_shop("x.example.com", language="klingon")
    assert list(refused.value.errors) == ["language"]

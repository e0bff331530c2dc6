"""Rows of the admin's lists cost what differs between them."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from unfold.admin import checkbox
from unfold.templatetags import unfold_list

from storefront.staff import admin_lists
from tests.catalogue.factories import make_product

pytestmark = pytest.mark.django_db


def test_headers_and_boxes_are_made_once_and_are_those_of_unfold(desk, shop, monkeypatch):
    products = [make_product(shop, f"Mug {number}") for number in range(12)]
    made, boxes, render = [], [], checkbox.render
    real = admin_lists._headers_of
    monkeypatch.setattr(admin_lists, "_headers_of", lambda cl: made.append(cl) or real(cl))
    monkeypatch.setattr(checkbox, "render", lambda *given: boxes.append(given) or render(*given))
    admin_lists._box.cache_clear()
    page = desk.get("/admin/catalogue/product/").content.decode()
    assert (len(made), len(boxes)) == (1, 1)
    assert unfold_list.result_headers is admin_lists._headers_once
    for product in products:
        assert page.count(render(ACTION_CHECKBOX_NAME, str(product.pk))) == 1
    assert page.count('data-label="SKU"') == len(products)


@pytest.mark.parametrize(
    ("value", "colours"),
    [("draft", {"draft": "info"}), (("draft", "Draft <1>"), {"draft": "info"}), (("x", "y"), {}), (["a", "b"], True)],
)
def test_labels_are_those_of_unfold_and_made_once(monkeypatch, value, colours):
    made, real = [], admin_lists._display_for_label
    monkeypatch.setattr(admin_lists, "_display_for_label", lambda *given: made.append(given) or real(*given))
    admin_lists._label.cache_clear()
    found = [unfold_list.display_for_label(value, "-", colours) for _ in range(3)]
    assert set(found) == {real(value, "-", colours)}
    assert len(made) == (1 if isinstance(colours, dict) else 3)

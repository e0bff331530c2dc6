"""The tables within the admin's forms take as many rows as their pages are made for, and counts that are numbers."""

import re
import time
from itertools import cycle

import pytest
from django.contrib import admin

from storefront.catalogue.models import Option, OptionValue, Product
from storefront.pricing.models import Discount, DiscountCode, DiscountTarget
from storefront.staff.form_rows import _tables
from tests.catalogue.factories import make_product
from tests.server.admin_rows import ROWS
from tests.shops.factories import NOW
from tests.staff import admin_url, form_values

WITH_TABLES = [model for model, page in admin.site._registry.items() if page.inlines and "change" in page.rights]
NO_NUMBERS = ["Infinity", "1E+1000000", "-1", "1" * 5000, "²"]


def refused(desk, row, **given) -> str:
    """What the page says, which refuses the form and shows it again."""
    answer = desk.fill(row, **given)
    assert answer.status_code == 422, given
    assert "Nothing was saved" in answer.content.decode()
    return answer.content.decode()


@pytest.mark.slow
@pytest.mark.parametrize("model", WITH_TABLES, ids=lambda model: model.__name__)
def test_no_table_takes_counts_and_ids_that_are_no_numbers(desk, shop, model):
    row = ROWS[model](shop)
    page = admin.site._registry[model]
    names = [name for (name, within), _ in _tables(page.inlines, model) if not within]
    sent = form_values(desk.page(row))
    counts = [f"{name}-{kind}_FORMS" for name in names for kind in ("TOTAL", "INITIAL", "MIN_NUM", "MAX_NUM")]
    counts = [name for name in counts if name in sent]
    texts = cycle(NO_NUMBERS)
    for name in counts:
        text = next(texts)
        assert desk.post(admin_url(row, "change"), sent | {name: text}).status_code == 422, (name, text)
    for name in {name.partition("-")[0] for name in counts}:
        text = next(texts)
        given = {f"{name}-TOTAL_FORMS": "1", f"{name}-INITIAL_FORMS": "1", f"{name}-0-id": text}
        assert desk.post(admin_url(row, "change"), sent | given).status_code == 422, (name, text)
        # Rows that do not say which they are.
        assert desk.post(admin_url(row, "change"), sent | given | {f"{name}-0-id": ""}).status_code < 500, name


def test_rows_that_were_not_sent_cost_little(desk, shop):
    discount = ROWS[Discount](shop)
    sent = form_values(desk.page(discount))
    seconds = {}
    for rows in (101, 2000):
        begun = time.thread_time()
        answer = desk.post(admin_url(discount, "change"), sent | {"targets-TOTAL_FORMS": rows, "name": "Other"})
        seconds[rows] = time.thread_time() - begun
    assert answer.status_code == 422
    assert "2,000 items are too many for this page. It takes at most 100" in answer.content.decode()
    assert form_values(answer)["name"] == "Other"
    assert seconds[2000] < 2 * seconds[101]
    discount.refresh_from_db()
    assert discount.name != "Other"


@pytest.mark.slow
def test_rows_that_the_form_does_not_have_are_not_drawn(desk, shop):
    url = admin_url(Product, "add")
    sent = inputs(desk.get(url))
    claimed = {name: "99" for name in sent if name.endswith("-TOTAL_FORMS")}
    answer = desk.post(url, sent | claimed | {"name": "Scarf"})
    assert (answer.status_code, len(claimed)) == (422, 8)
    assert "the form counts 99 variants, but has only 0." in answer.content.decode()
    assert len(answer.content) < 2.5 * len(desk.get(url).content)


@pytest.mark.slow
def test_tables_within_rows_are_counted_together(desk, shop):
    product = make_product(shop, "Mug")
    option = Option.objects.create(shop=shop, product=product, name="Colour", type="select")
    assert "200 option values are too many" in refused(
        desk, product, **{f"options__{number}__values__TOTAL_FORMS": 40 for number in range(5)}
    )
    assert "501 rows are too many" in refused(desk, product, choices__rows=501)
    # Those that it has count as shown.
    values = [OptionValue(shop=shop, option=option, label=f"{number}", sort_order=number) for number in range(101)]
    OptionValue.objects.bulk_create(values)
    answer = desk.fill(product, name="Jug")
    assert answer.status_code == 302
    assert Product.objects.get().name == "Jug"


@pytest.mark.slow
def test_full_tables_are_saved_and_take_new_rows(desk, shop):
    discount = Discount.objects.create(shop=shop, name="Sale", value=5, needs_code=True)
    codes = [DiscountCode(shop=shop, discount=discount, code=f"C{number}", created_at=NOW) for number in range(60)]
    DiscountCode.objects.bulk_create(codes)
    new = {f"codes__{50 + number}__code": f"N{number}" for number in range(100)}
    assert desk.fill(discount, codes__TOTAL_FORMS=150, **new).status_code == 302
    assert DiscountCode.objects.count() == 160
    assert "151 discount codes are too many" in refused(desk, discount, codes__TOTAL_FORMS=151)
    assert not DiscountTarget.objects.exists()


@pytest.mark.slow
def test_a_refused_form_can_be_sent_again(desk):
    """Also where a table that is only read is shown again without its counts."""
    url = admin_url(Product, "add")
    refused = desk.post(url, inputs(desk.get(url)) | {"name": "Scarf", "canonical_url": "nowhere"})
    assert "Enter a valid URL." in refused.content.decode()
    assert inputs(refused)["adjustments-MIN_NUM_FORMS"] == ""
    again = desk.post(url, inputs(refused))
    assert (again.status_code, "Nothing was saved" in again.content.decode()) == (200, False)


def inputs(page) -> dict[str, str]:
    """The fields as the page's HTML has them, but for boxes to tick."""
    tags = [tag for tag in re.findall(r"<input[^>]*>", page.content.decode()) if 'type="checkbox"' not in tag]
    found = [(re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)) for tag in tags]
    return {name[1]: value[1] if value else "" for name, value in found if name}

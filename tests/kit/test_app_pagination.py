"""`pagination` of the App API's lists, and what may be asked for."""

import pytest
from pydantic import ValidationError

from storefront.kit.api.app_pagination import PageQuery, pagination

pytestmark = pytest.mark.any_database

PATH = "https://shop.example.com/api/apps/customers"


def member(page: int, total: int, given=()):
    return pagination(page=page, per_page=10, total=total, path=PATH, given=given)


def test_a_page_in_the_middle_links_both_ways():
    assert member(2, 25) == {
        "current_page": 2,
        "last_page": 3,
        "per_page": 10,
        "total": 25,
        "next_page_url": f"{PATH}?page=3",
        "prev_page_url": f"{PATH}?page=1",
    }


def test_first_and_last_page_link_one_way_only():
    assert member(1, 25)["prev_page_url"] is None
    assert member(3, 25)["next_page_url"] is None


def test_an_empty_list_has_one_page():
    assert (member(1, 0)["last_page"], member(1, 0)["next_page_url"]) == (1, None)


def test_after_the_last_page_the_previous_page_is_the_last():
    assert member(9, 25)["prev_page_url"] == f"{PATH}?page=3"


def test_filters_are_kept():
    assert member(1, 25, [("email", "a@b.example")])["next_page_url"] == f"{PATH}?email=a%40b.example&page=2"


def test_a_page_size_has_a_default_and_a_bound():
    assert (PageQuery().page, PageQuery().per_page) == (1, 24)
    assert PageQuery(per_page="1000").per_page == 100
    assert PageQuery(page=3, per_page=20).start == 40


@pytest.mark.parametrize("given", [{"page": "0"}, {"page": "x"}, {"page": "9" * 30}, {"per_page": "-1"}])
def test_refuses_invalid_page_numbers(given):
    with pytest.raises(ValidationError):
        PageQuery(**given)

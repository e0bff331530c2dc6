"""`pagination` of the App API's lists, and what may be asked for."""

import pytest
from pydantic import ValidationError

from storefront.kit.app_pagination import PageQuery, pagination

PATH = "https://shop.example.com/api/apps/customers"


def told(page: int, total: int, given=()):
    return pagination(page=page, per_page=10, total=total, path=PATH, given=given)


def test_a_page_in_the_middle_leads_both_ways():
    assert told(2, 25) == {
        "current_page": 2,
        "last_page": 3,
        "per_page": 10,
        "total": 25,
        "next_page_url": f"{PATH}?page=3",
        "prev_page_url": f"{PATH}?page=1",
    }


def test_the_ends_lead_one_way_only():
    assert told(1, 25)["prev_page_url"] is None
    assert told(3, 25)["next_page_url"] is None


def test_nothing_at_all_has_one_page():
    assert (told(1, 0)["last_page"], told(1, 0)["next_page_url"]) == (1, None)


def test_from_beyond_the_end_the_way_back_leads_to_the_last_page():
    assert told(9, 25)["prev_page_url"] == f"{PATH}?page=3"


def test_filters_are_kept():
    assert told(1, 25, [("email", "a@b.example")])["next_page_url"] == f"{PATH}?email=a%40b.example&page=2"


def test_a_page_size_has_a_default_and_a_bound():
    assert (PageQuery().page, PageQuery().per_page) == (1, 24)
    assert PageQuery(per_page="1000").per_page == 100
    assert PageQuery(page=3, per_page=20).start == 40


@pytest.mark.parametrize("given", [{"page": "0"}, {"page": "x"}, {"page": "9" * 30}, {"per_page": "-1"}])
def test_what_is_no_page_is_refused(given):
    with pytest.raises(ValidationError):
        PageQuery(**given)

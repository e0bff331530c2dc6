import orjson
import pytest

from storefront.kit.api.pagination import envelope, shown_pages

pytestmark = pytest.mark.any_database

PATH = "https://shop.example.com/api/v1/products"
KEYS = [
    *("current_page", "data", "first_page_url", "from", "last_page", "last_page_url", "links", "next_page_url"),
    *("path", "per_page", "prev_page_url", "to", "total"),
]


def page(number: int, *, total: int = 50, per_page: int = 24, **given) -> dict:
    records = list(map(str, range(total)))[(number - 1) * per_page : number * per_page]
    return orjson.loads(envelope(records, total=total, page=number, per_page=per_page, path=PATH, **given))


def test_a_page_in_the_middle():
    body = page(2)
    assert list(body) == KEYS
    assert body | {"data": [], "links": []} == {
        "current_page": 2,
        "data": [],
        "first_page_url": f"{PATH}?page=1",
        "from": 25,
        "last_page": 3,
        "last_page_url": f"{PATH}?page=3",
        "links": [],
        "next_page_url": f"{PATH}?page=3",
        "path": PATH,
        "per_page": 24,
        "prev_page_url": f"{PATH}?page=1",
        "to": 48,
        "total": 50,
    }
    assert body["links"] == [
        {"url": f"{PATH}?page=1", "label": "&laquo; Previous", "page": 1, "active": False},
        {"url": f"{PATH}?page=1", "label": "1", "page": 1, "active": False},
        {"url": f"{PATH}?page=2", "label": "2", "page": 2, "active": True},
        {"url": f"{PATH}?page=3", "label": "3", "page": 3, "active": False},
        {"url": f"{PATH}?page=3", "label": "Next &raquo;", "page": 3, "active": False},
    ]


def test_first_and_last_page_have_no_page_beyond():
    first, last = page(1), page(3)
    assert first["prev_page_url"] is None
    assert first["links"][0] == {"url": None, "label": "&laquo; Previous", "page": None, "active": False}
    assert last["next_page_url"] is None
    assert last["links"][-1] == {"url": None, "label": "Next &raquo;", "page": None, "active": False}
    assert (last["from"], last["to"]) == (49, 50)


def test_an_empty_list_has_one_empty_page():
    body = page(1, total=0)
    assert (body["last_page"], body["from"], body["to"], body["total"]) == (1, None, None, 0)
    assert [link["label"] for link in body["links"]] == ["&laquo; Previous", "1", "Next &raquo;"]


def test_after_the_last_page_the_previous_page_is_the_last():
    body = page(9)
    assert (body["prev_page_url"], body["next_page_url"]) == (f"{PATH}?page=3", None)
    assert not any(link["active"] for link in body["links"])


def test_page_urls_keep_the_filters_before_the_page():
    body = page(1, given=[("q", "blue mug&co"), ("featured", "")])
    assert body["next_page_url"] == f"{PATH}?q=blue+mug%26co&featured=&page=2"
    assert body["path"] == PATH


def test_up_to_a_thousand_pages_each_has_a_link():
    links = page(500, total=1000, per_page=1)["links"][1:-1]
    assert [link["page"] for link in links] == list(range(1, 1001))
    assert [link["page"] for link in links if link["active"]] == [500]


def test_the_active_link_follows_the_page_from_one_call_to_the_next():
    assert [[link["page"] for link in page(number)["links"] if link["active"]] for number in (1, 3, 2)] == [
        *([1], [3], [2]),
    ]


def test_above_a_thousand_pages_the_middle_collapses():
    assert list(shown_pages(500, 1001)) == [1, 2, None, 497, 498, 499, 500, 501, 502, 503, None, 1000, 1001]
    assert list(shown_pages(1, 1001)) == [1, 2, 3, 4, None, 1000, 1001]
    assert list(shown_pages(6, 1001)) == [*range(1, 10), None, 1000, 1001]
    assert list(shown_pages(1001, 1001)) == [1, 2, None, 998, 999, 1000, 1001]
    assert list(shown_pages(5000, 1001)) == [1, 2, None, 998, 999, 1000, 1001]


def test_a_gap_is_an_entry_without_a_url():
    links = page(500, total=2000, per_page=1)["links"]
    assert links[3] == {"url": None, "label": "...", "page": None, "active": False}

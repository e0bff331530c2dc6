"""Pages never show a picture from its address while it is to be fetched, or after that has failed."""

import pytest
from django.core.files.base import ContentFile

from storefront.catalogue.media.thumbnails import make
from storefront.catalogue.models import Media
from storefront.pictures.models import PictureFetch, PictureRequest
from storefront.website.pictures import line_pictures
from tests.catalogue.factories import make_category, make_media, make_product
from tests.orders.factories import make_order, sale_line
from tests.pictures.hosts import asked_for, drawn, requested, take_up_all

OLD = "https://old.example.com/cup.jpg"
PAGES = ["/", "/products", "/products/cup", "/categories/cups", "/basket"]


@pytest.fixture
def cup(shop, visitor, settings, tmp_path):
    """A featured product in a category and in the visitor's basket, which has the picture's first address."""
    settings.MEDIA_ROOT = tmp_path
    cup = make_product(shop, "Cup", is_featured=True, categories=(make_category(shop, "Cups"),))
    asked_for(shop, OLD, product=cup)
    assert visitor.post("/basket/add", {"product": cup.pk, "qty": 1}).status_code == 302
    return cup


def has_fetched() -> Media:
    media = Media.objects.get()
    take_up_all(media.shop)
    media.file.save("cup.png", ContentFile(drawn(600, 400)))
    PictureFetch.objects.update(state="fetched")
    return media


@pytest.mark.parametrize("state", ["requested", "waiting", "failed"])
def test_shows_the_placeholder_meanwhile_and_where_it_never_comes(cup, shop, page, state):
    if state != "requested":
        take_up_all(shop)
        assert PictureFetch.objects.update(state=state)
    for content in map(page, PAGES):
        assert 'class="placeholder"' in content
        assert f'<img src="{OLD}"' not in content


def test_shows_the_shops_own_file_once_it_is_there(cup, page):
    media = has_fetched()
    for content in map(page, PAGES):
        assert f'<img src="{media.file.url}"' in content
        assert f'<img src="{OLD}"' not in content


def test_without_a_request_the_address_is_shown(cup, page):
    PictureRequest.objects.all().delete()
    assert all(f'<img src="{OLD}"' in content for content in map(page, PAGES))


def test_an_old_order_shows_the_picture_of_then_from_the_shop(cup, shop):
    order = make_order(shop, sale_line(cup, 1))
    order.lines.update(image=OLD)
    media = has_fetched()
    (found,) = line_pictures(shop, [(line.product_id, line.image) for line in order.lines.all()]).values()
    assert found is not None
    assert found.url == media.file.url


@pytest.mark.parametrize("ask", [asked_for, requested])
def test_another_shops_fetch_says_nothing_of_ours(cup, other_shop, shop, page, ask):
    PictureRequest.objects.all().delete()
    theirs = make_product(other_shop, "Cup")
    ask(other_shop, OLD, product=theirs)
    # Our picture lies between two of theirs.
    PictureRequest.objects.update(first_media=1)
    for path in PAGES:
        assert f'<img src="{OLD}"' in page(path)


def test_an_address_that_is_not_fetched_is_shown_as_before(shop, page):
    """Also if it is among those that an import asked for."""
    own = f"{shop.base_url}/elsewhere/mug.jpg"
    asked_for(shop, OLD, "ftp://old.example.com/cup.jpg", product=make_product(shop, "Cup", slug="cup"))
    make_media(make_product(shop, "Mug", slug="mug"), own)
    assert 'src="ftp://old.example.com/cup.jpg"' in page("/products/cup")
    assert f'<img src="{own}"' in page("/products/mug")


@pytest.mark.parametrize("ask", [asked_for, requested])
def test_a_list_of_any_length_takes_one_more_query(
    shop, page, ask, django_assert_num_queries, django_assert_max_num_queries
):
    for number in range(3):
        ask(shop, f"https://old.example.com/{number}.jpg", product=make_product(shop, f"Cup {number}"))
    # What was written since is read first.
    for _ in range(2):
        page("/products")
    with django_assert_max_num_queries(20) as few:
        page("/products")
    count = len(few)
    for number in range(3, 20):
        ask(shop, f"https://old.example.com/{number}.jpg", product=make_product(shop, f"Cup {number}"))
    page("/products")
    with django_assert_num_queries(count):
        assert page("/products").count('class="placeholder"') == 20


def test_browsers_choose_among_the_sizes(cup, page):
    media = has_fetched()
    make(media.file.name)
    content = page("/products/cup")
    srcset = content.split('srcset="')[1].split('"')[0]
    urls = [part.split(" ") for part in srcset.split(", ")]
    assert [width for _, width in urls] == ["480w", "1000w", "1600w"]
    storage = media.file.storage
    for url, _ in urls:
        assert storage.exists(url.removeprefix("/media/"))
        assert url.endswith(".webp")
    assert 'srcset="' in page("/products")

from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant


def test_shows_featured_products_new_ones_and_the_main_categories(shop, page):
    make_product(shop, "Blue cup", is_featured=True, short_description="For tea.")
    make_product(shop, "Red bowl")
    make_category(shop, "Kitchen")
    home = page("/")
    assert "Blue cup" in home
    assert "For tea." in home
    assert "Red bowl" in home
    assert 'href="/categories/kitchen"' in home


def test_a_shop_without_products_says_so(page):
    assert "There are no products yet." in page("/")


def test_shows_nothing_of_another_shop(shop, other_shop, page):
    make_product(other_shop, "Secret cup", is_featured=True)
    make_category(other_shop, "Secret category")
    make_product(shop, "Blue cup")
    assert "Secret" not in page("/")


def test_shows_no_drafts_and_no_inactive_categories(shop, page):
    make_product(shop, "Draft cup", status="draft", is_featured=True)
    make_product(shop, "Hidden cup", exclude_from_catalog=True)
    make_category(shop, "Attic", is_active=False)
    home = page("/")
    assert "Draft cup" not in home
    assert "Hidden cup" not in home
    assert "Attic" not in home


def test_a_host_that_means_no_shop_is_a_404_page(shop, other_shop, client):
    answer = client.get("/", headers={"host": "nobody.example.com"})
    assert answer.status_code == 404
    assert "Not found" in answer.content.decode()
    assert shop.name not in answer.content.decode()


def test_takes_few_queries_however_many_products(shop, visitor, django_assert_max_num_queries):
    kitchen = make_category(shop, "Kitchen")
    for number in range(12):
        product = make_product(shop, f"Cup {number}", is_featured=number < 6, categories=(kitchen,))
        make_media(product)
        make_option(product, required=True)
        make_variant(product)
    with django_assert_max_num_queries(15):
        page = visitor.get("/").content.decode()
    assert all(f"Cup {number}<" in page for number in range(12))

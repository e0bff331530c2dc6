"""A product of a file is imported completely or not at all, whatever is wrong with one of its rows."""

import pytest

from storefront.catalogue.models import Product
from tests.product_files.files import errors, imported

SHOPIFY = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Status\n"
RED = "mug,Mug,Colour,Red,M-R,9.50,https://p.example/1.png,active\n"
BLUE = "mug,,,Blue,M-B,9.90,https://p.example/2.png,\n"
TEE = "tee,Tee,Title,Default Title,T,5,https://p.example/3.png,active\n"
MUG = SHOPIFY + RED + BLUE
WOO = "ID,Type,SKU,Name,Published,Regular price,Parent,Attribute 1 name,Attribute 1 value(s),Images\n"
PARENT = '1,variable,M,Mug,1,,,Colour,"Red, Blue",\n'
W_RED, W_BLUE = "2,variation,M-R,Mug - Red,1,9.50,M,Colour,Red,\n", "3,variation,M-B,Mug - Blue,1,9.90,M,Colour,Blue,\n"
W_TEE = "4,simple,T,Tee,1,5,,,,\n"


def found(shop) -> dict[str, tuple[int, int]]:
    """Active variants and pictures of each product."""
    return {
        each.slug: (each.variants.filter(is_active=True).count(), each.media.count())
        for each in Product.objects.filter(shop=shop, deleted_at=None)
    }


@pytest.mark.parametrize("cut", [1, 2])
def test_a_row_without_its_last_cells_is_whole(shop, other_shop, tmp_path, cut):
    content = SHOPIFY + RED + ",".join(BLUE.strip().split(",")[:-cut]) + "\n" + TEE
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert found(shop) == {"mug": (2, 3 - cut), "tee": (0, 1)}
    imported(shop, MUG, tmp_path, update=True)
    assert imported(shop, content, tmp_path, update=True).failed == 0
    assert found(shop)["mug"][0] == 2
    assert not Product.objects.filter(shop=other_shop).exists()


def test_rows_of_woocommerce_without_their_last_cells_are_whole(shop, tmp_path):
    content = WOO + PARENT + W_RED.replace(",\n", "\n") + W_BLUE + "4,simple,T,Tee,1,5\n"
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert found(shop) == {"mug": (2, 0), "tee": (0, 0)}


def test_a_short_row_can_have_a_text_of_several_lines(shop, tmp_path):
    content = 'SKU,Name,Regular price,Description,Tags\nA,Mug,9.50,"<p>One, two,\nthree, four</p>"\nB,Cup,8\n'
    report = imported(shop, content, tmp_path)
    assert (report.created, report.problems) == (2, [])
    assert Product.objects.get(shop=shop, sku="A").description == "<p>One, two,\nthree, four</p>"


@pytest.mark.parametrize(
    "lines",
    [
        ["A,Mug,9.50,red,", 'B,"Cup,8,blue,', 'C,Jug 3",7,green', "D,Pot,6,black,"],
        ["A,Mug,9.50,red,", 'B,"Cup,8,blue,', "C,Can,7,green,", 'D,Jug 3",7,green', "E,Pot,6,black,"],
    ],
)
def test_a_short_row_never_swallows_others(shop, tmp_path, lines):
    report = imported(shop, "SKU,Name,Regular price,Tags,Description\n" + "\n".join(lines) + "\n", tmp_path)
    assert report.failed >= 1
    for product in Product.objects.filter(shop=shop):
        assert "\n" not in product.name
    assert {"Mug", "Pot"} <= set(Product.objects.filter(shop=shop).values_list("name", flat=True))


def test_the_rest_of_a_text_with_a_misplaced_mark_is_no_product(shop, tmp_path):
    content = SHOPIFY.replace("Title", "Body (HTML),Title", 1) + 'mug,"5" wide\nMade in Ulm, safe, red\n",Mug,,,M,9\n'
    content += "tee,,Tee,Title,Default Title,T,5,,active\n" + "cup,,Cup,Title,Default Title,C,5,,active\n"
    report = imported(shop, content, tmp_path)
    # The rest could belong to the product below as well.
    assert set(found(shop)) == {"cup"}
    assert report.failed >= 2
    assert any("may be part of the product tee" in problem for problem in errors(report))


TOO_LONG = "mug,,,Blue,M-B,9.90,https://p.example/2.png,,,x\n"


@pytest.mark.parametrize("broken", [TOO_LONG, 'mug,,,"Blue,M-B,9.90,,\n', "mug,,,Blue,M-B,dear,,\n"])
@pytest.mark.parametrize("blank", ["", ",,,Green,M-G,9,https://p.example/4.png,\n"])
def test_a_refused_row_refuses_its_product_and_no_other(shop, tmp_path, broken, blank):
    """In Shopify's files, a row without a handle belongs to the row above, also if that is refused."""
    content = SHOPIFY + TEE + RED + broken + blank
    report = imported(shop, content, tmp_path)
    assert (found(shop), report.created, report.failed) == ({"tee": (0, 1)}, 1, 1)
    assert errors(report)[0].startswith("line 4")
    imported(shop, MUG, tmp_path)
    before = found(shop)
    report = imported(shop, content, tmp_path, update=True)
    assert (found(shop), report.updated, report.failed) == (before, 0, 1)


def test_a_row_that_may_be_part_of_two_products_refuses_both(shop, tmp_path):
    """No other product loses anything either: its rows can stand anywhere in the file."""
    header = "Title,URL handle,Option1 name,Option1 value,SKU,Price,Product image URL,Status\n"
    cup = "Cup,cup,Colour,Red,C-R,9,https://p.example/5.png,active\n"
    more = ",cup,,Blue,C-B,9,https://p.example/6.png,\n"
    mug = "Mug,mug,Colour,Red,M-R,9,,active\n"
    tee = "Tee,tee,Title,Default Title,T,5,,active\n"
    imported(shop, header + cup + more + mug + ",mug,,Blue,M-B,9,,\n" + tee, tmp_path)
    before = found(shop)
    report = imported(shop, header + cup + mug + "a,comma,too,,mug,,Blue,M-B,9,,\n" + tee, tmp_path, update=True)
    assert (found(shop), report.failed) == (before, 3)
    assert [error.split(": ")[1][:45] for error in errors(report)[1:]] == [
        "cannot be read and may be part of the product"
    ] * 2


def test_a_product_without_variants_may_lack_unreadable_ones(shop, tmp_path):
    imported(shop, MUG + TEE, tmp_path)
    simple = "mug,Mug,Title,Default Title,M,9,,active\n"
    content = SHOPIFY + simple + TEE + ',"x"y,Blue,\n' + TEE.replace("tee", "cup")
    report = imported(shop, content, tmp_path, update=True)
    assert found(shop)["mug"] == (2, 2)
    assert any("its variants may be among the rows" in problem for problem in errors(report))


@pytest.mark.parametrize(
    "broken",
    [
        '3,"variation, subscription",M-B,Mug - Blue,1,9.90,M,Colour,Blue,\n',
        "3,variation,M-B,Mug - Blue,1,9.90,M,Colour,Blue,,x\n",
        "3,variation,M-B,Mug, blue,1,9.90,M,Colour,Blue,https://p.example/1.png\n",
        "3,variation,M-B,Mug - Blue,1,9.90,id:1,Colour,Blue,,x\n",
        '3,variation,M-B,"Mug - Blue,1,9.90,M,Colour,Blue,\n',
        "3,variation,M-B,Mug - Blue,1,dear,M,Colour,Blue,\n",
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_a_refused_variation_refuses_its_product(shop, other_shop, tmp_path, broken, is_last):
    content = WOO + PARENT + W_RED + (W_TEE + broken if is_last else broken + W_TEE)
    report = imported(shop, content, tmp_path)
    assert set(found(shop)) == {"tee"}
    assert report.failed >= 1
    imported(shop, WOO + PARENT + W_RED + W_BLUE, tmp_path)
    before = found(shop)
    assert imported(shop, content.replace("9.50", "1"), tmp_path, update=True).updated == 0
    assert found(shop) == before
    assert not Product.objects.filter(shop=other_shop).exists()


@pytest.mark.parametrize(
    "broken", [PARENT.replace("variable", "booking"), PARENT.replace(",\n", ",x,y\n"), '1,variable,M,"Mug,1,,,C,x,\n']
)
@pytest.mark.parametrize("reference", ["M", "id:1"])
def test_a_refused_parent_refuses_its_variations(shop, tmp_path, broken, reference):
    variations = (W_RED + W_BLUE).replace(",M,", f",{reference},")
    imported(shop, WOO + PARENT + W_RED + W_BLUE, tmp_path)
    report = imported(shop, WOO + W_TEE + variations.replace("9.50", "1") + broken, tmp_path, update=True)
    assert found(shop) == {"mug": (2, 0), "tee": (0, 0)}
    assert (report.updated, report.created) == (0, 1)


def test_a_broken_product_without_variations_refuses_no_other(shop, tmp_path):
    content = WOO + PARENT + W_RED + W_BLUE + "4,simple,T,Tee,1,5,,,,,x\n5,simple,C,Cup,1,4,,,,\n"
    report = imported(shop, content, tmp_path)
    assert (found(shop), report.failed) == ({"cup": (0, 0), "mug": (2, 0)}, 1)

"""What an import writes is in the log of changes."""

import pytest
from django.db import connection

from storefront.catalogue.models import Product
from storefront.sync.models import Change
from tests.product_files.files import as_lines, imported

pytestmark = pytest.mark.django_db


def mug(**given) -> dict:
    variants = [{"option_values": {"Colour": colour}, "price": "5.00"} for colour in ("Blue", "Red", "Green")]
    return {"name": "Mug", "slug": "mug", "price": "5.00", "variants": variants} | given


def test_a_new_product_is_one_change_on_postgresql_and_later_variants_another(shop, tmp_path):
    assert imported(shop, as_lines(mug(), mug(slug="cup", variants=[])), tmp_path).created == 2
    new = Product.objects.get(slug="mug")
    # SQLite notes each of the variants too.
    noted = {"postgresql": 1, "sqlite": 4}[connection.vendor]
    assert Change.objects.filter(shop=shop, kind="product", object_id=new.pk, variant_id=None).count() == noted
    assert Change.objects.filter(shop=shop, object_id=Product.objects.get(slug="cup").pk).count() == 1
    Change.objects.all().delete()
    more = [*mug()["variants"], {"option_values": {"Colour": "Black"}, "price": "5.00"}]
    assert imported(shop, as_lines(mug(variants=more)), tmp_path, update=True).updated == 1
    assert Change.objects.filter(shop=shop, object_id=new.pk, variant_id=None).exists()

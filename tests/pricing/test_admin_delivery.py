"""The admin's pages for zones, rates with their tables, pick-up places, and the import of prices."""

from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from storefront.catalogue.models import ShippingOrigin
from storefront.pricing.models import DeliveryZone, PickupPlace, ShippingRate
from storefront.shops.audit_models import AuditEntry
from tests.catalogue.factories import make_product, make_variant
from tests.pricing.rows import make_place, make_rate, make_zone
from tests.pricing.test_admin_pricing import errors_of
from tests.races import run_concurrently
from tests.staff import admin_url, make_staff, open_desk

IMPORT = "admin:pricing_shippingrate_import_prices"


@pytest.fixture
def role() -> str:
    return "manager"


def test_a_zone_has_countries_by_name_and_postal_codes_in_any_spelling(desk, shop):
    page = desk.get(admin_url(DeliveryZone, "add")).content.decode()
    assert '<option value="DE">Germany</option>' in page
    given = {"countries": ["DE"], "postcodes": "25 8*, d-18565\n9000 - 9999\n\n18565", "regions": "Bayern, Bavaria"}
    assert desk.fill(DeliveryZone, name="Islands", **given).status_code == 302
    zone = DeliveryZone.objects.get()
    assert zone.postcodes == ["258*", "18565", "9000-9999"]
    assert zone.regions == ["Bayern", "Bavaria"]
    # Saved again as it is shown, it stays.
    assert desk.fill(zone).status_code == 302
    zone.refresh_from_db()
    assert (zone.countries, zone.postcodes) == (["DE"], ["258*", "18565", "9000-9999"])
    listed = desk.get(admin_url(DeliveryZone, "changelist")).content.decode()
    assert "Germany: Bayern, Bavaria, 258*, 18565, 9000-9999" in listed
    assert "None: no delivery" in listed


@pytest.mark.parametrize(
    ("given", "field", "says"),
    [
        ({"postcodes": "10*5"}, "postcodes", "10*5: write a code (18565), its beginning (25*) or a range (9000-9999)."),
        ({"postcodes": "99-10"}, "postcodes", "99-10: the first code of a range must not be above the last one."),
        ({"postcodes": "1*", "countries": ["DE", "AT"]}, "postcodes", "Choose one country for them."),
        ({"regions": "Bayern", "countries": []}, "regions", "Choose one country for them."),
        ({"countries": ["XX"]}, "countries", "XX is not one of the available choices."),
        ({"countries": ["AT", "FR"]}, "countries", "South has France already."),
        ({"name": "SOUTH"}, "name", "Another zone of this shop already has this name."),
    ],
)
def test_a_mistake_in_a_zone_is_named_at_its_field(desk, shop, other_shop, given, field, says):
    make_zone(shop, "South", ["FR", "ES"])
    make_zone(other_shop, "Theirs", ["DE", "AT"])
    answer = desk.fill(DeliveryZone, **{"name": "Home", "countries": ["DE"]} | given)
    assert says in " ".join(errors_of(answer)[field])
    assert DeliveryZone.objects.filter(shop=shop).count() == 1


def test_a_rate_is_saved_with_its_table(desk, shop):
    zone = make_zone(shop, "Home", ["DE"])
    rows = {"steps-0-up_to": "2", "steps-0-price": "4.90", "steps-1-up_to": "", "steps-1-price": "9.90"}
    given = {"name": "Parcel", "zone": zone.pk, "basis": "weight", "delivery_time": "2 to 3 days"}
    assert desk.fill(ShippingRate, **given, steps__TOTAL_FORMS=2, **rows).status_code == 302
    rate = ShippingRate.objects.get()
    assert [(str(step.up_to), str(step.price)) for step in rate.steps.all()] == [("2.000", "4.90"), ("None", "9.90")]
    assert {step.shop for step in rate.steps.all()} == {shop}
    assert "€4.90 to €9.90, by weight" in desk.get(admin_url(ShippingRate, "changelist")).content.decode()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"basis": "weight"}, "Enter at least one price"),
        ({"steps-TOTAL_FORMS": 1, "steps-0-up_to": "2", "steps-0-price": "1"}, "Remove its rows."),
        (
            {"basis": "count", "steps-TOTAL_FORMS": 1, "steps-0-up_to": "2", "steps-0-price": "-1"},
            "greater than or equal to 0",
        ),
        ({"price": "-0.01"}, "greater than or equal to 0"),
        ({"minimum_weight": "5", "maximum_weight": "2"}, "must not be below the minimum weight"),
        ({"zone": ""}, "Choose the countries to which it delivers, or a zone."),
        ({"zone": "", "countries": ["FR", "DE"]}, "Home has Germany already."),
        ({"zone": "", "countries": ["FR", "*"]}, "Choose either all other countries, or countries."),
    ],
)
def test_a_mistake_in_a_rate_is_told_and_nothing_is_saved(desk, shop, given, says):
    zone = make_zone(shop, "Home", ["DE"])
    answer = desk.fill(ShippingRate, **{"name": "Parcel", "zone": zone.pk, "price": "4.90"} | given)
    assert says in answer.content.decode()
    assert not ShippingRate.objects.exists()


def test_a_rate_makes_its_zone_of_the_countries_that_are_chosen(desk, shop, other_shop):
    make_zone(other_shop, "Germany", ["DE"])
    assert desk.get(admin_url(ShippingRate, "add")).context["adminform"].form.initial["countries"] == ["DE"]
    assert desk.fill(ShippingRate, name="Parcel", price="4.90").status_code == 302
    made = DeliveryZone.objects.get(shop=shop)
    assert (made.name, made.countries, made.rates.get().name) == ("Germany", ["DE"], "Parcel")
    logged = AuditEntry.objects.filter(shop=shop).order_by("-id").values_list("action", flat=True)
    assert list(logged[:2]) == ["shipping_rate.created", "delivery_zone.created"]
    # The same countries are the same zone, from now on in every order; a part of one has another name.
    make_zone(shop, "Austria", ["AT"], postcodes=["1*"])
    assert desk.fill(ShippingRate, name="Express", price="9.90", zone="", countries=["DE"]).status_code == 302
    assert desk.fill(ShippingRate, name="Alps", price="9.90", zone="", countries=["AT"]).status_code == 302
    assert desk.fill(ShippingRate, name="World", price="29.90", zone="", countries=["*"]).status_code == 302
    zones = {rate.name: (rate.zone.name, rate.zone.countries) for rate in ShippingRate.objects.filter(shop=shop)}
    germany = ("Germany", ["DE"])
    world = ("All other countries", [])
    assert zones == {"Parcel": germany, "Express": germany, "Alps": ("Austria 2", ["AT"]), "World": world}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_who_choose_the_same_countries_at_once_share_a_zone(shop):
    desks = [open_desk(make_staff(shop, f"anna-{number}")) for number in range(2)]
    saves = [partial(desk.fill, ShippingRate, name=f"Rate {at}", price="1") for at, desk in enumerate(desks)]
    assert [answer.status_code for answer in run_concurrently(*saves)] == [302, 302]
    assert DeliveryZone.objects.get().rates.count() == 2


@pytest.mark.slow
def test_another_shops_zone_cannot_be_chosen(desk, other_shop):
    theirs = make_zone(other_shop, "Theirs", ["DE"])
    assert "zone" in errors_of(desk.fill(ShippingRate, name="Parcel", zone=theirs.pk))


def test_an_origin_that_a_rate_is_for_is_not_deleted_with_its_condition(desk, shop):
    origin = ShippingOrigin.objects.create(shop=shop, name="Kiel")
    rate = make_rate(shop, shipping_origin=origin)
    desk.post(admin_url(origin, "delete"), {"post": "yes"})
    rate.refresh_from_db()
    assert rate.shipping_origin == origin


def test_says_how_many_products_have_no_weight(desk, shop, other_shop):
    make_product(other_shop, "Theirs")
    make_product(shop, "Known", weight="0.400")
    make_product(shop, "Song", type="digital")
    make_product(shop, "Draft", status="draft")
    shirt = make_product(shop, "Shirt")
    make_variant(shirt, "Blue", weight="0.200")
    rate = make_rate(shop)
    listed = admin_url(ShippingRate, "changelist")
    make_product(shop, "Mug")
    assert "no weight" not in desk.get(listed).content.decode()
    rate.maximum_weight = 5
    rate.save()
    assert "1 product to send has no weight" in desk.get(listed).content.decode()
    make_variant(shirt, "Red")
    assert "2 products to send have no weight" in desk.get(listed).content.decode()
    shown = desk.get(reverse("admin:catalogue_product_changelist") + "?weight=none").context_data["cl"].result_list
    assert {product.name for product in shown} == {"Mug", "Shirt"}


def test_prices_are_exported_and_imported(desk, shop, other_shop):
    make_rate(other_shop, "Theirs", "1.00")
    make_rate(shop, zone=make_zone(shop, "Home", ["DE"]))
    answer = desk.get(reverse("admin:pricing_shippingrate_export_prices"))
    assert answer.content.decode() == "zone,method,by,up to,price\r\nHome,Parcel,order,,4.90\r\n"
    file = SimpleUploadedFile("prices.csv", answer.content.replace(b"4.90", b"5.20"))
    answer = desk.post(reverse(IMPORT), {"file": file}, follow=True)
    assert "Prices of 1 rate imported." in answer.content.decode()
    assert str(ShippingRate.objects.get(shop=shop).price) == "5.20"


def test_a_wrong_file_is_shown_with_its_lines(desk, shop):
    make_rate(shop, zone=make_zone(shop, "Home", ["DE"]))
    file = SimpleUploadedFile("prices.csv", b"zone,method,by,up to,price\nHome,Parcel,order,,1.00\n<b>,x,order,,1.00\n")
    answer = desk.post(reverse(IMPORT), {"file": file})
    assert "Line 3: the zone &lt;b&gt; has no rate named x." in answer.content.decode()
    assert str(ShippingRate.objects.get().price) == "4.90"
    assert "This field is required." in desk.post(reverse(IMPORT), {}).content.decode()


@pytest.mark.slow
def test_a_pick_up_place_has_an_address(desk, shop):
    page = desk.get(admin_url(PickupPlace, "add")).content.decode()
    assert '<option value="DE" selected>Germany</option>' in page
    given = {"name": "Harbour", "line1": "Kai 1", "city": "Kiel", "country": "DE"}
    assert desk.fill(PickupPlace, **given).status_code == 302
    assert PickupPlace.objects.get().shop == shop
    assert "name" in errors_of(desk.fill(PickupPlace, **given | {"name": "HARBOUR"}))
    assert {"line1", "city"} <= set(errors_of(desk.fill(PickupPlace, name="Empty")))
    assert "price" in errors_of(desk.fill(make_place(shop), price="-1"))

"""Names of persons: accepts names in any language, refuses email and web addresses, in every place of entry."""

import pytest

from storefront.customers.models import Address, Customer
from tests.addresses import ADDRESS
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper, details
from tests.client import ApiClient
from tests.customers.factories import add_address, make_customer
from tests.factories.apps import install
from tests.staff import make_staff, open_desk
from tests.website.accounts import Member, link_in

WRONG = ["Win at win-prizes.example", "Ada\u202eecalevoL", "ada@example.com"]
RIGHT = "Dr. med. Anna-Maria v. d. Berg"
SAID = ("Email and web addresses are not allowed here.", "Line breaks and control characters are not allowed.")


def says_so(answer) -> bool:
    return answer.status_code == 422 and any(sentence in answer.content.decode() for sentence in SAID)


@pytest.fixture
def at_checkout(shop, shopper) -> Shopper:
    shopper.post("/basket/add", {"product": make_product(shop).pk, "qty": "1"})
    return shopper


@pytest.fixture
def shopper(shop) -> Shopper:
    return Shopper(shop)


@pytest.mark.parametrize("name", WRONG)
def test_at_checkout(at_checkout, name):
    billing = {f"billing-{field}": value for field, value in ADDRESS.items()}
    assert says_so(at_checkout.fill_details(**{"shipping-name": name}))
    given = details(**billing | {"billing-name": name})
    del given["same"]
    assert says_so(at_checkout.post("/checkout", given))
    assert at_checkout.fill_details(**{"shipping-name": RIGHT}).status_code == 303
    # A company may have such a name.
    assert at_checkout.fill_details(**{"shipping-company": "win-prizes.example"}).status_code == 303


@pytest.mark.parametrize("name", WRONG)
def test_in_an_account(shop, shopper, name):
    ada = make_customer(shop, name="Ada")
    add_address(ada)
    shopper.sign_in()
    book = {f"shipping-{field}": value for field, value in ADDRESS.items()}
    assert says_so(shopper.post("/account/details", {"name": name}))
    assert says_so(shopper.post("/account/addresses/new", book | {"shipping-name": name}))
    assert says_so(shopper.post(f"/account/addresses/{Address.objects.get().pk}", book | {"shipping-name": name}))
    assert shopper.post("/account/details", {"name": RIGHT}).status_code == 303
    assert shopper.post("/account/addresses/new", book | {"shipping-name": RIGHT}).status_code == 303
    assert name not in [Customer.objects.get().name, *Address.objects.values_list("name", flat=True)]


@pytest.mark.django_db(transaction=True)
def test_where_an_account_begins(shop, mailbox):
    member = Member(shop, mailbox)
    member.request_link("register")
    link = link_in(member.mails()[-1])
    assert says_so(member.choose_password(link, name=WRONG[0]))
    assert member.choose_password(link, name=RIGHT).status_code == 303


@pytest.mark.parametrize("form", ["/api/apps", "/api/v1"])
@pytest.mark.parametrize("name", WRONG)
def test_from_programs(shop, form, name):
    api = ApiClient(install(shop, "write_customers").token, prefix=form)
    ada = make_customer(shop)
    for body, field in (({"name": name}, "name"), ({"addresses": [ADDRESS | {"name": name}]}, "addresses.0.name")):
        for answer in (
            api.post("/customers", {"email": "new@example.com"} | body),
            api.patch(f"/customers/{ada.pk}", body),
        ):
            assert answer.status_code == 422
            assert list(answer.json()["errors"]) == [field]
    assert (
        api.patch(f"/customers/{ada.pk}", {"name": RIGHT, "addresses": [ADDRESS | {"name": RIGHT}]}).status_code == 200
    )


@pytest.mark.slow
def test_from_staff_except_an_unchanged_existing_name(shop):
    desk = open_desk(make_staff(shop, role="manager"))
    ada = make_customer(shop, name=WRONG[0])
    Address.objects.filter(pk=add_address(ada).pk).update(name=WRONG[0])
    assert desk.fill(ada, phone="1").status_code == 302
    for name in WRONG[1:]:
        for field in ("name", "addresses__0__name"):
            answer = desk.fill(ada, **{field: name})
            assert (
                "A name cannot contain email addresses, web addresses or control characters." in answer.content.decode()
            )
    ada.refresh_from_db()
    assert (ada.name, ada.phone) == (WRONG[0], "1")

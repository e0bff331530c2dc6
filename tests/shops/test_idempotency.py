"""`Idempotency-Key` on a POST (R-CALL-21 to R-CALL-26)."""

import uuid
from datetime import timedelta

import pytest
import time_machine

from storefront.carts.models import Cart, CartLine
from storefront.kit import clock
from storefront.shops import idempotency
from storefront.shops.models import IdempotentAnswer
from tests.answers import error_of
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_token


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", stock_qty=1000)


def add(api: ApiClient, mug, *, key: str | None = "k1", qty: int = 1, **given):
    headers = {} if key is None else {"Idempotency_Key": key}
    return api.post("/cart", {"product_id": mug.id, "qty": qty}, **headers, **given)


def held(key: str = "k1") -> IdempotentAnswer:
    return IdempotentAnswer.objects.get(key=key)


@pytest.mark.rule("R-CALL-21")
def test_the_same_post_is_carried_out_once_and_answered_alike(api, mug):
    first, second = add(api, mug), add(api, mug)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second["Content-Type"] == "application/json"
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert second["ETag"] == first["ETag"]
    assert list(CartLine.objects.values_list("qty", flat=True)) == [1]


def test_without_a_key_each_post_is_carried_out(api, mug):
    token = add(api, mug, key=None).json()["cart_token"]
    add(api, mug, key=None, cart=token)
    assert CartLine.objects.get().qty == 2


def test_with_another_key_the_post_is_carried_out(api, mug):
    add(api, mug)
    add(api, mug, key="k2")
    assert Cart.objects.count() == 2


@pytest.mark.rule("R-CALL-22")
@pytest.mark.parametrize("change", ["body", "cart", "path"])
def test_the_same_key_for_another_request_is_a_mismatch(api, mug, change):
    token = add(api, mug, key=None).json()["cart_token"]
    add(api, mug, cart=token)
    answer = {
        "body": lambda: add(api, mug, cart=token, qty=2),
        "cart": lambda: add(api, mug),
        "path": lambda: api.post("/cart/checkout", cart=token, Idempotency_Key="k1"),
    }[change]()
    assert answer.status_code == 422
    assert error_of(answer) == {
        "message": "This Idempotency-Key was used for a different request.",
        "code": "idempotency_mismatch",
        "errors": {"Idempotency-Key": ["This Idempotency-Key was used for a different request."]},
    }
    assert CartLine.objects.get().qty == 2


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a\x7fb"])
def test_a_key_has_1_to_255_characters(api, mug, key):
    answer = add(api, mug, key=key)
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"Idempotency-Key": ["Idempotency-Key must have 1 to 255 characters."]}
    assert not Cart.objects.exists()


def test_a_key_of_255_characters_is_honoured(api, mug):
    add(api, mug, key="x" * 255)
    assert add(api, mug, key="x" * 255)["Idempotent-Replayed"] == "true"


@pytest.mark.rule("R-CALL-26")
def test_shops_do_not_share_keys(api, other_api, mug, other_shop):
    theirs = make_product(other_shop, "Mug")
    add(api, mug)
    answer = add(other_api, theirs)
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer


@pytest.mark.rule("R-CALL-26")
def test_callers_do_not_share_keys(api, mug, shop):
    add(api, mug)
    answer = add(ApiClient(make_token(shop)), mug)
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer


@pytest.mark.rule("R-CALL-26")
def test_keys_are_ignored_on_reads(api, mug):
    for _ in range(2):
        assert "Idempotent-Replayed" not in api.get("/cart", Idempotency_Key="k1")
    assert not IdempotentAnswer.objects.exists()


@pytest.mark.rule("R-CALL-21")
def test_a_patch_and_a_delete_take_keys_too(api, mug):
    token = add(api, mug, key=None).json()["cart_token"]
    line = f"/cart/p{mug.id}"
    calls = [
        lambda: api.patch(line, {"qty": 2}, cart=token, Idempotency_Key="k1"),
        lambda: api.delete(line, cart=token, Idempotency_Key="k2"),
    ]
    for call in calls:
        first, again = call(), call()
        assert (first.status_code, first.content) == (again.status_code, again.content) == (200, again.content)
        assert ("Idempotent-Replayed" in first, again["Idempotent-Replayed"]) == (False, "true")
        # Without the replay, it would be carried out again, and find no line.
        api.patch(line, {"qty": 5}, cart=token)
    assert calls[0]().json()["data"]["items"][0]["qty"] == 2


@pytest.mark.rule("R-CALL-22")
def test_the_same_key_with_another_query_is_a_mismatch(api, mug):
    body = {"product_id": mug.id, "qty": 1}
    api.post("/cart?dry_run=1", body, Idempotency_Key="k1")
    assert api.post("/cart", body, Idempotency_Key="k1").json()["code"] == "idempotency_mismatch"


@pytest.mark.rule("R-CALL-24")
def test_a_refused_request_can_be_corrected_under_its_key(api, mug):
    refused = add(api, mug, qty=1001)
    assert (refused.status_code, IdempotentAnswer.objects.exists()) == (422, False)
    corrected = add(api, mug, qty=1000)
    assert (corrected.status_code, "Idempotent-Replayed" in corrected) == (201, False)
    assert add(api, mug, qty=1000)["Idempotent-Replayed"] == "true"


@pytest.mark.rule("R-CALL-24")
def test_a_refused_request_is_tried_again_as_it_is(api, mug):
    assert add(api, mug, qty=1001).status_code == 422
    mug.__class__.objects.update(stock_qty=5000)
    assert add(api, mug, qty=1001).status_code == 201


def test_a_call_without_the_scope_does_not_claim_the_key(shop, mug):
    assert add(ApiClient(make_token(shop, "read_cart")), mug).status_code == 403
    assert not IdempotentAnswer.objects.exists()


@pytest.mark.rule("R-CALL-21")
def test_a_response_is_replayed_for_24_hours(api, mug):
    with time_machine.travel(NOW, tick=False) as now:
        first = add(api, mug).content
        now.shift(timedelta(hours=24, seconds=-1))
        assert add(api, mug).content == first
        now.shift(timedelta(seconds=1))
        assert "Idempotent-Replayed" not in add(api, mug)
        assert held().expires_at == NOW + timedelta(hours=48)


def test_only_expired_responses_are_deleted(api, mug):
    for number in range(3):
        add(api, mug, key=f"old{number}")
    IdempotentAnswer.objects.update(expires_at=clock.now())
    add(api, mug, key="new")
    assert idempotency.delete_expired_answers(now=clock.now(), limit=2) == 2
    assert idempotency.delete_expired_answers(now=clock.now(), limit=2) == 1
    assert held("new").status == 201


def test_responses_are_encrypted_at_rest(api, mug):
    token = add(api, mug).json()["cart_token"]
    assert token.encode() not in bytes(held().body)


def test_a_response_can_be_replayed_after_a_key_rotation(api, mug, settings):
    first = add(api, mug)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, [settings.SECRET_KEY]
    assert add(api, mug).content == first.content


@pytest.mark.rule("R-CALL-24")
def test_a_call_whose_response_is_unreadable_is_not_carried_out_again(api, mug, settings):
    add(api, mug)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "n" * 50, []
    answer = add(api, mug)
    assert answer.status_code == 409
    assert answer.json()["code"] == "idempotency_unreadable"
    assert Cart.objects.count() == 1


def in_flight(*, seconds: int) -> None:
    """Leaves the claim as a process does that was killed so long ago, before anything was committed."""
    Cart.objects.all().delete()
    IdempotentAnswer.objects.update(
        status=None, body=None, claim=uuid.uuid4(), claimed_at=clock.now() - timedelta(seconds=seconds)
    )


@pytest.mark.rule("R-CALL-23")
def test_a_key_in_flight_is_a_409(api, mug):
    add(api, mug)
    in_flight(seconds=2)
    answer = add(api, mug)
    assert answer.status_code == 409
    assert (answer.json()["code"], answer["Retry-After"]) == ("idempotency_in_flight", "2")
    assert not Cart.objects.exists()


@pytest.mark.rule("R-CALL-23")
def test_the_next_request_takes_over_from_a_killed_one(api, mug):
    add(api, mug)
    in_flight(seconds=5)
    answer = add(api, mug)
    assert answer.status_code == 201
    assert "Idempotent-Replayed" not in answer
    assert Cart.objects.count() == 1
    assert add(api, mug).content == answer.content


def test_a_different_request_does_not_take_over_from_a_killed_one(api, mug):
    add(api, mug)
    in_flight(seconds=5)
    assert add(api, mug, qty=2).json()["code"] == "idempotency_mismatch"


@pytest.mark.django_db(transaction=True)
def test_an_attempt_that_lost_its_claim_is_rolled_back(api, mug, monkeypatch):
    """A slow one, overtaken while it ran: its work must not be there beside that of the one that overtook it."""
    seal = idempotency.sealing.seal

    def overtaken(*given, **named):
        IdempotentAnswer.objects.update(claim=uuid.uuid4())
        return seal(*given, **named)

    monkeypatch.setattr(idempotency.sealing, "seal", overtaken)
    answer = add(api, mug)
    assert answer.status_code == 409
    assert not Cart.objects.exists()


@pytest.mark.rule("R-CALL-24")
@pytest.mark.django_db(transaction=True)
def test_an_internal_error_leaves_the_key_free(api, mug, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(idempotency.sealing, "seal", lambda *_, **__: 1 / 0)
        assert add(api, mug).status_code == 500
    assert not Cart.objects.exists()
    assert not IdempotentAnswer.objects.exists()
    assert add(api, mug).status_code == 201


@pytest.mark.rule("R-CALL-23")
@pytest.mark.django_db(transaction=True)
def test_of_many_concurrent_requests_one_is_carried_out(api, mug):
    answers = run_concurrently(*[lambda: add(ApiClient(api.token), mug)] * 8)
    assert CartLine.objects.get().qty == 1
    made = [answer for answer in answers if answer.status_code == 201]
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.content for answer in made}) == 1
    assert sum("Idempotent-Replayed" not in answer for answer in made) == 1
    assert add(api, mug).content == made[0].content

"""Handover codes are valid once, for a minute, for the session that they were issued for."""

from datetime import timedelta

import pytest

from storefront.kit import tokens
from storefront.shops.handover import Purpose, delete_expired_codes, issue_code, redeem_code, state_digest
from storefront.shops.models import HandoverCode
from tests.races import run_concurrently
from tests.shops.factories import NOW

PAYLOAD = {"basket": "a"}
STATE = "the state of this browser"


def issue(shop, purpose=Purpose.TO_SECURE, state=STATE):
    return issue_code(shop=shop, purpose=purpose, payload=PAYLOAD, state=state, now=NOW)


def take(shop, code, purpose=Purpose.TO_SECURE, states=(STATE,), now=NOW):
    digests = [state and state_digest(state) for state in states]
    return redeem_code(shop=shop, purpose=purpose, code=code, states=digests, now=now)


def test_a_code_works_once(shop):
    code = issue(shop)
    taken = take(shop, code, states=("another", STATE), now=NOW + timedelta(seconds=59))
    assert (taken.payload, taken.state_digest) == (PAYLOAD, state_digest(STATE))
    assert take(shop, code) is None


def test_a_code_expires_after_a_minute(shop):
    assert take(shop, issue(shop), now=NOW + timedelta(seconds=60)) is None


def test_only_its_digest_is_stored(shop):
    code = issue(shop)
    row = HandoverCode.objects.get()
    assert row.digest == tokens.digest(code)
    assert code not in str(vars(row))
    assert STATE not in str(vars(row))


@pytest.mark.parametrize("states", [(), ("another",), ("",)])
def test_a_code_is_invalid_without_its_state(shop, states):
    code = issue(shop)
    assert take(shop, code, states=states) is None
    assert take(shop, code) is not None, "who knows the state is not harmed"


def test_a_code_without_a_state_is_invalid_for_a_session_with_one(shop):
    code = issue(shop, Purpose.LINK, state="")
    assert take(shop, code, Purpose.LINK, states=(STATE,)) is None
    assert take(shop, code, Purpose.LINK, states=("",)) is not None


def test_a_code_is_valid_for_one_purpose_in_one_shop(shop, other_shop):
    code = issue(shop)
    for purpose in (Purpose.TO_SHOP, Purpose.LINK):
        assert take(shop, code, purpose) is None
    assert take(other_shop, code) is None
    assert take(shop, code) is not None


@pytest.mark.parametrize("code", [None, "", "x", "code_short", "app_" + "x" * 43, "code_" + "x" * 43])
def test_refuses_malformed_codes(shop, code):
    issue(shop)
    assert take(shop, code) is None


def test_deletes_expired_codes_and_keeps_valid_ones(shop, other_shop):
    issue(shop)
    issue(other_shop)
    late = issue_code(shop=shop, purpose=Purpose.LINK, payload=PAYLOAD, state="", now=NOW + timedelta(seconds=1))
    assert delete_expired_codes(now=NOW + timedelta(seconds=60), limit=1) == 1
    assert delete_expired_codes(now=NOW + timedelta(seconds=60), limit=500) == 1
    assert HandoverCode.objects.get().digest == tokens.digest(late)


@pytest.mark.django_db(transaction=True)
def test_of_many_concurrent_requests_one_redeems_the_code(shop):
    for _ in range(5):
        code = issue(shop)
        taken = run_concurrently(*[lambda code=code: take(shop, code)] * 4)
        assert [bool(each) for each in taken].count(True) == 1, taken
        assert all(each is None or isinstance(each, HandoverCode) for each in taken)

"""Signed URLs are valid only exactly as signed."""

import hashlib
import hmac

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from storefront.kit.signing import is_signed_url, sign_url

pytestmark = pytest.mark.any_database

URL = "https://shop.example.com/cart/resume?cart=1&expires=2"
OLD, NEW = "o" * 50, "n" * 50


def test_recognises_a_signed_url():
    assert is_signed_url(sign_url(URL))


def test_the_signature_is_the_last_parameter_in_lower_case_hex():
    signed = sign_url(URL)
    assert signed.startswith(f"{URL}&signature=")
    assert len(signed.rpartition("=")[2]) == 64
    assert signed.rpartition("=")[2] == signed.rpartition("=")[2].lower()


@given(place=st.integers(0, 10_000), other=st.characters(codec="utf-8"))
def test_refuses_a_url_with_any_changed_character(place, other):
    signed = sign_url(URL)
    place %= len(signed)
    altered = signed[:place] + other + signed[place + 1 :]
    assert is_signed_url(altered) is (altered == signed)


@given(st.text())
def test_malformed_text_is_not_a_signed_url(text):
    assert not is_signed_url(text)
    assert not is_signed_url(f"{URL}&signature={text}")


def test_a_replaced_key_is_valid_until_it_is_dropped():
    with override_settings(SECRET_KEY=OLD, SECRET_KEY_FALLBACKS=[]):
        signed = sign_url(URL)
    with override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[OLD]):
        assert is_signed_url(signed)
        assert sign_url(URL) != signed
    with override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[]):
        assert not is_signed_url(signed)


def test_the_secret_key_itself_signs_nothing_so_that_no_other_use_of_it_makes_a_link():
    with override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[]):
        plain = hmac.new(NEW.encode(), URL.encode(), hashlib.sha256).hexdigest()
        assert not is_signed_url(f"{URL}&signature={plain}")

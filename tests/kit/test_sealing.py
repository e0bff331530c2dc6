"""Sealed values are readable with a configured key and the same purpose."""

import pytest

from storefront.kit import sealing


def test_unseals_what_was_sealed():
    sealed = sealing.seal(b"whsec_1", purpose="one")
    assert b"whsec_1" not in sealed
    assert sealing.unseal(sealed, purpose="one") == b"whsec_1"
    assert sealing.is_readable(sealed, purpose="one")
    assert sealing.is_current(sealed, purpose="one")


def test_refuses_what_was_sealed_for_another_purpose():
    sealed = sealing.seal(b"whsec_1", purpose="one")
    assert not sealing.is_readable(sealed, purpose="other")
    assert not sealing.is_current(sealed, purpose="other")
    with pytest.raises(sealing.Unsealable):
        sealing.unseal(sealed, purpose="other")
    with pytest.raises(sealing.Unsealable):
        sealing.reseal(sealed, purpose="other")


def test_a_replaced_key_reads_but_is_not_current(settings):
    sealed = sealing.seal(b"whsec_1", purpose="one")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "n" * 50
    assert sealing.is_readable(sealed, purpose="one")
    assert not sealing.is_current(sealed, purpose="one")
    assert sealing.is_current(sealing.reseal(sealed, purpose="one"), purpose="one")

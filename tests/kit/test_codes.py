import pytest

from storefront.kit.codes import typed_code


@pytest.mark.parametrize(
    "text",
    [
        "spring10",
        " SPRING10\n",
        "\u00a0SPRING10\u00a0",
        "SPRING\u00a010",
        "SPRING\u200b10",
        "\ufeffSPRING10",
        "SPRING\u00ad10",
        "\u200eSPRING10\u2060",
        "SPRING\t10",
        "SPRING\u202f10",
    ],
)
def test_what_is_copied_along_makes_no_difference(text):
    assert typed_code(text) == "SPRING10"


def test_an_ordinary_space_separates_words():
    assert typed_code("two words") == "TWO WORDS"

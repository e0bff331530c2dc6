"""bin/words.py finds words in comments, docstrings, names and texts that only their author understands."""

import pytest

from bin import words


@pytest.fixture
def check(tmp_path):
    """Writes one file, and returns the problems of its project."""

    def check(text: str, path: str = "storefront/carts.py") -> list[str]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return list(words.problems(tmp_path))

    return check


def test_plain_code_has_no_problems(check):
    assert (
        check('"""Carts."""\n\nMAX_LINES = 20  # Lines of a cart.\n\n\ndef existing(shop):\n    told_apart = shop\n')
        == []
    )


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("# The shop is told of it.\n", "told"),
        ('def send():\n    """Returns the mail, and\n    whether it was sent."""\n', "whether it"),
        ('class Cart:\n    """What a\n    program says."""\n', "says"),
        ('"""Whether it was paid."""\n', "Whether it"),
        ("# Of the newest.\nFIRST = 1\n", "Of"),
        ("FIRST = 1  # It is paid.\n", "It"),
        ("# Orders that are counted\n# anew.\n", "anew"),
        ("MOST_LINES = 20\n", "MOST_LINES"),
        ("class Cart:\n    LONGEST: int = 20\n", "LONGEST"),
        ("def read(said):\n    pass\n", "said"),
        ("def give_back_uses():\n    pass\n", "def give_back_uses"),
        ("async def standing():\n    pass\n", "def standing"),
        ('TITLE = "Stock put right"\n', "Stock put right"),
    ],
)
def test_names_the_word_and_its_place(check, code, word):
    found = check(code)
    assert any(f': "{word}": write ' in problem for problem in found), found


def test_two_comments_are_not_one(check):
    assert check("# Lines of a cart, and\nA = 1\n# of orders.\n") == []
    assert check("# Lines of a cart.\n\n# Of orders.\n") == [
        'storefront/carts.py:3: "Of": write the thing itself: Bytes of ..., Orders of ...',
    ]


def test_strings_and_landed_migrations_may_have_any_word(check):
    assert check('TEXT = "Whether it is told."\n') == []
    assert check("MOST = 1\n", "storefront/carts/migrations/0001_initial.py") == []


@pytest.mark.parametrize("path", ["storefront/checkout/templates/page.html", "docs/orders.md"])
def test_titles_are_found_in_pages_and_docs(check, path):
    assert check("<h1>From the same shelf</h1>\n", path) == [
        f'{path}:1: "From the same shelf": write You may also like'
    ]

"""What a person's name may hold."""

import pytest

from storefront.kit.names import has_address, has_invisible_characters

PEOPLE = [
    "",
    "Ada Lovelace",
    "Anna-Maria v. d. Berg",
    "J. R. R. Tolkien",
    "J.R.R. Tolkien",
    "J.R.R.Tolkien",
    "St. John",
    "St.John Rivers",
    "Dr. med. K. Öz",
    "Dr.med. K. Öz",
    "Prof.Dr. rer.nat. A. Müller",
    "Dipl.-Ing. Müller",
    "Jane Doe, Ph.D., M.Sc.",
    "O'Neill",
    "Sammy Davis, Jr.",
    "D'Arcy · Núñez",
    "王小明",
    "محمد بن سلمان",
    "می\u200cخواهم",
    "Müller (c/o Schmidt)",
    "Żółć Ævar Ó.",
    "Nguyễn Văn A.",
    "M.Müller",
    "A. 3rd",
]
LINKS = [
    "http://evil.example",
    "HTTPS://x",
    "https:evil",
    "www.evil",
    "see www.evil.example",
    "ada@example.com",
    "@ada",
    "ada＠example",
    "win-prizes.example",
    "Win at win-prizes.example!",
    "bit.ly/x",
    "Bit.Ly/x",
    "t.co/x",
    "T.co",
    "x.com",
    "X.Com",
    "evil.de",
    "(evil.com)",
    "Dear,evil.com",
    "müller.de",
    "evil。com",
    "evil．com",
    "evil․com",
    "a.b.evil.com",
    "st.com",
    "Dr.evil",
    "1.2.3.4",
    "mailto:x",
    "tel:0900",
]


@pytest.mark.parametrize("name", PEOPLE)
def test_accepts_real_names(name):
    assert not has_address(name)
    assert not has_invisible_characters(name)


@pytest.mark.parametrize("name", LINKS)
def test_detects_what_mail_programs_turn_into_a_link(name):
    assert has_address(name)


@pytest.mark.parametrize(
    "character", ["\n", "\r", "\0", "\x7f", "\x85", "\u2028", "\u202e", "\u2066", "\u200f", "\ufeff", "\u00ad"]
)
def test_detects_invisible_and_direction_changing_characters(character):
    assert has_invisible_characters(f"Ada{character}Lovelace")

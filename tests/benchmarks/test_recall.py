"""The program that measures what searches find of words that are typed in another way."""

import os
import subprocess
import sys
from random import Random

import pytest

from benchmarks import recall

ROWS = ["1,Câmara T-shirt,5", "2,Men's wallets,5", "3,Lantern,5", "4,Draft boxes,5"]


@pytest.mark.parametrize(
    ("make", "word", "typed"),
    [
        (recall.unaccented, "câmara", "camara"),
        (recall.accented, "lantern", "láñtèrñ"),
        (recall.plural, "lantern", "lanterns"),
        (recall.plural, "boxes", "box"),
        (recall.plural, "berry", "berries"),
        (recall.plural, "berries", "berry"),
        (recall.plural, "brush", "brushes"),
        (recall.hyphen_dropped, "t-shirt", "tshirt"),
        (recall.hyphen_as_space, "t-shirt", "t shirt"),
        (recall.apostrophe_changed, "men's", "men’s"),
        (recall.apostrophe_dropped, "men's", "mens"),
        (recall.apostrophe_added, "boxes", "boxe’s"),
        # Kinds that do not concern a word leave it.
        (recall.plural, "t-shirt", "t-shirt"),
        (recall.letter_wrong, "mug", "mug"),
    ],
)
def test_types_a_word_in_another_way(make, word, typed):
    assert make(word, Random(1)) == typed


@pytest.mark.slow
def test_prints_the_recall_of_each_kind(tmp_path):
    (tmp_path / "one.csv").write_text("ID,Name,Regular price\n" + "\n".join(ROWS), encoding="utf-8")
    (tmp_path / "two.csv").write_text("unknown,columns\n1,2\n")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.recall", str(tmp_path)], capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    assert "two.csv\n" in done.stdout
    assert "left out" in done.stdout
    for kind, words in (("unaccented", 1), ("hyphen as space", 1), ("apostrophe dropped", 1)):
        assert f"{kind:20}  100.0% of {words} words" in done.stdout

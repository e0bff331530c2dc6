"""The file that lists the pods: what is wrong with it is named, and a password never."""

import pytest

from storefront.kit.refusals import InvalidFields
from storefront.pods.deployment import HOST, Pod, read_pods

POD = """
[[pod]]
number = {number}
upstream = ["10.0.0.1:8000"]
database = "postgres://storefront:secret@10.0.0.9/pod"
"""


def written(tmp_path, text: str):
    path = tmp_path / "pods.toml"
    path.write_text(text)
    return path


def test_reads_the_pods_by_number(tmp_path):
    path = written(tmp_path, POD.format(number=5) + 'admin_host = "admin5.example.com"\n' + POD.format(number=0))
    url = "postgres://storefront:secret@10.0.0.9/pod"
    assert read_pods(path) == [
        Pod(0, ("10.0.0.1:8000",), url),
        Pod(5, ("10.0.0.1:8000",), url, "admin5.example.com"),
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no [[pod]]"),
        ("pod = 1", "no [[pod]]"),
        ("[[pod", "cannot be read"),
        (POD.format(number=1), "Pod 0 is missing"),
        (POD.format(number=0) * 2, "one number"),
        (POD.format(number=8191), "8191"),
        (POD.format(number=-1), "-1"),
        (POD.format(number="true"), "True"),
        (POD.format(number='"0"'), "'0'"),
        (POD.format(number=0).replace("10.0.0.1:8000", "10.0.0.1"), "upstream of pod 0"),
        (POD.format(number=0).replace("10.0.0.1:8000", "a:1; return 200"), "upstream of pod 0"),
        (POD.format(number=0).replace("postgres:", "sqlite:"), "database of pod 0"),
        (POD.format(number=0).replace("secret@", "secret%zz@"), "database of pod 0"),
        (POD.format(number=0).replace("secret@", "the secret@"), "database of pod 0"),
        (POD.format(number=0).replace("secret@", "p@secret@"), "database of pod 0"),
        (POD.format(number=0).replace("secret@", "secret/1@"), "database of pod 0"),
        (POD.format(number=0) + "admin = 1", "unknown members: admin"),
        (POD.format(number=0) + 'admin_host = "a b"', "admin_host of pod 0"),
    ],
)
def test_names_what_is_wrong(tmp_path, text, named):
    with pytest.raises(InvalidFields) as caught:
        read_pods(written(tmp_path, text))
    assert list(caught.value.errors) == ["pods"]
    assert named in str(caught.value.errors)
    assert "secret" not in str(caught.value.errors)


@pytest.mark.parametrize("word", ["default", "hostnames", "include", "volatile"])
def test_a_shop_cannot_break_the_map_by_its_domain(word):
    """These words are no values in a map of nginx, not even in quotes."""
    assert HOST.fullmatch(f"{word}.example.com")
    assert not HOST.fullmatch(word)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidFields):
        read_pods(tmp_path / "none.toml")

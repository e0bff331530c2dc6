import pytest

from storefront.kit.files.uploads import MAX_NAME_LENGTH, cleaned_name


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Book.pdf", "Book.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ada\\Bücher 1.epub", "Bücher 1.epub"),
        ("..", "file"),
        ("", "file"),
        (".htaccess", "htaccess"),
        ('a"b\r\nSet-Cookie: x.zip', "abSet-Cookie x.zip"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\0b.pdf", "ab.pdf"),
        ("x" * 500 + ".pdf", "x" * (MAX_NAME_LENGTH - 4) + ".pdf"),
    ],
)
def test_a_name_keeps_what_every_system_can_store(given, name):
    assert cleaned_name(given) == name

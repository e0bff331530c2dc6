"""Detects the encoding of a CSV or JSON Lines file, and refuses files that are not text."""

import codecs
import io
import re
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import chardet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.refusals import Refusal

# Encodings that an upload can state, in Python's names.
COMMON_ENCODINGS = (
    *("utf-8", "utf-16", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("iso8859-1", "iso8859-2", "iso8859-5", "iso8859-15", "koi8-r", "cp866", "mac-roman"),
    *("cp932", "gb18030", "big5", "cp949"),
)
CHUNK_BYTES = 1 << 20
# Size of the sample of lines with other than ASCII characters from which an encoding is guessed.
SAMPLE_BYTES = 1 << 16
_LONE_BYTE = re.compile("[\udc80-\udcff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LIKELY = chardet.EncodingEra.MODERN_WEB | chardet.EncodingEra.LEGACY_ISO
_SUPERSETS = {
    "iso8859-2": "cp1250",
    "iso8859-5": "cp1251",
    "iso8859-6": "cp1256",
    "iso8859-7": "cp1253",
    "iso8859-8": "cp1255",
    "iso8859-9": "cp1254",
    "iso8859-13": "cp1257",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


class UnreadableFile(Refusal):
    """The file as a whole cannot be imported; the message names what was expected."""

    status, code = 422, "unreadable_file"
    message = _lazy("The file cannot be read.")


def checked_encoding(name: str) -> str:
    """Python's name of an encoding that somebody stated. Raises UnreadableFile if there is no such encoding."""
    try:
        # Fails for codecs such as base64, which are no encodings of text.
        "".encode(name)
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        raise UnreadableFile(
            _("Unknown encoding %(value)s; expected such as utf-8 or windows-1251.") % {"value": name[:40]}
        ) from None


def usual_name(encoding: str) -> str:
    """The encoding's name as other programs write it, such as windows-1251 for Python's cp1251."""
    return encoding.replace("cp125", "windows-125").replace("_", "-")


def encoding_of(path: Path) -> tuple[str, bool]:
    """The file's encoding, and True if it was guessed from the bytes of its texts. Raises UnreadableFile."""
    with path.open("rb") as file:
        start = file.read(4096)
        if not start.strip():
            raise UnreadableFile(_("The file is empty; expected a header row followed by products."))
        _refuse_workbooks(path, start)
        if start.startswith(codecs.BOM_UTF8):
            return "utf-8-sig", False
        if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
            return "utf-32", False
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", False
        if b"\0" in start and (wide := _wide_encoding(start)):
            return wide, False
        file.seek(0)
        return _narrow_encoding(file)


def _refuse_workbooks(path: Path, start: bytes) -> None:
    if start.startswith(_OLE):
        raise UnreadableFile(
            _("This is an old or protected Excel workbook. Save it as .xlsx without a password, or as CSV UTF-8.")
        )
    if not start.startswith(b"PK\x03\x04"):
        return
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
    except (BadZipFile, NotImplementedError, OSError):
        names = []
    if any(name.startswith("xl/") for name in names):
        raise UnreadableFile(
            _("This is an Excel workbook of another kind than .xlsx. Save it as CSV UTF-8 and upload that.")
        )
    if "content.xml" in names:
        raise UnreadableFile(_("This is an OpenDocument spreadsheet. Save it as CSV UTF-8 and upload that."))
    raise UnreadableFile(_("This is a ZIP archive. Unpack it and upload the product file in it."))


def _wide_encoding(start: bytes) -> str | None:
    """UTF-16 without a BOM: its separators and line ends have zero bytes at either even or odd positions only."""
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > 10 * min(even, odd) and max(even, odd) > len(start) // 8:
        return "utf-16-le" if odd > even else "utf-16-be"
    if even + odd > len(start) // 100 + 1:
        raise UnreadableFile(_("The file is not text; expected a CSV file in UTF-8."))
    return None


def _narrow_encoding(file: io.BufferedReader) -> tuple[str, bool]:
    """UTF-8 if most of its multi-byte characters are valid; otherwise the encoding that fits the texts best."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    broken = sound = 0
    sample: list[bytes] = []
    while chunk := file.read(CHUNK_BYTES):
        if chunk.isascii():
            continue
        text = decoder.decode(chunk)
        invalid = len(_LONE_BYTE.findall(text))
        broken += invalid
        sound += len(_NOT_ASCII.findall(text)) - invalid
        if sum(map(len, sample)) < SAMPLE_BYTES:
            sample += [line for line in chunk.splitlines(keepends=True) if not line.isascii()]
    if broken <= sound:
        return "utf-8", False
    return _detected(b"".join(sample)[:SAMPLE_BYTES]), True


def _detected(sample: bytes) -> str:
    found = chardet.detect(sample, encoding_era=_LIKELY, compat_names=False)["encoding"]
    encoding = codecs.lookup(found or "cp1252").name
    # Among encodings that read the sample alike, takes the more usual one, which has more characters.
    for usual in ("cp1252", _SUPERSETS.get(encoding, encoding)):
        if sample.decode(usual, "replace") == sample.decode(encoding, "replace"):
            return usual
    return encoding

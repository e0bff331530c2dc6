"""Pictures from strangers: a size limit, checked in the file's header, and thumbnails.

A file of half a megabyte can have 144 million pixels, which take 600 MB and seconds to decode. So nothing is decoded
before its dimensions are known, and of an animation only one frame is decoded.
"""

from io import BytesIO
from typing import IO

from PIL import Image, ImageOps, UnidentifiedImageError

# Bytes of a picture's file.
MAX_FILE_BYTES = 20 * 1024**2
# Pixels of a picture. Decoded, each takes four bytes, and as much again for each copy while resizing.
MAX_PIXELS = 40_000_000
# Bytes of memory that resizing a picture may take. The WebP decoder needs four copies of the picture.
MAX_MEMORY_BYTES = 400 * 1024**2
_WEBP_BYTES_A_PIXEL = 16
# Formats that browsers show. Other formats are not opened, since Pillow starts external programs for some.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# Bytes of the largest colour profile that a thumbnail keeps.
MAX_PROFILE_BYTES = 16 * 1024
QUALITY = 85
_AT_MOST = f"at most {MAX_PIXELS // 1_000_000} million are allowed"


class Unusable(Exception):
    """The picture cannot be shown. The message is a phrase to put after its name."""


def open_picture(file: IO[bytes]) -> Image.Image:
    """Open a picture and check its format and dimensions, without decoding it. Raises Unusable."""
    try:
        image = Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError:
        raise Unusable(f"has too many pixels; {_AT_MOST}") from None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
        raise Unusable("is not a PNG, JPEG, WebP or GIF picture, or is damaged") from None
    size = image.width * image.height
    if size > MAX_PIXELS:
        raise Unusable(f"has {image.width} x {image.height} pixels; {_AT_MOST}")
    if image.format == "WEBP" and size > MAX_MEMORY_BYTES // _WEBP_BYTES_A_PIXEL:
        fits = MAX_MEMORY_BYTES // _WEBP_BYTES_A_PIXEL // 1_000_000
        raise Unusable(f"has {image.width} x {image.height} pixels; a WebP picture can have at most {fits} million")
    return image


def small_versions(file: IO[bytes], sides: list[int]) -> dict[int, bytes]:
    """Thumbnails as WebP by size: for each of `sides`, one whose longer side has at most so many pixels. The camera's
    orientation is applied.

    Takes up to MAX_MEMORY_BYTES bytes of memory. Raises Unusable.
    """
    image = open_picture(file)
    try:
        # Decodes a JPEG at a fraction of its size.
        image.draft("RGB", (max(sides), max(sides)))
        profile = image.info.get("icc_profile", b"")
        image.load()
        image = _upright_rgb(image)
        found: dict[int, bytes] = {}
        encoded, size = b"", (0, 0)
        for side in sorted(sides, reverse=True):
            # Each thumbnail is made from the next larger one. A picture smaller than a size is not enlarged.
            image.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=3.0)
            if image.size != size:
                encoded, size = _webp(image, profile), image.size
            found[side] = encoded
        return found
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        raise Unusable("is damaged or incomplete") from None


def _upright_rgb(image: Image.Image) -> Image.Image:
    if image.mode not in ("RGB", "RGBA"):
        has_alpha = "A" in image.getbands() or "transparency" in image.info
        image = image.convert("RGBA" if has_alpha else "RGB")
    ImageOps.exif_transpose(image, in_place=True)
    return image


def _webp(image: Image.Image, profile: bytes) -> bytes:
    file = BytesIO()
    kept = profile if len(profile) <= MAX_PROFILE_BYTES else b""
    image.save(file, "WEBP", quality=QUALITY, icc_profile=kept, exif=b"")
    return file.getvalue()

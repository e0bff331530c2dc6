"""A picture as a merchant uploads it."""

from io import BytesIO

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image


def picture(name: str = "mug.png") -> SimpleUploadedFile:
    content = BytesIO()
    Image.new("RGB", (3, 2)).save(content, "PNG")
    return SimpleUploadedFile(name, content.getvalue())

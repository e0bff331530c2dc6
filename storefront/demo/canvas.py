"""A canvas for still lifes: a wall, a table, and solids lit from the left.

Coordinates are percentages of the picture's side. Drawing is deterministic: the same calls give the same bytes.
"""

from collections.abc import Iterable, Sequence
from io import BytesIO

from PIL import Image, ImageColor, ImageDraw, ImageFilter

SIDE = 900  # pixels of the finished picture's side
FINE = 2  # drawn larger by this factor, then scaled down, which smooths edges
TABLE = 70  # where the wall meets the table
FLOOR = 82  # where things stand

Colour = str
Point = tuple[float, float]


def tint(colour: Colour, amount: float) -> Colour:
    """The colour, lighter for a positive amount and darker for a negative one, up to 1."""
    channels = ImageColor.getrgb(colour)[:3]
    goal = 255 if amount > 0 else 0
    return "#" + "".join(f"{round(channel + (goal - channel) * abs(amount)):02x}" for channel in channels)


def curve(start: Point, bend: Point, end: Point, steps: int = 28) -> list[Point]:
    """Points of the quadratic Bézier curve from start to end with the control point `bend`."""
    found = []
    for step in range(steps + 1):
        t = step / steps
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
        found.append((a * start[0] + b * bend[0] + c * end[0], a * start[1] + b * bend[1] + c * end[1]))
    return found


def smooth(profile: Sequence[Point], steps: int = 14) -> list[Point]:
    """A smooth line through all the points (Catmull-Rom)."""
    padded = [profile[0], *profile, profile[-1]]
    found = [profile[0]]
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        for step in range(1, steps + 1):
            t = step / steps
            found.append((_between(a[0], b[0], c[0], d[0], t), _between(a[1], b[1], c[1], d[1], t)))
    return found


def _between(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


class Canvas:
    def __init__(self, wall: Colour) -> None:
        self.unit = SIDE * FINE / 100
        side = SIDE * FINE
        self.image = Image.new("RGB", (side, side), wall)
        self.pen = ImageDraw.Draw(self.image)
        self.wall = wall
        self.ellipse(50, 44, 38, 38, tint(wall, 0.22))
        self.rect(0, TABLE, 100, 100, tint(wall, -0.09))
        self.rect(0, TABLE, 100, TABLE + 0.5, tint(wall, -0.16))

    # Flat shapes

    def rect(self, left: float, top: float, right: float, bottom: float, colour: Colour, corner: float = 0) -> None:
        self.pen.rounded_rectangle(self._box(left, top, right, bottom), corner * self.unit, fill=colour)

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
        self.pen.ellipse(self._box(x - rx, y - ry, x + rx, y + ry), fill=colour)

    def polygon(self, points: Iterable[Point], colour: Colour) -> None:
        self.pen.polygon(self._points(points), fill=colour)

    def line(self, points: Iterable[Point], colour: Colour, width: float) -> None:
        """A stroke with round joints and ends."""
        scaled, half = self._points(points), width * self.unit / 2
        self.pen.line(scaled, fill=colour, width=round(half * 2), joint="curve")
        for x, y in (scaled[0], scaled[-1]):
            self.pen.ellipse((x - half, y - half, x + half, y + half), fill=colour)

    def ring(self, x: float, y: float, rx: float, ry: float, colour: Colour, width: float) -> None:
        self.pen.ellipse(
            self._box(x - rx, y - ry, x + rx, y + ry), outline=colour, width=max(1, round(width * self.unit))
        )

    # Solids: lighter on the left, darker on the right

    def block(self, left: float, top: float, right: float, bottom: float, colour: Colour, corner: float = 0) -> None:
        mask, pen = self._mask()
        pen.rounded_rectangle(self._box(left, top, right, bottom), corner * self.unit, fill=255)
        self._paint(mask, colour)

    def ball(self, x: float, y: float, rx: float, ry: float, colour: Colour) -> None:
        mask, pen = self._mask()
        pen.ellipse(self._box(x - rx, y - ry, x + rx, y + ry), fill=255)
        self._paint(mask, colour)

    def shape(self, points: Iterable[Point], colour: Colour) -> None:
        mask, pen = self._mask()
        pen.polygon(self._points(points), fill=255)
        self._paint(mask, colour)

    def turned(self, x: float, profile: Sequence[Point], colour: Colour, *, sharp: bool = False) -> None:
        """A solid of revolution around the vertical at x; the profile is (height, half width) from top to bottom."""
        side = list(profile) if sharp else smooth(profile)
        right = [(x + half, y) for y, half in side]
        left = [(x - half, y) for y, half in reversed(side)]
        self.shape(right + left, colour)

    def shadow(self, x: float, y: float, rx: float, ry: float = 2.6) -> None:
        """The shadow of an object on the table."""
        small = Image.new("L", (180, 180), 0)
        step = 1.8
        ImageDraw.Draw(small).ellipse(
            ((x - rx) * step, (y - ry) * step, (x + rx) * step, (y + ry) * step),
            fill=105,
        )
        mask = small.filter(ImageFilter.GaussianBlur(2.2)).resize(self.image.size, Image.Resampling.BILINEAR)
        self.image.paste(tint(self.wall, -0.62), mask=mask)

    def png(self, *, close: bool = False) -> bytes:
        """The finished picture as PNG; `close` crops to its middle."""
        image = self.image
        if close:
            side = image.width
            image = image.crop((round(side * 0.34), round(side * 0.26), round(side * 0.88), round(side * 0.8)))
            image = image.resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        else:
            image = image.reduce(FINE)
        file = BytesIO()
        image.save(file, "PNG", compress_level=6)
        return file.getvalue()

    def _box(self, left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        return left * self.unit, top * self.unit, right * self.unit, bottom * self.unit

    def _points(self, points: Iterable[Point]) -> list[Point]:
        return [(x * self.unit, y * self.unit) for x, y in points]

    def _mask(self) -> tuple[Image.Image, ImageDraw.ImageDraw]:
        mask = Image.new("L", self.image.size, 0)
        return mask, ImageDraw.Draw(mask)

    def _paint(self, mask: Image.Image, colour: Colour) -> None:
        box = mask.getbbox()
        if box is None:
            return
        size = (box[2] - box[0], box[3] - box[1])
        fall = Image.linear_gradient("L").rotate(90).resize(size)
        light, dark = Image.new("RGB", size, tint(colour, 0.13)), Image.new("RGB", size, tint(colour, -0.17))
        self.image.paste(Image.composite(dark, light, fall), box[:2], mask.crop(box))

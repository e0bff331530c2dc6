"""Colours by their names in the languages of shops, for the swatches beside values such as "Blue".

A value without a swatch shows its name alone, as every value does: a swatch never replaces a name.
"""

from functools import cache

# What choices of a colour are called.
_CHOICES = "colour colours color colors farbe farben colores couleur couleurs colore colori kleur kleuren kolor kolory"
_CHOICES += " لون اللون צבע"

# The names of each colour, separated by commas. A line that does not begin with a colour continues the one above.
_COLOURS = """
#1d1d1f black, schwarz, noir, negro, nero, czarny, zwart, أسود, שחור, ebony
#ffffff white, weiß, blanc, blanco, bianco, biały, wit, أبيض, לבן, snow
#8a8d91 grey, gray, grau, gris, grigio, szary, grijs, رمادي, אפור, graphite grey
#c9cdcf light grey, light gray, hellgrau, gris clair, gris claro, jasnoszary, lichtgrijs, fog, nebel, brume,
  silver, silber, argent, plata, argento, srebrny, zilver, فضي, כסף
#4a4d52 dark grey, dark gray, dunkelgrau, anthracite, anthrazit, antracite, antracita, grafitowy, antraciet,
  charcoal, slate, schiefer, graphite, stone grey
#2f62b0 blue, blau, bleu, azul, blu, niebieski, blauw, أزرق, כחול, cobalt, kobalt, kobaltblau
#8db9e0 light blue, hellblau, bleu clair, azul claro, celeste, błękitny, lichtblauw, sky blue, himmelblau, ice blue
#1f3157 navy, navy blue, dark blue, dunkelblau, marineblau, marine, bleu marine, azul marino, blu scuro, granatowy,
  donkerblauw, marineblauw, كحلي, כחול כהה, night, nacht, ink, tinte, midnight, mitternachtsblau, indigo
#3f6f91 sea blue, meerblau, ocean, ozean, denim, petrol blue, steel blue, stahlblau
#1c6b70 teal, petrol, bleu canard, verde petróleo, ottanio, turkusowy ciemny
#3fb8b5 turquoise, türkis, turquesa, turchese, turkusowy, turkoois, aqua, mint blue, فيروزي, טורקיז
#3d8b4f green, grün, vert, verde, zielony, groen, أخضر, ירוק, emerald, smaragd, smaragdgrün
#a9d3a5 light green, hellgrün, vert clair, verde claro, jasnozielony, lichtgroen, mint, minze, mintgrün, sage,
  salbei
#1f4d33 dark green, dunkelgrün, vert foncé, verde oscuro, verde scuro, ciemnozielony, donkergroen, forest green,
  tannengrün, bottle green, flaschengrün, pine, kiefer
#6d7a3f olive, oliv, olivgrün, oliva, oliwkowy, olijf, khaki, caqui, زيتي, זית, moss, moos, moosgrün
#e3bf3a yellow, gelb, jaune, amarillo, giallo, żółty, geel, أصفر, צהוב, lemon, zitrone, sun, sonne, mustard, senf,
  senfgelb
#c9a24b gold, golden, doré, or, dorado, oro, złoty, goud, ذهبي, זהב, brass, messing, honey, honig, ochre, ocker
#e5812f orange, naranja, arancione, pomarańczowy, oranje, برتقالي, כתום, apricot, aprikose
#c23a34 red, rot, rouge, rojo, rosso, czerwony, rood, أحمر, אדום, cherry, kirsche, kirschrot, poppy, mohn
#7a2333 burgundy, bordeaux, weinrot, burdeos, bordowy, bordó, maroon, wine, wine red, خمري, בורדו, berry, beere
#a4553d brick, backstein, ziegel, ziegelrot, terracotta, terrakotta, rust, rost, rostrot, clay, ton, copper, kupfer
#e9a3b4 pink, rosa, rose, roze, różowy, وردي, ורוד, blush, old rose, altrosa, light pink
#7a4f9a purple, violet, violett, lila, morado, viola, fioletowy, paars, بنفسجي, סגול, plum, pflaume, aubergine
#b7a3d6 lavender, lavendel, lavande, lavanda, lilac, flieder, lawendowy
#6b4a34 brown, braun, brun, marron, marrón, marrone, brązowy, bruin, بني, חום, chocolate, schokolade, walnut,
  nussbaum
#c9a97f tan, camel, cognac, hellbraun, light brown, beżowy ciemny, sand, oak, eiche, caramel, karamell
#e4d8c0 beige, beżowy, بيج, בז, בז׳, natural, natur, naturel, natural linen, oat, hafer, linen, leinen, flax
#f6efdd cream, creme, crème, crema, kremowy, ecru, écru, ivory, elfenbein, ivoire, off-white, off white, wool
  white, wollweiß, chalk, kreide, eggshell, shell, muschel, كريمي, קרם
"""


@cache
def _by_name() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _COLOURS.replace("\n  ", " ").strip().splitlines():
        colour, names = line.split(" ", 1)
        found |= {name.strip().casefold(): colour for name in names.split(",")}
    return found


def is_colour_choice(name: str) -> bool:
    """Returns True if a choice with this name is one of colours: one of its words is "colour", in whatever language."""
    return not set(_CHOICES.split()).isdisjoint(name.casefold().split())


def colour_of(choice: str, value: str) -> str:
    """The colour, such as `#2f62b0`, of a value of this choice; empty if it is no colour that is known by name."""
    return _by_name().get(" ".join(value.casefold().split()), "") if is_colour_choice(choice) else ""

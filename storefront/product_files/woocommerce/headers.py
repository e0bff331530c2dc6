"""The headers of WooCommerce's product CSV, which are in the shop's language, and the units in them."""

import re
from decimal import Decimal
from functools import cache

from storefront.product_files.csv_reading import normalised_header

# Every column that is read, with its headers in English, German, French, Spanish and Russian.
HEADERS: dict[str, tuple[str, ...]] = {
    "id": ("ID",),
    "type": ("Type", "Typ", "Tipo", "Тип"),
    "sku": ("SKU", "Artikelnummer", "Artikelnummer (SKU)", "Art.-Nr.", "UGS", "Référence", "Артикул"),
    "barcode": (
        "GTIN, UPC, EAN, or ISBN",
        "GTIN, UPC, EAN oder ISBN",
        "GTIN, UPC, EAN ou ISBN",
        "GTIN, UPC, EAN o ISBN",
        "GTIN, UPC, EAN или ISBN",
    ),
    "name": ("Name", "Nom", "Nombre", "Имя", "Название"),
    "slug": ("Slug",),
    "source": ("Storefront source",),
    "published": ("Published", "Veröffentlicht", "Publié", "Publicado", "Опубликован"),
    "featured": (
        "Is featured?",
        "Ist hervorgehoben?",
        "Hervorgehoben?",
        "Mis en avant ?",
        "¿Está destacado?",
        "Destacado",
        "рекомендуемый?",
        "Рекомендуемый?",
    ),
    "visibility": (
        "Visibility in catalog",
        "Sichtbarkeit im Katalog",
        "Katalogsichtbarkeit",
        "Visibilité dans le catalogue",
        "Visibilidad en el catálogo",
        "Видимость в каталоге",
    ),
    "short description": (
        "Short description",
        "Kurzbeschreibung",
        "Description courte",
        "Descripción corta",
        "Краткое описание",
    ),
    "description": ("Description", "Beschreibung", "Descripción", "Описание"),
    "sale starts": (
        "Date sale price starts",
        "Datum, an dem der Angebotspreis beginnt",
        "Datum, an dem Angebotspreis beginnt",
        "Date de début de promo",
        "Día en que empieza el precio rebajado",
        "Дата начала действия продажной цены",
    ),
    "sale ends": (
        "Date sale price ends",
        "Datum, an dem der Angebotspreis endet",
        "Datum, an dem Angebotspreis endet",
        "Date de fin de promo",
        "Día en que termina el precio rebajado",
        "Дата окончания действия продажной цены",
    ),
    "tax status": ("Tax status", "Steuerstatus", "État de la TVA", "Estado del impuesto", "Статус налога"),
    "tax class": ("Tax class", "Steuerklasse", "Classe de TVA", "Clase de impuesto", "Налоговый класс"),
    "in stock": (
        "In stock?",
        "Vorrätig?",
        "Auf Lager?",
        "En stock ?",
        "¿Existencias?",
        "¿En inventario?",
        "В наличии?",
        "Наличие",
    ),
    "stock": ("Stock", "Lager", "Bestand", "Lagerbestand", "Inventario", "Запасы"),
    "low stock": (
        "Low stock amount",
        "Geringe Lagermenge",
        "Geringer Lagerbestand",
        "Montant de stock faible",
        "Cantidad de bajo inventario",
        "Величина малых запасов",
    ),
    "backorders": (
        "Backorders allowed?",
        "Lieferrückstände erlaubt?",
        "Rückstände erlaubt?",
        "Autoriser les commandes de produits en rupture ?",
        "¿Permitir reservas de productos agotados?",
        "Возможен ли предзаказ?",
        "Задержанный заказ возможен?",
    ),
    "sale price": ("Sale price", "Angebotspreis", "Tarif promo", "Prix promo", "Precio rebajado", "Акционная цена"),
    "regular price": (
        "Regular price",
        "Regulärer Preis",
        "Tarif régulier",
        "Prix régulier",
        "Precio normal",
        "Precio regular",
        "Базовая цена",
    ),
    "categories": ("Categories", "Kategorien", "Catégories", "Categorías", "Категории"),
    "tags": ("Tags", "Schlagwörter", "Étiquettes", "Etiquetas", "Метки"),
    "images": ("Images", "Bilder", "Imágenes", "Изображения"),
    "download limit": ("Download limit", "Download-Limit", "Downloadlimit", "Limite de téléchargement"),
    "download expiry": (
        "Download expiry days",
        "Ablauftage des Downloads",
        "Download-Ablauf (Tage)",
        "Jours d'expiration du téléchargement",
    ),
    "parent": ("Parent", "Übergeordnetes Produkt", "Eltern", "Superior", "Родительский"),
    "position": ("Position", "Posición", "Позиция"),
    "cost": ("Cost of goods", "Cost of Goods Sold"),
    "brands": ("Brands", "Brand", "Marken", "Marques", "Marcas", "Бренды"),
}

# Columns that only WooCommerce has; any shop's file could have the others.
DISTINCTIVE = {"published", "featured", "visibility", "in stock", "backorders", "regular price", "sale price"}

_KNOWN = {normalised_header(header): name for name, headers in HEADERS.items() for header in headers}

_MEASURES = {
    "weight": "weight|gewicht|poids|peso|вес",
    "length": "length|länge|longueur|longitud|длина",
    "width": "width|breite|largeur|anchura|ancho|ширина",
    "height": "height|höhe|hauteur|altura|высота",
}
_MEASURE = [(name, re.compile(rf"(?:{words}) ?(?:\((.*)\))?\Z")) for name, words in _MEASURES.items()]

_ATTRIBUTE_PARTS = {
    "name": r"attribute? (\d+) name|nom de l'attribut (\d+)|nombre del atributo (\d+)|имя атрибута (\d+)",
    "values": (
        r"attribute (\d+) value\(s\)|attribut (\d+) wert\(e\)|valeur\(s\) de l'attribut (\d+)"
        r"|valor\(es\) del atributo (\d+)|значение\(-я\) ат+рибута\(-ов\) (\d+)"
    ),
    "default": (
        r"attribute (\d+) default|attribut (\d+) standard|attribut (\d+) par défaut|atributo (\d+) por defecto"
    ),
}
_ATTRIBUTE = [(part, re.compile(rf"(?:{words})\Z")) for part, words in _ATTRIBUTE_PARTS.items()]

KILOGRAMS = {
    "kg": Decimal(1),
    "g": Decimal("0.001"),
    "lbs": Decimal("0.45359237"),
    "lb": Decimal("0.45359237"),
    "oz": Decimal("0.028349523125"),
}
# For each unit of length: the stored unit, `cm` or `in`, and how many of it the unit has.
LENGTHS = {
    "cm": ("cm", Decimal(1)),
    "mm": ("cm", Decimal("0.1")),
    "m": ("cm", Decimal(100)),
    "in": ("in", Decimal(1)),
    "yd": ("in", Decimal(36)),
}


@cache
def column_of(header: str) -> str | None:
    """The header's column: a key of HEADERS, a measure, or such as `attribute 2 name`; None if it is not read."""
    plain = normalised_header(header)
    if plain in _KNOWN:
        return _KNOWN[plain]
    for name, pattern in _MEASURE:
        if pattern.match(plain):
            return name
    for part, pattern in _ATTRIBUTE:
        if found := pattern.match(plain):
            return f"attribute {next(filter(None, found.groups()))} {part}"
    return None


def unit_of(header: str) -> str:
    """The unit in a header such as `Weight (kg)`; empty if there is none."""
    found = re.search(r"\(([^)]*)\)", header)
    return found[1].strip().lower() if found else ""

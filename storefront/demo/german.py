"""The demo shop's texts in German, beside those of its products, which are in `products.jsonl`."""

from storefront.content.models import Page

CODE = "de"
Kind = Page.Kind
# Name and address of each category.
CATEGORIES = {
    "Kitchen": ("Küche", "kueche"),
    "Cups and bowls": ("Becher und Schalen", "becher-und-schalen"),
    "Tools": ("Werkzeug", "werkzeug"),
    "Pantry": ("Vorrat", "vorrat"),
    "Tea and coffee": ("Tee und Kaffee", "tee-und-kaffee"),
    "Preserves": ("Eingemachtes", "eingemachtes"),
    "Textiles": ("Textilien", "textilien"),
    "Light": ("Licht", "licht"),
    "Desk": ("Schreibtisch", "schreibtisch"),
    "Gifts": ("Geschenke", "geschenke"),
    "Garden": ("Garten", "garten"),
    "For children": ("Für Kinder", "fuer-kinder"),
}
# Title and text of each page.
PAGES = {
    Kind.ABOUT: (
        "Über uns",
        "ueber-uns",
        (
            "<p>Harbour Lane ist ein kleiner Laden am Wasser in Hamburg. Wir verkaufen, was ein Zuhause ruhig "
            "und warm macht: Steinzeug, Leinen, Wolle und Dinge, die bleiben.</p><h2>Wie wir "
            "auswählen</h2><p>Wir kennen alle, die unsere Waren machen. Was wir selbst nicht behalten würden, "
            "verkaufen wir nicht.</p>"
        ),
    ),
    Kind.DELIVERY: (
        "Versand",
        "versand",
        (
            "<p><strong>Dies ist ein Vorführshop. Es wird nichts verschickt und nichts "
            "geschuldet.</strong></p><h2>In Deutschland</h2><p>Als Paket in 2 bis 3 Tagen für 4,90 €, ab 80,00 "
            "€ kostenlos. Express kostet 12,50 € und kommt am nächsten Werktag an.</p><h2>Ins "
            "Ausland</h2><p>In 4 bis 8 Tagen; der Preis richtet sich nach dem Gewicht und wird an der Kasse "
            "angezeigt.</p><h2>Selbst abholen</h2><p>Am Sandtorkai 1 in Hamburg, montags bis samstags von 10 "
            "bis 18 Uhr. Abholbereit am nächsten Werktag und kostenlos.</p>"
        ),
    ),
    Kind.RETURNS: (
        "Widerruf und Rückgabe",
        "widerruf",
        (
            "<p><strong>Dies ist ein Vorführshop. Es wird nichts verschickt und nichts "
            "geschuldet.</strong></p><p>Sie können Ihren Kauf binnen 14 Tagen nach Erhalt der Ware ohne Angabe "
            "von Gründen widerrufen. Teilen Sie uns das per E-Mail oder Brief mit und senden Sie die Ware "
            "binnen weiterer 14 Tage zurück. Wir erstatten den Kaufpreis und die Kosten der "
            "Standardlieferung.</p><h2>Ausnahmen</h2><p>Nach Ihren Angaben angefertigte Ware sowie Downloads, "
            "sobald sie begonnen haben.</p>"
        ),
    ),
    Kind.TERMS: (
        "Allgemeine Geschäftsbedingungen",
        "agb",
        (
            "<p><strong>Dies ist ein Vorführshop. Es wird nichts verschickt und nichts "
            "geschuldet.</strong></p><h2>Ihr Vertragspartner</h2><p>Harbour Lane GmbH, Am Kai 12, 20457 "
            "Hamburg.</p><h2>Wie der Vertrag zustande kommt</h2><p>Mit der Schaltfläche am Ende der Kasse "
            "bestellen Sie die Waren in Ihrem Warenkorb. Wir nehmen die Bestellung mit der Bestellbestätigung "
            "per E-Mail an.</p><h2>Preise und Zahlung</h2><p>Die Preise enthalten die Umsatzsteuer; "
            "Versandkosten kommen hinzu. Sie zahlen sofort per Karte oder binnen 14 Tagen per Überweisung.</p>"
        ),
    ),
    Kind.PRIVACY: (
        "Datenschutzerklärung",
        "datenschutz",
        (
            "<p>Dieser Vorführshop läuft auf Ihrem eigenen Rechner und sendet niemandem etwas. Er speichert "
            "ein Cookie für Warenkorb und Anmeldung sowie das, was Sie an der Kasse eingeben, bis der "
            "Vorführshop gelöscht wird.</p>"
        ),
    ),
    Kind.IMPRINT: (
        "Impressum",
        "impressum",
        (
            "<p><strong>Dies ist ein Vorführshop. Es wird nichts verschickt und nichts "
            "geschuldet.</strong></p><p>Harbour Lane GmbH<br>Am Kai 12<br>20457 "
            "Hamburg<br>Deutschland</p><p>USt-IdNr.: DE123456789</p>"
        ),
    ),
}
# All other texts of the shop, by what they are in English.
TEXTS = {
    "Parcel": "Paket",
    "2 to 3 days": "2 bis 3 Tage",
    "next working day": "nächster Werktag",
    "Parcel abroad": "Paket ins Ausland",
    "4 to 8 days": "4 bis 8 Tage",
    "Monday to Saturday, 10 to 18": "Montag bis Samstag, 10 bis 18 Uhr",
    "Ready the next working day": "Abholbereit am nächsten Werktag",
    "Harbour Lane shop": "Laden Harbour Lane",
    "5% off from €100": "5 % Rabatt ab 100 €",
    "Welcome": "Willkommen",
    (
        "Please transfer the amount within 14 days, with the order number as the reference.\nThis is a demo "
        "shop: nothing is sent, so please do not send money either."
    ): (
        "Bitte überweisen Sie den Betrag innerhalb von 14 Tagen mit der Bestellnummer als "
        "Verwendungszweck.\nDies ist ein Vorführshop: Es wird nichts verschickt, also überweisen Sie bitte auch "
        "nichts."
    ),
    "This is a demo shop: nothing is sent, and nothing is owed.": (
        "Dies ist ein Vorführshop: Es wird nichts verschickt und nichts geschuldet."
    ),
}


def translations(**texts: str) -> dict[str, dict[str, str]] | None:
    """What to store for a row with these texts in its columns; None if none of them is translated."""
    found = {name: TEXTS[text] for name, text in texts.items() if text in TEXTS}
    return {CODE: found} if found else None

"""Words for the generated shops' names and texts. Lists begin with the most frequent words, as for Zipf's law."""

# Department: (typical price, nouns for its products).
DEPARTMENTS = {
    "Kitchen": (24, "mug bowl plate teapot pan knife board jug tray whisk"),
    "Clothing": (39, "shirt jumper trousers dress jacket skirt cardigan vest scarf socks"),
    "Home": (34, "cushion blanket lamp candle vase mirror rug curtain clock basket"),
    "Books": (18, "novel guide atlas cookbook anthology biography primer almanac comic reader"),
    "Garden": (29, "planter trowel hose secateurs lantern parasol trellis watering-can rake gloves"),
    "Beauty": (16, "soap balm cream shampoo serum brush perfume oil scrub mask"),
    "Toys": (21, "puzzle blocks doll kite marbles train yo-yo rattle scooter abacus"),
    "Electronics": (89, "headphones charger speaker cable keyboard mouse adapter monitor webcam battery"),
    "Sports": (45, "ball racket mat helmet dumbbell rope goggles backpack bottle paddle"),
    "Shoes": (79, "trainers boots sandals loafers clogs slippers brogues heels moccasins wellingtons"),
    "Stationery": (9, "notebook pencil pen envelope folder stapler calendar ruler eraser ink"),
    "Pets": (14, "leash collar feeder bed brush toy carrier blanket whistle scratcher"),
    "Food": (8, "coffee tea honey chocolate pasta olives jam spice biscuit vinegar"),
    "Tools": (37, "hammer screwdriver saw drill spanner chisel clamp level pliers file"),
    "Jewellery": (69, "ring necklace earrings bracelet brooch pendant cufflinks anklet charm locket"),
    "Furniture": (189, "chair table shelf stool desk wardrobe bench cabinet sofa bedframe"),
    "Baby": (19, "bib romper muslin bottle cot pram bouncer mobile teether sling"),
    "Music": (59, "guitar ukulele drum flute metronome tuner strings capo harmonica stand"),
    "Crafts": (12, "yarn fabric beads paint canvas needle thread glue stamp clay"),
    "Bicycles": (49, "saddle bell lock pump tyre pedal light chain rack handlebar"),
}

ADJECTIVES = """classic small large modern simple light soft warm natural organic handmade vintage compact everyday
premium slim heavy round square folding striped plain bright matt glossy quiet sturdy rustic nordic coastal alpine
urban travel junior family pocket winter summer padded woven knitted carved brushed polished glazed smoked
recycled waterproof adjustable reversible stackable portable magnetic insulated weighted textured ribbed quilted
embroidered ergonomic seamless undyed featherweight hammered marbled herringbone""".split()

MATERIALS = """cotton wood steel leather wool ceramic glass linen oak paper brass bamboo cork silk copper felt
stoneware walnut rubber canvas beech marble jute porcelain aluminium cashmere enamel hemp velvet rattan slate pewter
alpaca mohair sisal soapstone""".split()

COLOURS = "Black White Grey Navy Oat Sea-blue Moss Clay Rust Cream Plum Mustard".split()
SIZES = "S M L XL XS XXL".split()

PROSE = """the and with for from that you your it this made one will our when into every than which has are each by
hand day use years easy keeps well long good feels holds back home time never small two more wash care right made
gently after water just enough room inside table fits under weight edge corner morning evening still comes away
cleans lasts carries sits rests stays opens closes turns folds packs hangs shines wears softens gathers warms
workshop family village river harbour orchard meadow forest hill valley market kiln loom forge bench pattern grain
thread seam handle lid rim base lining strap buckle clasp hinge spout shade finish glaze varnish wax dye stitch weave
generation apprentice drawing sketch prototype tradition season weather travel picnic breakfast supper gift birthday
wedding anniversary neighbour grandmother collector traveller gardener baker painter cyclist sailor reader""".split()

# Syllables of made-up names: makers and the rare words that somebody searches for.
HEADS = "al bar cor dal el fen gar hol is jun kel lor mar nor os pel quin ros sol tam ul ver wil yar zan".split()
MIDDLES = "a be di e go i ka li mo na o pe ri sa te u va wi".split()
TAILS = "ck dell fjord gate heim ja kvist lund mere nay rd sson th vik wen x by dorf field stad".split()

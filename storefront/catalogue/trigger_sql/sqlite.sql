-- Inserting into this view adds to a total, and creates the total if there is none yet.
CREATE VIEW catalogue_note AS SELECT 0 AS shop_id, 0 AS category, 0 AS more
;;
-- While this table has a row, new rows are neither counted nor indexed: an import does both for a whole batch at its
-- end, in the same transaction (`catalogue/sqlite.py`).
CREATE TABLE catalogue_quiet (id integer)
;;
CREATE TRIGGER catalogue_note_taken INSTEAD OF INSERT ON catalogue_note BEGIN
  INSERT INTO catalogue_listingtotal (shop_id, category, products, version)
    SELECT NEW.shop_id, NEW.category, 0, 0 WHERE NOT EXISTS
      (SELECT 1 FROM catalogue_listingtotal WHERE shop_id = NEW.shop_id AND category = NEW.category);
  UPDATE catalogue_listingtotal SET products = products + NEW.more, version = version + 1 + (random() & 1073741823)
    WHERE shop_id = NEW.shop_id AND category = NEW.category;
END
;;
CREATE TRIGGER catalogue_product_made AFTER INSERT ON catalogue_product
WHEN <LISTABLE_NEW> AND NOT EXISTS (SELECT 1 FROM catalogue_quiet) BEGIN
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 1);
  INSERT INTO catalogue_note
    SELECT shop_id, category_id, 1 FROM catalogue_productcategory WHERE product_id = NEW.id;
  UPDATE catalogue_productsearch SET listed = 1 WHERE product_id = NEW.id AND NOT listed;
END
;;
CREATE TRIGGER catalogue_product_gone AFTER DELETE ON catalogue_product WHEN <LISTABLE_OLD> BEGIN
  INSERT INTO catalogue_note VALUES (OLD.shop_id, 0, -1);
  INSERT INTO catalogue_note
    SELECT shop_id, category_id, -1 FROM catalogue_productcategory WHERE product_id = OLD.id;
  UPDATE catalogue_productsearch SET listed = 0 WHERE product_id = OLD.id AND listed;
END
;;
CREATE TRIGGER catalogue_product_listed AFTER UPDATE OF status, deleted_at, exclude_from_catalog ON catalogue_product
WHEN <LISTABLE_NEW> <> <LISTABLE_OLD> BEGIN
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, <LISTABLE_NEW> - <LISTABLE_OLD>);
  INSERT INTO catalogue_note SELECT shop_id, category_id, <LISTABLE_NEW> - <LISTABLE_OLD>
    FROM catalogue_productcategory WHERE product_id = NEW.id;
  UPDATE catalogue_productsearch SET listed = <LISTABLE_NEW> WHERE product_id = NEW.id AND listed <> <LISTABLE_NEW>;
END
;;
CREATE TRIGGER catalogue_product_placed AFTER UPDATE OF <PLACED_BY> ON catalogue_product
WHEN <LISTABLE_NEW> AND (<PLACED_NEW>) IS NOT (<PLACED_OLD>) BEGIN
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_link_made AFTER INSERT ON catalogue_productcategory
WHEN NOT EXISTS (SELECT 1 FROM catalogue_quiet) BEGIN
  INSERT INTO catalogue_note SELECT NEW.shop_id, NEW.category_id, count(*)
    FROM catalogue_product p WHERE p.id = NEW.product_id AND <LISTABLE_P>;
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_link_gone AFTER DELETE ON catalogue_productcategory BEGIN
  INSERT INTO catalogue_note SELECT OLD.shop_id, OLD.category_id, -count(*)
    FROM catalogue_product p WHERE p.id = OLD.product_id AND <LISTABLE_P>;
  INSERT INTO catalogue_note VALUES (OLD.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_link_moved AFTER UPDATE OF product_id, category_id ON catalogue_productcategory
WHEN (NEW.product_id, NEW.category_id) IS NOT (OLD.product_id, OLD.category_id) BEGIN
  INSERT INTO catalogue_note SELECT OLD.shop_id, OLD.category_id, -count(*)
    FROM catalogue_product p WHERE p.id = OLD.product_id AND <LISTABLE_P>;
  INSERT INTO catalogue_note SELECT NEW.shop_id, NEW.category_id, count(*)
    FROM catalogue_product p WHERE p.id = NEW.product_id AND <LISTABLE_P>;
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_category_made AFTER INSERT ON catalogue_category BEGIN
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_category_gone AFTER DELETE ON catalogue_category BEGIN
  INSERT INTO catalogue_note VALUES (OLD.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_category_changed AFTER UPDATE OF slug, is_active, _lft, _rgt ON catalogue_category
WHEN (NEW.slug, NEW.is_active, NEW._lft, NEW._rgt) IS NOT (OLD.slug, OLD.is_active, OLD._lft, OLD._rgt) BEGIN
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
-- The index holds the texts of the rows that are `listed`. Removing a text needs the text that was added.
CREATE TRIGGER catalogue_search_made AFTER INSERT ON catalogue_productsearch
WHEN NOT EXISTS (SELECT 1 FROM catalogue_quiet) BEGIN
  INSERT INTO catalogue_searchindex (rowid, text)
    SELECT (NEW.shop_id << <SHOP_BITS>) + NEW.product_id, NEW.text WHERE NEW.listed;
  UPDATE catalogue_productsearch SET listed = NOT listed WHERE product_id = NEW.product_id AND listed <>
    EXISTS (SELECT 1 FROM catalogue_product p WHERE p.id = NEW.product_id AND <LISTABLE_P>);
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_search_gone AFTER DELETE ON catalogue_productsearch BEGIN
  INSERT INTO catalogue_searchindex (catalogue_searchindex, rowid, text)
    SELECT 'delete', (OLD.shop_id << <SHOP_BITS>) + OLD.product_id, OLD.text WHERE OLD.listed;
  INSERT INTO catalogue_note VALUES (OLD.shop_id, 0, 0);
END
;;
CREATE TRIGGER catalogue_search_changed AFTER UPDATE OF shop_id, product_id, text, listed ON catalogue_productsearch
WHEN (NEW.shop_id, NEW.product_id, NEW.text, NEW.listed) IS NOT (OLD.shop_id, OLD.product_id, OLD.text, OLD.listed) BEGIN
  INSERT INTO catalogue_searchindex (catalogue_searchindex, rowid, text)
    SELECT 'delete', (OLD.shop_id << <SHOP_BITS>) + OLD.product_id, OLD.text WHERE OLD.listed;
  INSERT INTO catalogue_searchindex (rowid, text)
    SELECT (NEW.shop_id << <SHOP_BITS>) + NEW.product_id, NEW.text WHERE NEW.listed;
  INSERT INTO catalogue_note VALUES (NEW.shop_id, 0, 0);
END
;;
-- The stock ledger. What a change is for stands in the only row of this table, while there is one
-- (`catalogue/inventory/ledger.py`).
CREATE TABLE catalogue_stockchange (
  id integer PRIMARY KEY, kind text, reason text, reference text, installation integer, token integer, user integer,
  made_at text
)
;;
CREATE TRIGGER catalogue_product_stock_made AFTER INSERT ON catalogue_product
WHEN NEW.stock_qty <> 0 OR NEW.damaged_qty <> 0 BEGIN
  INSERT INTO catalogue_stockadjustment (<LEDGER>)
    SELECT NEW.shop_id, NEW.id, NULL, s.damaged, s.qty, s.qty, NEW.updated_at, <SAID_CREATED>
    FROM (SELECT 0 AS damaged, NEW.stock_qty AS qty UNION ALL SELECT 1, NEW.damaged_qty) s
    LEFT JOIN catalogue_stockchange said WHERE s.qty <> 0;
END
;;
CREATE TRIGGER catalogue_variant_stock_made AFTER INSERT ON catalogue_variant WHEN NEW.stock_qty <> 0 BEGIN
  INSERT INTO catalogue_stockadjustment (<LEDGER>)
    SELECT NEW.shop_id, NEW.product_id, NEW.id, 0, NEW.stock_qty, NEW.stock_qty, NEW.updated_at, <SAID_CREATED>
    FROM (SELECT 1) LEFT JOIN catalogue_stockchange said;
END
;;
-- Stock falls below zero only if it is not tracked or backorders are allowed. A stock that is below zero already stays
-- known when backorders end.
CREATE TRIGGER catalogue_product_stock_begins BEFORE INSERT ON catalogue_product
WHEN NEW.stock_qty < 0 AND NEW.track_inventory AND NOT NEW.allow_backorders BEGIN
  SELECT RAISE(ABORT, 'CHECK constraint failed: product_stock_holds');
END
;;
CREATE TRIGGER catalogue_product_stock_holds BEFORE UPDATE OF stock_qty ON catalogue_product
WHEN NEW.stock_qty < 0 AND NEW.stock_qty < OLD.stock_qty AND NEW.track_inventory AND NOT NEW.allow_backorders BEGIN
  SELECT RAISE(ABORT, 'CHECK constraint failed: product_stock_holds');
END
;;
CREATE TRIGGER catalogue_variant_stock_begins BEFORE INSERT ON catalogue_variant
WHEN NEW.stock_qty < 0 AND NEW.track_inventory AND NOT NEW.allow_backorders BEGIN
  SELECT RAISE(ABORT, 'CHECK constraint failed: variant_stock_holds');
END
;;
CREATE TRIGGER catalogue_variant_stock_holds BEFORE UPDATE OF stock_qty ON catalogue_variant
WHEN NEW.stock_qty < 0 AND NEW.stock_qty < OLD.stock_qty AND NEW.track_inventory AND NOT NEW.allow_backorders BEGIN
  SELECT RAISE(ABORT, 'CHECK constraint failed: variant_stock_holds');
END
;;
CREATE TRIGGER catalogue_product_stock_changed AFTER UPDATE OF stock_qty, damaged_qty ON catalogue_product
WHEN OLD.stock_qty <> NEW.stock_qty OR OLD.damaged_qty <> NEW.damaged_qty BEGIN
  INSERT INTO catalogue_stockadjustment (<LEDGER>)
    SELECT NEW.shop_id, NEW.id, NULL, s.damaged, s.delta, s.qty, NEW.updated_at, <SAID_CHANGED>
    FROM (SELECT 0 AS damaged, NEW.stock_qty - OLD.stock_qty AS delta, NEW.stock_qty AS qty
      UNION ALL SELECT 1, NEW.damaged_qty - OLD.damaged_qty, NEW.damaged_qty) s
    LEFT JOIN catalogue_stockchange said WHERE s.delta <> 0;
END
;;
CREATE TRIGGER catalogue_variant_stock_changed AFTER UPDATE OF stock_qty ON catalogue_variant
WHEN OLD.stock_qty <> NEW.stock_qty BEGIN
  INSERT INTO catalogue_stockadjustment (<LEDGER>)
    SELECT NEW.shop_id, NEW.product_id, NEW.id, 0, NEW.stock_qty - OLD.stock_qty, NEW.stock_qty, NEW.updated_at,
      <SAID_CHANGED>
    FROM (SELECT 1) LEFT JOIN catalogue_stockchange said;
END
;;
CREATE TRIGGER catalogue_variant_stock_removed AFTER DELETE ON catalogue_variant WHEN OLD.stock_qty <> 0 BEGIN
  INSERT INTO catalogue_stockadjustment (<LEDGER>)
    SELECT OLD.shop_id, OLD.product_id, OLD.id, 0, -OLD.stock_qty, 0, COALESCE(said.made_at, CURRENT_TIMESTAMP),
      <SAID_REMOVED>
    FROM (SELECT 1) LEFT JOIN catalogue_stockchange said;
END
;;
CREATE TRIGGER catalogue_product_price_changed AFTER UPDATE OF price ON catalogue_product
WHEN OLD.price <> NEW.price BEGIN
  INSERT INTO catalogue_pastprice (shop_id, product_id, variant_id, price, until)
    VALUES (NEW.shop_id, NEW.id, NULL, OLD.price, NEW.updated_at);
END
;;
CREATE TRIGGER catalogue_variant_price_changed AFTER UPDATE OF price ON catalogue_variant
WHEN OLD.price <> NEW.price BEGIN
  INSERT INTO catalogue_pastprice (shop_id, product_id, variant_id, price, until)
    VALUES (NEW.shop_id, NEW.product_id, NEW.id, OLD.price, NEW.updated_at);
END
;;
CREATE TRIGGER catalogue_product_histories_gone AFTER DELETE ON catalogue_product BEGIN
  DELETE FROM catalogue_stockadjustment WHERE product_id = OLD.id;
  DELETE FROM catalogue_pastprice WHERE product_id = OLD.id;
  DELETE FROM catalogue_oldslug WHERE product_id = OLD.id;
  DELETE FROM catalogue_lastchange WHERE product_id = OLD.id;
END
;;
-- Old slugs: a slug that a row had is kept when it gets another one, and is none any more once a row has it again.
CREATE TRIGGER catalogue_product_slugs_made AFTER INSERT ON catalogue_product WHEN NEW.deleted_at IS NULL BEGIN
  DELETE FROM catalogue_oldslug WHERE shop_id = NEW.shop_id AND slug = NEW.slug AND product_id IS NOT NULL;
END
;;
CREATE TRIGGER catalogue_product_slug_changed AFTER UPDATE OF slug, deleted_at ON catalogue_product
WHEN OLD.slug <> NEW.slug OR OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL BEGIN
  DELETE FROM catalogue_oldslug WHERE shop_id = NEW.shop_id AND slug = NEW.slug AND product_id IS NOT NULL
    AND NEW.deleted_at IS NULL;
  INSERT INTO catalogue_oldslug (shop_id, product_id, slug)
    SELECT NEW.shop_id, NEW.id, OLD.slug WHERE OLD.slug <> NEW.slug AND OLD.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM catalogue_product p
      WHERE p.shop_id = NEW.shop_id AND p.slug = OLD.slug AND p.deleted_at IS NULL);
  DELETE FROM catalogue_oldslug WHERE product_id = NEW.id AND OLD.slug <> NEW.slug AND id NOT IN
    (SELECT id FROM catalogue_oldslug WHERE product_id = NEW.id ORDER BY id DESC LIMIT <MAX_OLD_SLUGS>);
END
;;
CREATE TRIGGER catalogue_category_slugs_made AFTER INSERT ON catalogue_category BEGIN
  DELETE FROM catalogue_oldslug WHERE shop_id = NEW.shop_id AND slug = NEW.slug AND category_id IS NOT NULL;
END
;;
CREATE TRIGGER catalogue_category_slug_changed AFTER UPDATE OF slug ON catalogue_category
WHEN OLD.slug <> NEW.slug BEGIN
  DELETE FROM catalogue_oldslug WHERE shop_id = NEW.shop_id AND slug = NEW.slug AND category_id IS NOT NULL;
  INSERT INTO catalogue_oldslug (shop_id, category_id, slug)
    SELECT NEW.shop_id, NEW.id, OLD.slug WHERE OLD.slug <> NEW.slug
    AND NOT EXISTS (SELECT 1 FROM catalogue_category p WHERE p.shop_id = NEW.shop_id AND p.slug = OLD.slug);
  DELETE FROM catalogue_oldslug WHERE category_id = NEW.id AND OLD.slug <> NEW.slug AND id NOT IN
    (SELECT id FROM catalogue_oldslug WHERE category_id = NEW.id ORDER BY id DESC LIMIT <MAX_OLD_SLUGS>);
END
;;
CREATE TRIGGER catalogue_category_slugs_gone AFTER DELETE ON catalogue_category BEGIN
  DELETE FROM catalogue_oldslug WHERE category_id = OLD.id;
END
;;
-- The time of a product's last change and its status, outside its row, as long as the product is not deleted.
CREATE TRIGGER catalogue_product_change_made AFTER INSERT ON catalogue_product WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO catalogue_lastchange (product_id, shop_id, updated_at, status)
    VALUES (NEW.id, NEW.shop_id, NEW.updated_at, NEW.status);
END
;;
CREATE TRIGGER catalogue_product_change_moved AFTER UPDATE OF updated_at, status ON catalogue_product
WHEN (OLD.updated_at <> NEW.updated_at OR OLD.status <> NEW.status)
  AND OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL BEGIN
  UPDATE catalogue_lastchange SET updated_at = NEW.updated_at, status = NEW.status WHERE product_id = NEW.id;
END
;;
CREATE TRIGGER catalogue_product_change_hidden AFTER UPDATE OF deleted_at ON catalogue_product
WHEN (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  DELETE FROM catalogue_lastchange WHERE product_id = NEW.id;
  INSERT INTO catalogue_lastchange (product_id, shop_id, updated_at, status)
    SELECT NEW.id, NEW.shop_id, NEW.updated_at, NEW.status WHERE NEW.deleted_at IS NULL;
END

-- A total has as many rows as transactions write it concurrently: each uses a row that is not locked, or adds one.
-- So writers of one shop neither wait for each other here nor deadlock; readers add up the rows.
CREATE FUNCTION catalogue_note(shop bigint, of_category bigint, more bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  free bigint;
BEGIN
  SELECT id INTO free FROM catalogue_listingtotal WHERE shop_id = shop AND category = of_category
    ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
  IF FOUND THEN
    UPDATE catalogue_listingtotal
      SET products = products + more, version = version + 1 + floor(random() * 1073741824)::bigint WHERE id = free;
  ELSE
    INSERT INTO catalogue_listingtotal (shop_id, category, products, version)
      VALUES (shop, of_category, more, 1 + floor(random() * 1073741824)::bigint);
  END IF;
END $$
;;
CREATE FUNCTION catalogue_products_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM catalogue_note(made.shop_id, made.category, made.products) FROM (
    SELECT n.shop_id, 0 AS category, count(*) AS products FROM new_rows n WHERE <LISTABLE_N> GROUP BY 1
    UNION ALL
    SELECT n.shop_id, l.category_id, count(*) FROM new_rows n
      JOIN catalogue_productcategory l ON l.product_id = n.id WHERE <LISTABLE_N> GROUP BY 1, 2
  ) made;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_products_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM catalogue_note(gone.shop_id, gone.category, -gone.products) FROM (
    SELECT o.shop_id, 0 AS category, count(*) AS products FROM old_rows o WHERE <LISTABLE_O> GROUP BY 1
    UNION ALL
    SELECT o.shop_id, l.category_id, count(*) FROM old_rows o
      JOIN catalogue_productcategory l ON l.product_id = o.id WHERE <LISTABLE_O> GROUP BY 1, 2
  ) gone;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_products_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  watched boolean;
  listed boolean;
BEGIN
  SELECT bool_or(<LISTABLE_N> <> <LISTABLE_O>),
      bool_or(<LISTABLE_N> <> <LISTABLE_O> OR (<LISTABLE_N> AND (<PLACED_N>) IS DISTINCT FROM (<PLACED_O>)))
    INTO listed, watched FROM new_rows n JOIN old_rows o ON o.id = n.id;
  IF listed THEN
    PERFORM catalogue_note(changed.shop_id, changed.category, changed.products) FROM (
      SELECT n.shop_id, l.category_id AS category, sum(<LISTABLE_N>::int - <LISTABLE_O>::int) AS products
        FROM new_rows n JOIN old_rows o ON o.id = n.id JOIN catalogue_productcategory l ON l.product_id = n.id
        WHERE <LISTABLE_N> <> <LISTABLE_O> GROUP BY 1, 2
    ) changed;
    UPDATE catalogue_productsearch s SET listed = <LISTABLE_N> FROM new_rows n
      WHERE s.product_id = n.id AND s.listed <> <LISTABLE_N>;
  END IF;
  IF watched THEN
    PERFORM catalogue_note(changed.shop_id, 0, changed.products) FROM (
      SELECT n.shop_id, sum(<LISTABLE_N>::int - <LISTABLE_O>::int) AS products
        FROM new_rows n JOIN old_rows o ON o.id = n.id GROUP BY 1
    ) changed;
  END IF;
  RETURN NULL;
END $$
;;
-- The products are locked, so that a concurrent change of a product's status either counts the new links or is seen
-- here.
CREATE FUNCTION catalogue_links_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM catalogue_product p WHERE p.id IN (SELECT product_id FROM new_rows) ORDER BY p.id FOR NO KEY UPDATE;
  PERFORM catalogue_note(made.shop_id, made.category, made.products) FROM (
    SELECT l.shop_id, l.category_id AS category, count(*) AS products FROM new_rows l
      JOIN catalogue_product p ON p.id = l.product_id WHERE <LISTABLE_P> GROUP BY 1, 2
    UNION ALL SELECT DISTINCT l.shop_id, 0, 0 FROM new_rows l
  ) made;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_links_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM catalogue_product p WHERE p.id IN (SELECT product_id FROM old_rows) ORDER BY p.id FOR NO KEY UPDATE;
  PERFORM catalogue_note(gone.shop_id, gone.category, -gone.products) FROM (
    SELECT l.shop_id, l.category_id AS category, count(*) AS products FROM old_rows l
      JOIN catalogue_product p ON p.id = l.product_id WHERE <LISTABLE_P> GROUP BY 1, 2
    UNION ALL SELECT DISTINCT l.shop_id, 0, 0 FROM old_rows l
  ) gone;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_links_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM catalogue_product p WHERE p.id IN
    (SELECT product_id FROM old_rows UNION SELECT product_id FROM new_rows) ORDER BY p.id FOR NO KEY UPDATE;
  PERFORM catalogue_note(moved.shop_id, moved.category, moved.products) FROM (
    SELECT l.shop_id, l.category_id AS category, sum(l.more) AS products FROM (
        SELECT shop_id, category_id, product_id, 1 AS more FROM new_rows
        UNION ALL SELECT shop_id, category_id, product_id, -1 FROM old_rows
      ) l JOIN catalogue_product p ON p.id = l.product_id
      WHERE <LISTABLE_P> GROUP BY 1, 2 HAVING sum(l.more) <> 0
    UNION ALL SELECT DISTINCT l.shop_id, 0, 0 FROM new_rows l
  ) moved;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_categories_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM catalogue_note(changed.shop_id, 0, 0) FROM (SELECT DISTINCT shop_id FROM changed_rows) changed;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_search_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO catalogue_textchange (shop_id, first_product, last_product)
    SELECT shop_id, product_id, product_id FROM changed_rows;
  PERFORM catalogue_note(changed.shop_id, 0, 0) FROM (SELECT DISTINCT shop_id FROM changed_rows) changed;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_search_listed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT <LISTABLE_P> INTO NEW.listed FROM catalogue_product p WHERE p.id = NEW.product_id FOR NO KEY UPDATE;
  NEW.listed := COALESCE(NEW.listed, false);
  RETURN NEW;
END $$
;;
-- Quiet: an import counts a whole batch at its end, in the same transaction (`deferred_totals`).
CREATE TRIGGER catalogue_product_made AFTER INSERT ON catalogue_product
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (<NOT_QUIET>)
  EXECUTE FUNCTION catalogue_products_made()
;;
CREATE TRIGGER catalogue_product_gone AFTER DELETE ON catalogue_product
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_products_gone()
;;
CREATE TRIGGER catalogue_product_changed AFTER UPDATE ON catalogue_product
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION catalogue_products_changed()
;;
CREATE TRIGGER catalogue_link_made AFTER INSERT ON catalogue_productcategory
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN (<NOT_QUIET>)
  EXECUTE FUNCTION catalogue_links_made()
;;
CREATE TRIGGER catalogue_link_gone AFTER DELETE ON catalogue_productcategory
  REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_links_gone()
;;
CREATE TRIGGER catalogue_link_moved AFTER UPDATE ON catalogue_productcategory
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION catalogue_links_moved()
;;
CREATE TRIGGER catalogue_category_made AFTER INSERT ON catalogue_category
  REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_categories_changed()
;;
CREATE TRIGGER catalogue_category_gone AFTER DELETE ON catalogue_category
  REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_categories_changed()
;;
CREATE TRIGGER catalogue_category_changed AFTER UPDATE ON catalogue_category
  REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_categories_changed()
;;
CREATE TRIGGER catalogue_search_listed BEFORE INSERT ON catalogue_productsearch
  FOR EACH ROW WHEN (<NOT_QUIET>)
  EXECUTE FUNCTION catalogue_search_listed()
;;
CREATE TRIGGER catalogue_search_made AFTER INSERT ON catalogue_productsearch
  REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT WHEN (<NOT_QUIET>)
  EXECUTE FUNCTION catalogue_search_changed()
;;
CREATE TRIGGER catalogue_search_gone AFTER DELETE ON catalogue_productsearch
  REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_search_changed()
;;
CREATE TRIGGER catalogue_search_changed AFTER UPDATE ON catalogue_productsearch
  REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_search_changed()
;;
-- The stock ledger. What a change is for stands in the transaction's setting `storefront.stock_change`, as JSON
-- (`catalogue/inventory/ledger.py`).
CREATE FUNCTION catalogue_stock_made() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  said jsonb := NULLIF(current_setting('storefront.stock_change', true), '')::jsonb;
BEGIN
  IF EXISTS (SELECT 1 FROM new_rows n WHERE n.stock_qty < 0 AND n.track_inventory AND NOT n.allow_backorders) THEN
    RAISE EXCEPTION 'violates check constraint %_stock_holds', TG_TABLE_NAME
      USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME;
  END IF;
  IF TG_TABLE_NAME = 'catalogue_product' THEN
    INSERT INTO catalogue_stockadjustment (<LEDGER>)
      SELECT n.shop_id, n.id, NULL, s.damaged, s.qty, s.qty, n.updated_at, <SAID_CREATED>
      FROM new_rows n CROSS JOIN LATERAL (VALUES (false, n.stock_qty), (true, n.damaged_qty)) s (damaged, qty)
      WHERE s.qty <> 0;
  ELSE
    INSERT INTO catalogue_stockadjustment (<LEDGER>)
      SELECT n.shop_id, n.product_id, n.id, false, n.stock_qty, n.stock_qty, n.updated_at, <SAID_CREATED>
      FROM new_rows n WHERE n.stock_qty <> 0;
  END IF;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_stock_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  said jsonb := NULLIF(current_setting('storefront.stock_change', true), '')::jsonb;
BEGIN
  IF TG_TABLE_NAME = 'catalogue_variant' THEN
    INSERT INTO catalogue_stockadjustment (<LEDGER>)
      SELECT NEW.shop_id, NEW.product_id, NEW.id, false, NEW.stock_qty::bigint - OLD.stock_qty, NEW.stock_qty,
        NEW.updated_at, <SAID_CHANGED>;
    RETURN NULL;
  END IF;
  IF NEW.stock_qty <> OLD.stock_qty THEN
    INSERT INTO catalogue_stockadjustment (<LEDGER>)
      SELECT NEW.shop_id, NEW.id, NULL, false, NEW.stock_qty::bigint - OLD.stock_qty, NEW.stock_qty,
        NEW.updated_at, <SAID_CHANGED>;
  END IF;
  IF NEW.damaged_qty <> OLD.damaged_qty THEN
    INSERT INTO catalogue_stockadjustment (<LEDGER>)
      SELECT NEW.shop_id, NEW.id, NULL, true, NEW.damaged_qty::bigint - OLD.damaged_qty, NEW.damaged_qty,
        NEW.updated_at, <SAID_CHANGED>;
  END IF;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_stock_removed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  said jsonb := jsonb_set(
    COALESCE(NULLIF(current_setting('storefront.stock_change', true), ''), '{}')::jsonb, '{kind}', '"removed"');
BEGIN
  INSERT INTO catalogue_stockadjustment (<LEDGER>)
    SELECT OLD.shop_id, OLD.product_id, OLD.id, false, -OLD.stock_qty::bigint, 0,
      COALESCE((said ->> 'made_at')::timestamptz, now()), <SAID_REMOVED>;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_price_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'catalogue_product' THEN
    INSERT INTO catalogue_pastprice (shop_id, product_id, variant_id, price, until)
      VALUES (NEW.shop_id, NEW.id, NULL, OLD.price, NEW.updated_at);
  ELSE
    INSERT INTO catalogue_pastprice (shop_id, product_id, variant_id, price, until)
      VALUES (NEW.shop_id, NEW.product_id, NEW.id, OLD.price, NEW.updated_at);
  END IF;
  RETURN NULL;
END $$
;;
CREATE FUNCTION catalogue_histories_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_stockadjustment WHERE product_id = OLD.id;
  DELETE FROM catalogue_pastprice WHERE product_id = OLD.id;
  DELETE FROM catalogue_oldslug WHERE product_id = OLD.id;
  DELETE FROM catalogue_lastchange WHERE product_id = OLD.id;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_product_stock_made AFTER INSERT ON catalogue_product
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_stock_made()
;;
CREATE TRIGGER catalogue_variant_stock_made AFTER INSERT ON catalogue_variant
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_stock_made()
;;
-- Stock falls below zero only if it is not tracked or backorders are allowed. A stock that is below zero already stays
-- known when backorders end.
CREATE FUNCTION catalogue_stock_falls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'violates check constraint %', TG_NAME USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME;
END
$$
;;
CREATE TRIGGER catalogue_product_stock_holds BEFORE UPDATE OF stock_qty ON catalogue_product
  FOR EACH ROW WHEN (NEW.stock_qty < 0 AND NEW.stock_qty < OLD.stock_qty AND NEW.track_inventory
    AND NOT NEW.allow_backorders)
  EXECUTE FUNCTION catalogue_stock_falls()
;;
CREATE TRIGGER catalogue_variant_stock_holds BEFORE UPDATE OF stock_qty ON catalogue_variant
  FOR EACH ROW WHEN (NEW.stock_qty < 0 AND NEW.stock_qty < OLD.stock_qty AND NEW.track_inventory
    AND NOT NEW.allow_backorders)
  EXECUTE FUNCTION catalogue_stock_falls()
;;
CREATE TRIGGER catalogue_product_stock_changed AFTER UPDATE OF stock_qty, damaged_qty ON catalogue_product
  FOR EACH ROW WHEN (OLD.stock_qty <> NEW.stock_qty OR OLD.damaged_qty <> NEW.damaged_qty)
  EXECUTE FUNCTION catalogue_stock_changed()
;;
CREATE TRIGGER catalogue_variant_stock_changed AFTER UPDATE OF stock_qty ON catalogue_variant
  FOR EACH ROW WHEN (OLD.stock_qty <> NEW.stock_qty) EXECUTE FUNCTION catalogue_stock_changed()
;;
CREATE TRIGGER catalogue_variant_stock_removed AFTER DELETE ON catalogue_variant
  FOR EACH ROW WHEN (OLD.stock_qty <> 0) EXECUTE FUNCTION catalogue_stock_removed()
;;
CREATE TRIGGER catalogue_product_price_changed AFTER UPDATE OF price ON catalogue_product
  FOR EACH ROW WHEN (OLD.price <> NEW.price) EXECUTE FUNCTION catalogue_price_changed()
;;
CREATE TRIGGER catalogue_variant_price_changed AFTER UPDATE OF price ON catalogue_variant
  FOR EACH ROW WHEN (OLD.price <> NEW.price) EXECUTE FUNCTION catalogue_price_changed()
;;
CREATE TRIGGER catalogue_product_histories_gone AFTER DELETE ON catalogue_product
  FOR EACH ROW EXECUTE FUNCTION catalogue_histories_gone()
;;
-- Old slugs: a slug that a row had is kept when it gets another one, and is none any more once a row has it again.
CREATE FUNCTION catalogue_product_slugs_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_oldslug o USING new_rows n
    WHERE o.shop_id = n.shop_id AND o.slug = n.slug AND o.product_id IS NOT NULL AND n.deleted_at IS NULL;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_product_slugs_made AFTER INSERT ON catalogue_product
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_product_slugs_made()
;;
CREATE FUNCTION catalogue_product_slug_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_oldslug
    WHERE shop_id = NEW.shop_id AND slug = NEW.slug AND product_id IS NOT NULL AND NEW.deleted_at IS NULL;
  IF OLD.slug <> NEW.slug AND OLD.deleted_at IS NULL THEN
    INSERT INTO catalogue_oldslug (shop_id, product_id, slug)
      SELECT NEW.shop_id, NEW.id, OLD.slug WHERE NOT EXISTS
        (SELECT 1 FROM catalogue_product p WHERE p.shop_id = NEW.shop_id AND p.slug = OLD.slug AND p.deleted_at IS NULL);
    DELETE FROM catalogue_oldslug WHERE product_id = NEW.id AND id NOT IN
      (SELECT id FROM catalogue_oldslug WHERE product_id = NEW.id ORDER BY id DESC LIMIT <MAX_OLD_SLUGS>);
  END IF;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_product_slug_changed AFTER UPDATE OF slug, deleted_at ON catalogue_product
  FOR EACH ROW WHEN (OLD.slug <> NEW.slug OR OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL)
  EXECUTE FUNCTION catalogue_product_slug_changed()
;;
CREATE FUNCTION catalogue_category_slugs_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_oldslug o USING new_rows n
    WHERE o.shop_id = n.shop_id AND o.slug = n.slug AND o.category_id IS NOT NULL;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_category_slugs_made AFTER INSERT ON catalogue_category
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_category_slugs_made()
;;
CREATE FUNCTION catalogue_category_slug_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_oldslug
    WHERE shop_id = NEW.shop_id AND slug = NEW.slug AND category_id IS NOT NULL;
  IF OLD.slug <> NEW.slug THEN
    INSERT INTO catalogue_oldslug (shop_id, category_id, slug)
      SELECT NEW.shop_id, NEW.id, OLD.slug WHERE NOT EXISTS
        (SELECT 1 FROM catalogue_category p WHERE p.shop_id = NEW.shop_id AND p.slug = OLD.slug);
    DELETE FROM catalogue_oldslug WHERE category_id = NEW.id AND id NOT IN
      (SELECT id FROM catalogue_oldslug WHERE category_id = NEW.id ORDER BY id DESC LIMIT <MAX_OLD_SLUGS>);
  END IF;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_category_slug_changed AFTER UPDATE OF slug ON catalogue_category
  FOR EACH ROW WHEN (OLD.slug <> NEW.slug) EXECUTE FUNCTION catalogue_category_slug_changed()
;;
CREATE FUNCTION catalogue_category_slugs_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_oldslug WHERE category_id = OLD.id;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_category_slugs_gone AFTER DELETE ON catalogue_category
  FOR EACH ROW EXECUTE FUNCTION catalogue_category_slugs_gone()
;;
-- The time of a product's last change and its status, outside its row, as long as the product is not deleted.
CREATE FUNCTION catalogue_changes_made() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO catalogue_lastchange (product_id, shop_id, updated_at, status)
    SELECT n.id, n.shop_id, n.updated_at, n.status FROM new_rows n WHERE n.deleted_at IS NULL;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_product_change_made AFTER INSERT ON catalogue_product
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION catalogue_changes_made()
;;
CREATE FUNCTION catalogue_change_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL THEN
    UPDATE catalogue_lastchange SET updated_at = NEW.updated_at, status = NEW.status WHERE product_id = NEW.id;
  ELSIF NEW.deleted_at IS NULL THEN
    INSERT INTO catalogue_lastchange (product_id, shop_id, updated_at, status)
      VALUES (NEW.id, NEW.shop_id, NEW.updated_at, NEW.status);
  ELSE
    DELETE FROM catalogue_lastchange WHERE product_id = NEW.id;
  END IF;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_product_change_moved AFTER UPDATE OF updated_at, status, deleted_at ON catalogue_product
  FOR EACH ROW WHEN (OLD.updated_at <> NEW.updated_at OR OLD.status <> NEW.status
    OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL))
  EXECUTE FUNCTION catalogue_change_moved()

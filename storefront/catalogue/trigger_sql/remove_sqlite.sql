DROP TRIGGER IF EXISTS catalogue_product_made
;;
DROP TRIGGER IF EXISTS catalogue_product_gone
;;
DROP TRIGGER IF EXISTS catalogue_product_listed
;;
DROP TRIGGER IF EXISTS catalogue_product_placed
;;
DROP TRIGGER IF EXISTS catalogue_link_made
;;
DROP TRIGGER IF EXISTS catalogue_link_gone
;;
DROP TRIGGER IF EXISTS catalogue_link_moved
;;
DROP TRIGGER IF EXISTS catalogue_category_made
;;
DROP TRIGGER IF EXISTS catalogue_category_gone
;;
DROP TRIGGER IF EXISTS catalogue_category_changed
;;
DROP TRIGGER IF EXISTS catalogue_search_made
;;
DROP TRIGGER IF EXISTS catalogue_search_gone
;;
DROP TRIGGER IF EXISTS catalogue_search_changed
;;
DROP TRIGGER IF EXISTS catalogue_product_stock_made
;;
DROP TRIGGER IF EXISTS catalogue_product_stock_changed
;;
DROP TRIGGER IF EXISTS catalogue_product_stock_begins
;;
DROP TRIGGER IF EXISTS catalogue_product_stock_holds
;;
DROP TRIGGER IF EXISTS catalogue_variant_stock_begins
;;
DROP TRIGGER IF EXISTS catalogue_variant_stock_holds
;;
DROP TRIGGER IF EXISTS catalogue_variant_stock_made
;;
DROP TRIGGER IF EXISTS catalogue_variant_stock_changed
;;
DROP TRIGGER IF EXISTS catalogue_variant_stock_removed
;;
DROP TRIGGER IF EXISTS catalogue_product_price_changed
;;
DROP TRIGGER IF EXISTS catalogue_variant_price_changed
;;
DROP TRIGGER IF EXISTS catalogue_product_histories_gone
;;
DROP TRIGGER IF EXISTS catalogue_note_taken
;;
DROP VIEW IF EXISTS catalogue_note
;;
DROP TABLE IF EXISTS catalogue_quiet
;;
DROP TABLE IF EXISTS catalogue_stockchange

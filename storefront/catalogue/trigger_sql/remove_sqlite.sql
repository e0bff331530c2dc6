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
DROP TRIGGER IF EXISTS catalogue_note_taken
;;
DROP VIEW IF EXISTS catalogue_note
;;
DROP TABLE IF EXISTS catalogue_quiet

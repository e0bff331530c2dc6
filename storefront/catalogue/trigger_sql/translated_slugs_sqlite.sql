-- Slugs in further languages, as the column `translations` has them. One that a row has no more stays as an old one,
-- until another row gets it. One that another row has violates the table's constraint.
CREATE TRIGGER catalogue_<KIND>_translated_made AFTER INSERT ON catalogue_<KIND>
WHEN NEW.translations IS NOT NULL BEGIN
  <WRITE>
END
;;
CREATE TRIGGER catalogue_<KIND>_translated_changed AFTER UPDATE OF <WATCHED> ON catalogue_<KIND>
WHEN OLD.translations IS NOT NEW.translations<OR_LIVE> BEGIN
  <WRITE>
END
;;
CREATE TRIGGER catalogue_<KIND>_translations_gone AFTER DELETE ON catalogue_<KIND> BEGIN
  DELETE FROM catalogue_translatedslug WHERE <KIND>_id = OLD.id;
END

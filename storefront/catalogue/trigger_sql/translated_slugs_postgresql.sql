-- Slugs in further languages, as the column `translations` has them. One that a row has no more stays as an old one,
-- until another row gets it. One that another row has violates the table's constraint.
CREATE FUNCTION catalogue_<KIND>_slugs_translated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  given jsonb := CASE WHEN <LIVE> AND jsonb_typeof(NEW.translations) = 'object' THEN NEW.translations ELSE '{}' END;
BEGIN
  UPDATE catalogue_translatedslug t SET current = false
    WHERE t.<KIND>_id = NEW.id AND t.current AND t.slug IS DISTINCT FROM given -> t.language ->> 'slug';
  DELETE FROM catalogue_translatedslug t USING jsonb_each(given) e
    WHERE t.shop_id = NEW.shop_id AND t.<KIND>_id IS NOT NULL AND NOT t.current
    AND t.language = e.key AND t.slug = e.value ->> 'slug';
  INSERT INTO catalogue_translatedslug (shop_id, <KIND>_id, language, slug, current)
    SELECT NEW.shop_id, NEW.id, e.key, e.value ->> 'slug', true FROM jsonb_each(given) e
    WHERE length(e.key) <= 5 AND length(e.value ->> 'slug') BETWEEN 1 AND 255 AND NOT EXISTS
      (SELECT 1 FROM catalogue_translatedslug t WHERE t.<KIND>_id = NEW.id AND t.language = e.key AND t.current);
  DELETE FROM catalogue_translatedslug WHERE <KIND>_id = NEW.id AND NOT current AND id NOT IN
    (SELECT id FROM catalogue_translatedslug WHERE <KIND>_id = NEW.id ORDER BY id DESC LIMIT <MAX_OLD_SLUGS>);
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_<KIND>_translated_made AFTER INSERT ON catalogue_<KIND>
  FOR EACH ROW WHEN (NEW.translations IS NOT NULL) EXECUTE FUNCTION catalogue_<KIND>_slugs_translated()
;;
CREATE TRIGGER catalogue_<KIND>_translated_changed AFTER UPDATE OF <WATCHED> ON catalogue_<KIND>
  FOR EACH ROW WHEN (OLD.translations IS DISTINCT FROM NEW.translations<OR_LIVE>)
  EXECUTE FUNCTION catalogue_<KIND>_slugs_translated()
;;
CREATE FUNCTION catalogue_<KIND>_translations_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM catalogue_translatedslug WHERE <KIND>_id = OLD.id;
  RETURN NULL;
END $$
;;
CREATE TRIGGER catalogue_<KIND>_translations_gone AFTER DELETE ON catalogue_<KIND>
  FOR EACH ROW EXECUTE FUNCTION catalogue_<KIND>_translations_gone()

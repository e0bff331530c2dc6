"""Files: tables of values, uploads, pictures, and buckets."""

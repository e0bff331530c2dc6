#!/usr/bin/env bash
# Makes the role of web processes, whose statements and waits for locks end in time, and ends idle transactions of all. The image of PostgreSQL runs it for a
# new database; for one that exists: docker compose exec database bash /docker-entrypoint-initdb.d/roles.sh
set -euo pipefail
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'END'
\getenv password POSTGRES_PASSWORD
SELECT 'CREATE ROLE storefront_web LOGIN' WHERE to_regrole('storefront_web') IS NULL \gexec
ALTER ROLE storefront_web PASSWORD :'password';
GRANT storefront TO storefront_web;
ALTER ROLE storefront SET jit = off;
ALTER ROLE storefront_web SET jit = off;
-- PgBouncer refuses the start parameter by which the service sets it.
ALTER ROLE storefront SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE storefront_web SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE storefront_web SET statement_timeout = '30s';
ALTER ROLE storefront_web SET lock_timeout = '10s';
END

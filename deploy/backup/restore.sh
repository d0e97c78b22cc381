#!/usr/bin/env bash
# Restores a backup on a machine without data: restore.sh FOLDER/<time>. The server must not run. VIREO_CONFIG and VIREO_DATA_DIR (or
# DATABASE_URL) name the target, as for the server; the configuration itself is in config/ of the backup. Nothing is overwritten.
set -euo pipefail
# shellcheck source=deploy/backup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ $# != 1 ] || [ ! -d "$1" ]; then fail 'Usage: restore.sh BACKUP'; fi
need rsync
backup=$(cd "$1" && pwd)
bash "$root/deploy/backup/verify.sh" "$backup"
read_places

is_empty() { [ ! -d "$1" ] || [ -z "$(find "$1" -mindepth 1 -print -quit)" ]; }

if [ -n "$embedded" ]; then
  [ -d "$backup/postgres" ] || fail 'This backup is of a database of your own: name one with DATABASE_URL or in the configuration.'
  is_empty "$embedded" || fail "There is a database in $embedded already."
else
  [ -f "$backup/database.dump" ] || fail 'This backup is of an embedded PostgreSQL: take the database section out of the configuration.'
  need psql pg_restore
  tables=$(psql -XqAt -c "select count(*) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')") ||
    fail "The database $PGDATABASE on $PGHOST cannot be reached: make an empty one."
  [ "$tables" = 0 ] || fail "The database $PGDATABASE on $PGHOST is not empty."
fi
for kind in "${!folders[@]}"; do is_empty "${folders[$kind]}" || fail "${folders[$kind]} is not empty."; done
if [ -f "$data/secret.key" ] && ! cmp -s "$data/secret.key" "$backup/secret.key"; then
  fail "$data/secret.key is another key: remove it when nothing needs it."
fi

mkdir -p "$data"
if [ -f "$backup/secret.key" ]; then install -m 0600 "$backup/secret.key" "$data/secret.key"; fi

say 'The files'
for kind in "${!folders[@]}"; do
  [ -d "$backup/storage/$kind" ] || continue
  mkdir -p "${folders[$kind]}"
  # Readable by the group for a web server that sends them; the parent folders restrict access.
  rsync -a --chmod=D755,F644 "$backup/storage/$kind/" "${folders[$kind]}/"
done

say 'The database'
if [ -n "$embedded" ]; then
  mkdir -p "$embedded"
  cp -a "$backup/postgres/." "$embedded/"
  "$node" "$root/deploy/backup/embedded.ts" settle "$embedded"
else
  # Objects of the whole server (owners, comments on extensions) are not restored.
  pg_restore --exit-on-error --no-owner --no-privileges --no-comments --dbname="$PGDATABASE" "$backup/database.dump"
  "$node" "$root/deploy/backup/ahead.ts" | psql -XqAt -v ON_ERROR_STOP=1 >/dev/null
  psql -Xq -c 'analyze'
fi
say 'Restored. Empty Redis if there is one (redis-cli -n NUMBER flushdb), then start the server.'

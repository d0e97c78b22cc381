#!/usr/bin/env bash
# Says whether a backup is whole: verify.sh FOLDER/<time>. Checksums of database, key and configuration, sizes of all files, and
# whether the dump can be read. What it cannot say, a restore on another machine does.
set -euo pipefail
# shellcheck source=deploy/backup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ $# != 1 ] || [ ! -d "$1" ]; then fail 'Usage: verify.sh BACKUP'; fi
cd "$1"
for file in SHA256SUMS FILES; do [ -f "$file" ] || fail "$1 is no backup, or an unfinished one."; done
sha256sum --check --quiet --strict SHA256SUMS >&2 || fail 'The database, the key or the configuration is damaged.'
if [ -f database.dump ]; then
  if command -v pg_restore >/dev/null; then
    pg_restore --list database.dump >/dev/null || fail 'The dump cannot be read: is pg_restore as new as the server?'
  else
    [ "$(head -c 5 database.dump)" = PGDMP ] || fail 'This is no dump in the custom format.'
  fi
elif [ -d postgres/cluster ]; then
  for file in cluster/PG_VERSION password; do [ -f "postgres/$file" ] || fail 'The copy of the embedded PostgreSQL is not whole.'; done
else
  fail 'There is no database in it.'
fi
count=0
while IFS=$'\t' read -r size path; do
  [ "$(stat -c %s "$path" 2>/dev/null)" = "$size" ] || fail "$path is missing or of another size."
  count=$((count + 1))
done <FILES
say "Whole: $count files and the database."

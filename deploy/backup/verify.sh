#!/usr/bin/env bash
# Says whether a backup is whole: verify.sh FOLDER/<time>. Checksums of everything, and whether the dump can be read. With --sizes, of
# the files of the storage only the sizes, for one that was just made. What it cannot say, a restore on another machine does.
set -euo pipefail
# shellcheck source=deploy/backup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

reads=all
if [ "${1:-}" = --sizes ]; then
  reads=sizes
  shift
fi
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
odd=$(find storage -type f -printf '%s\t%p\n' | awk -F '\t' 'of == "list" { size[$NF] = $1; next }
  $2 in size && size[$2] == $1 { delete size[$2] } END { for (path in size) { print path; exit } }' of=list FILES of=disk -)
[ -z "$odd" ] || fail "$odd is missing or of another size."
if [ "$reads" = all ] && [ -s FILES ]; then
  # Backups of older versions have no checksums of files.
  sums=$(awk -F '\t' 'NF == 3 { print $2 "  " $3 }' FILES)
  [ -z "$sums" ] || sha256sum --check --quiet --strict >&2 <<<"$sums" || fail 'A file of the storage is damaged.'
fi
say "Whole: $(wc -l <FILES) files and the database."

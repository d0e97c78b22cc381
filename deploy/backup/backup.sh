#!/usr/bin/env bash
# Saves a running server: backup.sh FOLDER creates FOLDER/<time>/ with the database, the files, the configuration and the secret key.
# VIREO_CONFIG and VIREO_DATA_DIR (or DATABASE_URL) as for the server. Files that an earlier backup contains are linked, not copied.
#   BACKUP_KEEP=7          so many backups are kept
#   BACKUP_PG_DUMP='…'     a command that prints a dump in the custom format, in place of pg_dump on this machine
#   BACKUP_HOOK='…'        called with the folder of the backup before and after the database is saved, for buckets
set -euo pipefail
# shellcheck source=deploy/backup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 1 ] || fail 'Usage: backup.sh FOLDER'
keep=${BACKUP_KEEP:-7}
[[ $keep =~ ^[1-9][0-9]*$ ]] || fail "BACKUP_KEEP is $keep, expected a number above 0."
need rsync flock sha256sum
umask 077
mkdir -p "$1"
target=$(cd "$1" && pwd)
exec 9>"$target/.lock"
flock -n 9 || fail "Another backup into $target is running."
read_places
# Left by killed backups, with passwords in them.
rm -rf "$target"/.20*Z.partial

name=$(date -u +%Y-%m-%dT%H%M%SZ)
work=$target/.$name.partial
last=$(find "$target" -mindepth 1 -maxdepth 1 -type d -name '20*Z' | sort | tail -n 1)
mkdir "$work"
trap 'rm -rf "$work"' EXIT

# Files are written before their row, removed after it, and never changed in place. Therefore: all files, then the database, then new
# files, and none is removed from the backup. Each row then has its files.
save_files() {
  local kind from status
  for kind in "${!folders[@]}"; do
    from=${folders[$kind]}
    [ -d "$from" ] || continue
    mkdir -p "$work/storage/$kind"
    status=0
    rsync -a ${last:+"--link-dest=$last/storage/$kind"} "$from/" "$work/storage/$kind/" || status=$?
    # 24: files vanished meanwhile.
    [ "$status" = 0 ] || [ "$status" = 24 ] || fail "The files of $kind could not be saved (rsync: $status)."
  done
  if [ -n "${BACKUP_HOOK:-}" ]; then bash -c "$BACKUP_HOOK \"\$1\"" hook "$work"; fi
}

save_database() {
  if [ -n "${BACKUP_PG_DUMP:-}" ]; then
    bash -c "$BACKUP_PG_DUMP" >"$work/database.dump"
  elif [ -n "$embedded" ]; then
    [ -d "$embedded" ] || fail "There is no database in $embedded: are VIREO_DATA_DIR and VIREO_CONFIG those of the server?"
    "$node" "$root/deploy/backup/embedded.ts" copy "$embedded" "$work/postgres"
  else
    need pg_dump pg_restore
    pg_dump --format=custom --no-owner --no-privileges --file="$work/database.dump"
  fi
}

save_configuration() {
  local file
  mkdir "$work/config"
  for file in "${configs[@]}"; do cp -p "$file" "$work/config/"; done
  if [ -f "$data/secret.key" ]; then
    cp -p "$data/secret.key" "$work/secret.key"
  elif [ "$secret" = file ]; then
    fail "$data/secret.key is missing: without it, nobody could use the keys in the database."
  fi
}

# Writes FILES: `size<TAB>checksum<TAB>path` of each file. A file linked from the previous backup reuses its checksum, so that it is not
# read again.
list_files() {
  find storage -type f -printf '%i\t%s\t%p\n' >.now
  : >.old
  : >.new
  if [ -n "$last" ] && [ -f "$last/FILES" ]; then
    (cd "$last" && find storage -type f -printf '%i\t%p\n') |
      awk -F '\t' 'of == "old" { if (NF == 3) sum[$3] = $2; next } $2 in sum { print $1 FS sum[$2] FS $2 }' \
        of=old "$last/FILES" of=now - >.old
  fi
  awk -F '\t' 'of == "old" { sum[$1 FS $3] = $2; next }
    ($1 FS $3) in sum { print $2 FS sum[$1 FS $3] FS $3; next } { print $3 >".new" }' of=old .old of=now .now >FILES
  tr '\n' '\0' <.new | xargs -0 -r sha256sum |
    awk -F '\t' 'of == "now" { size[$3] = $2; next }
      { path = substr($0, 67); print size[path] FS substr($0, 1, 64) FS path }' of=now .now of=new - >>FILES
  rm .now .old .new
}

say "Backup into $target/$name"
save_files
say 'The database'
save_database
save_configuration
say 'The files that came meanwhile'
save_files
if [ -n "$buckets" ] && [ -z "${BACKUP_HOOK:-}" ]; then say "Files in the buckets of $buckets are not part of this backup."; fi

{
  echo "made $name"
  # The checkout belongs to root, whoever runs the backup.
  git -c safe.directory="$root" -C "$root" rev-parse HEAD 2>/dev/null | sed 's/^/revision /' || true
} >"$work/ABOUT"
(
  cd "$work"
  mkdir -p storage
  list_files
  sums=$(find . -path ./storage -prune -o -type f -print0 | xargs -0 sha256sum)
  printf '%s\n' "$sums" >SHA256SUMS
)
bash "$root/deploy/backup/verify.sh" --sizes "$work"
sync -f "$work" 2>/dev/null || sync
mv "$work" "$target/$name"
trap - EXIT
say "Made $target/$name"

find "$target" -mindepth 1 -maxdepth 1 -type d -name '20*Z' | sort | head -n "-$keep" | while read -r old; do
  say "Removing $old"
  rm -rf "$old"
done

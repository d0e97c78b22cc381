#!/usr/bin/env bash
# Shared by backup.sh, verify.sh and restore.sh: reads the server's configuration like the server.
# Most variables are for the scripts that source this one:
# shellcheck disable=SC2034

declare -A folders=()
configs=()
data='' secret='' buckets='' embedded=''

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
node=$root/node_modules/.bin/node
[ -x "$node" ] || node=node

say() { printf '%s %s\n' "$(date -u +%H:%M:%S)" "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

need() {
  local program
  for program in "$@"; do
    command -v "$program" >/dev/null || fail "$program is missing: install it (on Debian: rsync, postgresql-client)"
  done
}

# Sets data, secret, buckets, embedded, folders (of kind to path), configs and, for a database of your own, PG* in the environment.
read_places() {
  local name value listed
  listed=$(cd "${VIREO_CWD:-$PWD}" && "$node" "$root/deploy/backup/places.ts") || fail 'The configuration cannot be read.'
  while IFS=$'\t' read -r name value; do
    case $name in
      data) data=$value ;;
      secret) secret=$value ;;
      buckets) buckets=$value ;;
      embedded) embedded=$value ;;
      PG*) export "$name=$value" ;;
      storage/*) folders[${name#storage/}]=$value ;;
      config) configs+=("$value") ;;
    esac
  done <<<"$listed"
}

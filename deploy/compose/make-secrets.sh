#!/usr/bin/env bash
# Generates the secrets, once: the password of the database and the secret of this installation. Keep a copy of the folder secrets/:
# without it a backup of the database cannot be read.
set -euo pipefail
cd "$(dirname "$0")"

if [ -e secrets/vireo.yaml ]; then
  echo 'secrets/vireo.yaml is there already: nothing is changed.' >&2
  exit 0
fi
password=$(openssl rand -hex 24)
secret=$(openssl rand -hex 32)
mkdir -p secrets tls acme
# The folder is not accessible to others, since its files are readable by the users of the containers.
chmod 700 secrets
printf '%s' "$password" >secrets/postgres_password
cat >secrets/vireo.yaml <<YAML
secrets:
  peertube: "$secret"
database:
  password: "$password"
#smtp:
#  password: ""
YAML
chmod 644 secrets/postgres_password secrets/vireo.yaml
echo 'Made secrets/. Keep a copy of it in another place.'

#!/bin/sh
# Builds cblearn's own environment in benchmarks/.env/cblearn (git-ignored); does nothing when it is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
env="$here/../.env/cblearn"
[ -x "$env/bin/python" ] || "${PYTHON:-python3}" -m venv "$env"
"$env/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements-cblearn.txt"
echo "$env/bin/python"

#!/usr/bin/env bash
# Dump the database, or bring a dump back: backup.sh dump FILE | restore FILE
set -euo pipefail

case "${1:-}" in
  dump) pg_dump --format=custom --file="${2:?which file?}" "${WAYBILL_DATABASE_URL}" ;;
  restore) pg_restore --clean --if-exists --dbname="${WAYBILL_DATABASE_URL}" "${2:?which file?}" ;;
  *)
    echo "usage: $0 dump FILE | restore FILE" >&2
    exit 2
    ;;
esac

#!/usr/bin/env bash
# Deploy the API, the poller and the frontend: deploy.sh staging | production | rollback ENVIRONMENT
set -euo pipefail

release="$(git rev-parse --short HEAD)"

deploy() {
  local environment="$1"
  ssh "deploy@${environment}.waybill.example" "waybill-release install ${release} && waybill-release switch ${release}"
  curl --fail --max-time 10 --retry 5 "https://${environment}.waybill.example/healthz"
}

rollback() {
  local environment="$1"
  ssh "deploy@${environment}.waybill.example" "waybill-release switch previous"
  curl --fail --max-time 10 --retry 5 "https://${environment}.waybill.example/healthz"
}

case "${1:-}" in
  staging | production) deploy "$1" ;;
  rollback) rollback "${2:?which environment?}" ;;
  *)
    echo "usage: $0 staging | production | rollback ENVIRONMENT" >&2
    exit 2
    ;;
esac

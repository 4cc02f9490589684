#!/usr/bin/env bash
# Builds the collector of builder.yaml from Go modules, for machines without the container image: tests run it with the very
# collector.yaml that compose mounts. Prints the path of the binary. Does nothing where it is built already.
# Needs Go 1.26 or newer.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
builder_version=v0.165.0
cache="$root/.cache/otelcol"
recipe="$(cat "$root/otel/builder.yaml" "${BASH_SOURCE[0]}" | sha256sum | cut -c1-16)"
binary="$cache/$recipe/otelcol"

if [[ ! -x "$binary" ]]; then
  if ! command -v go >/dev/null; then
    echo 'otel/build-collector.sh: Go 1.26 or newer is needed' >&2
    exit 1
  fi
  work="$cache/work"
  mkdir -p "$work"
  # A binary of another recipe is of no use to anybody; the modules and object files of the build are.
  find "$cache" -mindepth 1 -maxdepth 1 ! -name work -exec rm -rf {} +
  export GOFLAGS="-buildvcs=false -trimpath -p=${GO_BUILD_JOBS:-2}" CGO_ENABLED=0
  cd "$root" # builder.yaml names its output relative to it
  go run "go.opentelemetry.io/collector/cmd/builder@$builder_version" \
    --config otel/builder.yaml --ldflags='-s -w' >&2
  mkdir -p "$(dirname "$binary")"
  mv "$work/otelcol" "$binary"
fi
echo "$binary"

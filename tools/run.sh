#!/bin/sh
# One entry point for a bare clone. usage: tools/run.sh <command> [arguments]
#
# Needs: sh, npm and any Node >= 18 (only to run npm). It installs a pinned pnpm, then
# the workspace, which brings its own Node 24 (node_modules/.bin/node). When nothing
# changed since the last install it starts no package manager and touches no network.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
bin=$root/node_modules/.bin
tools=$root/tools/toolchain
stamp=$root/node_modules/.installed.lock

say() { printf '%s\n' "run: $*" >&2; }

must_write() { # $1: what for. Who runs a service has no business with writing here, and does not need to
  [ -w "$root" ] && return
  say "cannot $1: $(id -un 2>/dev/null || id -u) may not write to $root. Run \`npm run setup\` there as $(stat -c %U "$root"), who owns it."
  exit 1
}

usable_node() { # pinned binary when it runs here, else a new enough node from PATH
  if [ -x "$bin/node" ] && "$bin/node" -e 0 2>/dev/null; then echo "$bin/node"; return; fi
  if node -e 'const [a,b]=process.versions.node.split(".").map(Number);process.exit(a>24||(a===24&&b>=11)?0:1)' 2>/dev/null; then command -v node; return; fi
  say "no usable Node >= 24.11 for $(uname -sm)"; exit 1
}

pnpm() { # the native binary from the toolchain lock; on other platforms whatever npx finds
  case $(uname -sm) in
    "Linux x86_64") exe=$tools/node_modules/@pnpm/exe.linux-x64/pnpm ;;
    "Linux aarch64") exe=$tools/node_modules/@pnpm/exe.linux-arm64/pnpm ;;
    *) exe= ;;
  esac
  if [ -n "$exe" ]; then
    if ! cmp -s "$tools/package-lock.json" "$tools/node_modules/.installed.lock"; then
      (cd "$tools" && npm ci --prefer-offline --loglevel=error --ignore-scripts --no-audit --no-fund >&2)
      cp "$tools/package-lock.json" "$tools/node_modules/.installed.lock"
    fi
    if "$exe" --version >/dev/null 2>&1; then "$exe" "$@"; return; fi
  fi
  npx --yes "pnpm@$(sed -n 's/.*exe.linux-x64": "\(.*\)".*/\1/p' "$tools/package.json")" "$@"
}

install() {
  must_write "install the dependencies, which are missing or older than pnpm-lock.yaml"
  # npm and pnpm keep their caches under HOME; without a usable one keep them in the clone
  if [ ! -w "${HOME:-/nonexistent}" ]; then HOME=$root/.cache/home npm_config_cache=$root/.cache/npm; mkdir -p "$HOME"; export HOME npm_config_cache; fi
  lock=$root/.install.lock
  until mkdir "$lock" 2>/dev/null; do # two commands at once: the second waits for the first
    kill -0 "$(cat "$lock/pid" 2>/dev/null)" 2>/dev/null || { sleep 1; kill -0 "$(cat "$lock/pid" 2>/dev/null)" 2>/dev/null || rm -rf "$lock"; }
    sleep 0.2
  done
  echo $$ >"$lock/pid"
  trap 'rm -rf "$lock"' EXIT
  trap 'exit 130' INT TERM HUP
  if ! cmp -s pnpm-lock.yaml "$stamp"; then
    say "installing dependencies"
    pnpm install --frozen-lockfile --prefer-offline --reporter=append-only >&2
    cp pnpm-lock.yaml "$stamp"
  fi
  rm -rf "$lock"
  trap - EXIT INT TERM HUP
}

web_sources='packages/web/src packages/web/index.html packages/web/vite.config.ts pnpm-lock.yaml'
build_web() { "$node" packages/web/node_modules/vite/bin/vite.js build packages/web --logLevel warn >&2; }
service_sources='packages/*/src packages/server/scripts pnpm-lock.yaml'
build_service() { "$node" packages/server/scripts/bundle.ts >&2; }
built_service=packages/server/dist/bundle/main.js
built_simulator=packages/server/dist/bundle/simulator.js
# a garbage collector that works in smaller steps and sooner, and one heap for all threads of glibc: less memory for a few requests a
# second fewer, which npm run bench -- service shows
service_flags='--max-semi-space-size=2 --heap-growing-percent=60'
run_service() { # $@: its arguments
  MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX:-1}
  export MALLOC_ARENA_MAX
  exec "$node" $service_flags "$service" "$@"
}

stale() { # $1: what was built, the rest: its sources
  [ -n "$(find "$@" -newer "$1" 2>&1 | head -n 1)" ]
}

build() { # the web page and the service, where their sources are newer
  service=$built_service
  simulator=$built_simulator
  # shellcheck disable=SC2086 -- lists of files
  if stale packages/web/dist/index.html $web_sources; then
    if [ -w packages/web ]; then build_web || exit; else say "the web page is not built, or older than its sources: run \`npm run setup\` as $(stat -c %U "$root")"; fi
  fi
  # shellcheck disable=SC2086
  if stale $built_service $service_sources; then
    if [ -w packages/server ]; then build_service || exit; else
      service=packages/server/src/main.ts
      simulator=packages/pve-simulator/src/main.ts
      say "the service is not built, or older than its sources, so it starts from those and takes more memory: run \`npm run setup\` as $(stat -c %U "$root")"
    fi
  fi
}

tests_of() { # file names on the input: the tests of their packages, and of test/ those that are one of them or import one
  while read -r file; do
    case $file in
      packages/*/*) beside=${file#packages/} && beside=packages/${beside%%/*}/test && if [ -d "$beside" ]; then echo "$beside/"; fi ;;
      test/*.test.ts) if [ -e "$file" ]; then echo "$file"; fi ;;
      test/*) grep -rlF --include='*.test.ts' "/${file##*/}\"" test || : ;;
    esac
  done | sort -u
}
test_changed() { # [COMMIT] [vitest's options]: what can be said within two minutes; the rest is for `npm test`
  since=HEAD
  case ${1:--} in -*) ;; *) since=$1; shift ;; esac
  git rev-parse --quiet --verify "$since^{commit}" >/dev/null || { say "--changed: $since is not a commit"; exit 2; }
  tests=$({ git diff --name-only --relative "$since" && git ls-files --others --exclude-standard; } | tests_of)
  if [ -z "$tests" ]; then say "nothing that has tests of its own differs from $since; npm test runs all tests"; exit 0; fi
  say "the tests of what differs from $since, and no others; npm test runs all tests"
  # shellcheck disable=SC2086 -- a list of paths without spaces
  exec "$node" node_modules/vitest/vitest.mjs run $tests "$@"
}

cmd=${1:-help}
[ $# -gt 0 ] && shift
cmp -s pnpm-lock.yaml "$stamp" || install
node=$(usable_node)
PATH=$bin:$PATH
export PATH NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$root/node_modules/.cache/v8}"
case $cmd in
  setup) build; say "set up with Node $("$node" --version)" ;;
  start) build; run_service "$@" ;;
  demo) build; run_service demo "$@" ;;
  openapi) exec "$node" packages/server/src/main.ts "$cmd" "$@" ;;
  simulator) build; exec "$node" "$simulator" "$@" ;;
  test)
    build
    case ${1:-} in
      --changed) shift; test_changed "$@" ;;
      --changed=*) since=${1#*=}; shift; test_changed "$since" "$@" ;;
    esac
    exec "$node" node_modules/vitest/vitest.mjs run "$@"
    ;;
  bench) build; exec "$node" bench/main.ts "$@" ;;
  docs) exec "$node" packages/server/src/main.ts docs "$@" ;; # writes docs/configuration.md
  build) build ;; # the web page and the service, where their sources are newer
  web) build_web ;;
  check) # types, lint with type information and import rules, formatting, unused code, the size of the web page
    "$bin/tsc" -p tsconfig.check.json
    "$bin/tsc" -p packages/web/tsconfig.json
    "$bin/tsc" -p packages/domain/tsconfig.json --noEmit # without the types of any platform
    "$bin/oxlint" --quiet
    "$bin/oxfmt" --check .
    "$bin/knip" --no-progress
    build_web
    "$node" packages/web/scripts/budget.ts
    ;;
  format) "$bin/oxfmt" . ;;
  pack) # tarballs of the library packages in ./artifacts
    case ${1:-} in -h | --help) say "pack: writes the tarballs of the library packages into $root/artifacts; npm install artifacts/*.tgz installs them"; exit 0 ;; esac
    mkdir -p artifacts
    libraries=$(ls packages | grep -vx -e server -e web)
    # one checker each: packages are checked side by side, and several checkers of one would repeat each other's work
    "$bin/tsc" -b --checkers 1 $(for p in $libraries; do echo "packages/$p"; done)
    # pnpm brings the licence by itself, but not where a source is called license.ts
    (
      trap 'for p in $libraries; do rm -f "packages/$p/LICENSE"; done' EXIT
      for p in $libraries; do cp LICENSE "packages/$p/"; done
      pnpm --recursive $(for p in $libraries; do echo "--filter=./packages/$p"; done) pack --pack-destination "$root/artifacts"
    )
    say "the tarballs are in $root/artifacts; install them with: npm install $root/artifacts/*.tgz"
    ;;
  pnpm) pnpm "$@" ;;
  exec) exec "$@" ;;
  *) say "commands: setup start demo simulator openapi build web test check bench docs format pack pnpm exec"; exit 2 ;;
esac

#!/bin/sh
# A throw-away PostgreSQL for the storage contracts. usage: tools/postgres-for-tests.sh start | stop DIRECTORY
#
# start  brings PostgreSQL if it is missing (Debian's package, root only), starts a cluster in a new temporary folder on a free port of
#        the loopback interface, and prints two lines: the URL for RANGEWRIGHT_TEST_POSTGRES, and the folder that `stop` wants.
#        Nothing is kept for durability (fsync off): it is for tests alone.
# stop   stops it and removes the folder.
set -eu

say() { printf '%s\n' "postgres-for-tests: $*" >&2; }

find_bin() { # newest installed version
  for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -rn) $(dirname "$(command -v initdb 2>/dev/null || echo /nowhere/x)"); do
    if [ -x "$dir/initdb" ] && [ -x "$dir/pg_ctl" ] && [ -x "$dir/postgres" ]; then echo "$dir"; return 0; fi
  done
  return 1
}

install_postgres() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { say "PostgreSQL is not installed, and only root on Debian can install it here"; exit 3; }
  say "installing PostgreSQL"
  export DEBIAN_FRONTEND=noninteractive
  mkdir -p /etc/postgresql-common && [ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  apt-get install -qq -y --no-install-recommends postgresql >/dev/null 2>&1 ||
    { apt-get update -qq >&2 && apt-get install -qq -y --no-install-recommends postgresql >&2; }
}

as_owner() { # PostgreSQL refuses to run as root
  if [ "$(id -u)" = 0 ]; then setpriv --reuid="$owner" --regid="$group" --clear-groups "$@"; else "$@"; fi
}

choose_owner() { # any unprivileged account will do
  if [ "$(id -u)" != 0 ]; then owner=$(id -u) group=$(id -g); return; fi
  account=postgres
  id "$account" >/dev/null 2>&1 || account=nobody
  owner=$(id -u "$account") group=$(id -g "$account")
}

start() {
  bin=$(find_bin) || { install_postgres; bin=$(find_bin) || { say "no usable PostgreSQL after installing it"; exit 3; }; }
  choose_owner
  dir=$(mktemp -d "${TMPDIR:-/tmp}/rangewright-postgres.XXXXXX")
  [ "$(id -u)" != 0 ] || chown "$owner:$group" "$dir"
  chmod 700 "$dir"
  cd "$dir"
  as_owner "$bin/initdb" --pgdata="$dir/data" --username=rangewright --auth=trust --encoding=UTF8 --locale=C --no-sync >"$dir/initdb.log" 2>&1 ||
    { cat "$dir/initdb.log" >&2; rm -rf "$dir"; exit 1; }
  # a free port can be taken between being found and being used: then the next one is tried
  port=$((20000 + $$ % 10000))
  tries=0
  until as_owner "$bin/pg_ctl" --pgdata="$dir/data" --log="$dir/server.log" --timeout=30 --wait start \
    --options="-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$dir -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB -c max_connections=60" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || { cat "$dir/server.log" >&2; rm -rf "$dir"; exit 1; }
    port=$((port + 1))
  done
  echo "postgres://rangewright@127.0.0.1:$port/postgres"
  echo "$dir"
}

stop() {
  dir=$1
  case $dir in */rangewright-postgres.*) ;; *) say "not a folder made by this command: $dir"; exit 2 ;; esac
  bin=$(find_bin) || exit 0
  choose_owner
  cd /
  if [ -f "$dir/data/postmaster.pid" ]; then as_owner "$bin/pg_ctl" --pgdata="$dir/data" --mode=immediate --wait stop >/dev/null 2>&1 || true; fi
  rm -rf "$dir"
}

case ${1:-} in
  start) start ;;
  stop) [ $# = 2 ] || { say "usage: stop DIRECTORY"; exit 2; }; stop "$2" ;;
  *) say "usage: start | stop DIRECTORY"; exit 2 ;;
esac

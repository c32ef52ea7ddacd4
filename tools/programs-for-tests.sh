#!/bin/sh
# Brings the programs of the host that some tests run for real: git, Ansible, a sandbox, an SSH server, network tools. Tests that miss one
# are skipped and say so. Installs what is missing where that is possible (Debian's packages, root only), and ends with 0 either way.
set -eu

say() { printf '%s\n' "programs-for-tests: $*" >&2; }

# program:package
wanted='git:git ansible-playbook:ansible-core bwrap:bubblewrap sshpass:sshpass sshd:openssh-server ssh:openssh-client ip:iproute2 nft:nftables dnsmasq:dnsmasq-base'

missing=
for pair in $wanted; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || [ -x "/usr/sbin/${pair%%:*}" ] || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  say "missing:$missing; only root on Debian can install them here, so the tests that need them are skipped"
  exit 0
fi
say "installing$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 -- a list of packages
apt-get install -qq -y --no-install-recommends $missing >/dev/null 2>&1 ||
  { apt-get update -qq >&2 && apt-get install -qq -y --no-install-recommends $missing >/dev/null; } ||
  say "not all could be installed: the tests that need them are skipped"

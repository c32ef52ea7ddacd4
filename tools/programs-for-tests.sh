#!/bin/sh
# Brings the programs of the host that some tests run for real: git, Ansible, a sandbox, an SSH server, network tools, Packer, a browser. Tests that miss one
# are skipped and say so. Installs what is missing where that is possible (Debian's packages, root only), and ends with 0 either way.
set -eu

say() { printf '%s\n' "programs-for-tests: $*" >&2; }

# program:package
wanted='git:git ansible-playbook:ansible-core ansible-lint:ansible-lint bwrap:bubblewrap sshpass:sshpass sshd:openssh-server ssh:openssh-client ip:iproute2 nft:nftables iptables:iptables dnsmasq:dnsmasq-base ifup:ifupdown dhclient:isc-dhcp-client sudo:sudo conntrack:conntrack openssl:openssl packer:packer xorriso:xorriso wg:wireguard-tools wireguard-go:wireguard-go chromium:chromium firefox-esr:firefox-esr qemu-system-x86_64:qemu-system-x86'
# those that the built-in playbooks use; the package `ansible` has them among a hundred others
collections='ansible/posix ansible/windows chocolatey/chocolatey community/general community/windows microsoft/ad'
packaged=/usr/lib/python3/dist-packages/ansible_collections
own=/usr/share/ansible/collections/ansible_collections

missing=
for pair in $wanted; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || [ -x "/usr/sbin/${pair%%:*}" ] || missing="$missing ${pair#*:}"
done
absent=
for collection in $collections; do
  [ -d "$packaged/$collection" ] || [ -d "$own/$collection" ] || absent="$absent $collection"
done
[ -n "$missing$absent" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  say "missing:$missing$absent; only root on Debian can install them here, so the tests that need them are skipped"
  exit 0
fi
say "installing$missing$absent"
export DEBIAN_FRONTEND=noninteractive

# Takes the collections alone out of the package: a second, where all of it needs minutes to unpack and to compile.
bring_collections() {
  folder=$(mktemp -d)
  (cd "$folder" && apt-get download -qq ansible 2>/dev/null) || return 1
  mkdir -p "$own"
  # shellcheck disable=SC2086 -- a list of folders
  dpkg-deb --fsys-tarfile "$folder"/ansible_*.deb |
    tar -x -C "$own" --strip-components=6 $(printf ".$packaged/%s " $absent)
  rm -r "$folder"
}

# shellcheck disable=SC2086 -- a list of packages
bring() {
  { [ -z "$missing" ] || apt-get install -qq -y --no-install-recommends $missing >/dev/null; } &&
    { [ -z "$absent" ] || bring_collections; }
}

bring 2>/dev/null || { apt-get update -qq >&2 && bring; } ||
  say "not all could be installed: the tests that need them are skipped"

import { chmod, chown, cp, mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { must } from "./command.ts"

/** An account that may log in. */
export interface Account {
  readonly name: string
  /** In plain text, or as a crypt hash. */
  readonly password: string
}

/** The address configuration of a network card. */
interface Card {
  readonly address?: string
  readonly gateway?: string
}

/** A host's own folders; programs and libraries are the machine's, read-only. */
const folders: readonly string[] = [
  "dev",
  "home",
  "mnt",
  "opt",
  "proc",
  "root",
  "run/network",
  "run/sshd",
  "srv",
  "sys",
  "tmp",
  "usr",
].concat(
  [
    "apt/apt.conf.d",
    "apt/preferences.d",
    "apt/sources.list.d",
    "default",
    "dhcp/dhclient-exit-hooks.d",
    "dnsmasq.d",
    "init.d",
    "network/if-down.d",
    "network/if-post-down.d",
    "network/if-pre-up.d",
    "network/if-up.d",
    "pam.d",
    "ssh",
    "sysctl.d",
  ].map((name) => `etc/${name}`),
  ["0", "1", "2", "3", "4", "5", "6", "S"].map((level) => `etc/rc${level}.d`),
  [
    "cache/apt/archives/partial",
    "lib/apt/lists/partial",
    "lib/dhcp",
    "lib/dpkg/info",
    "lib/dpkg/updates",
    "lib/misc",
    "lib/sudo/lectured",
    "lib/systemd",
    "log",
    "tmp",
  ].map((name) => `var/${name}`),
)

/** The first process runs as `sysvinit`: tools do not recognize one named like a shell as init, and assume systemd. */
const links = {
  bin: "usr/bin",
  sbin: "usr/sbin",
  lib: "usr/lib",
  lib64: "usr/lib64",
  "var/run": "../run",
  "etc/sysvinit": "/bin/sh",
}

/** These hosts have nothing to protect, and a post-quantum key exchange takes the client a tenth of a second per connection. */
const sshd = `Port 22
KexAlgorithms curve25519-sha256
HostKey /etc/ssh/host_key
PermitRootLogin yes
PasswordAuthentication yes
UsePAM no
UseDNS no
PrintMotd no
PidFile none
MaxStartups 100
MaxSessions 100
Subsystem sftp internal-sftp
`

const firstUser = 1000

const passwd = (people: readonly Account[]): string =>
  people
    .map(({ name }, i) =>
      name === "root" ? "root:x:0:0:root:/root:/bin/sh" : `${name}:x:${firstUser + i}:100::/home/${name}:/bin/sh`,
    )
    .concat(
      "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin",
      "dnsmasq:x:101:65534::/run:/usr/sbin/nologin",
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    )
    .join("\n")

const hashed = async (password: string): Promise<string> =>
  /^\$[0-9a-z]{1,3}\$[^:\s]+$/u.test(password) ? password : (await must("/usr/bin/openssl", "passwd", "-6", password)).trim()

const shadow = async (people: readonly Account[]): Promise<string> => {
  const lines = people.map(async ({ name, password }) => `${name}:${await hashed(password)}:19000:0:99999:7:::\n`)
  return (await Promise.all(lines)).join("")
}

const sudoers = `Defaults env_reset, secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
%users ALL=(ALL:ALL) ALL
`

const pam = `auth required pam_unix.so
account required pam_unix.so
session required pam_permit.so
`

/** As in the template, until an address is set: the first card uses DHCP as soon as it appears. */
const interfaces = (cards: readonly Card[]): string =>
  cards
    .map(({ address, gateway }, index) => {
      const card = `eth${index}`
      if (address === undefined) return index === 0 ? `allow-hotplug ${card}\niface ${card} inet dhcp\n` : ""
      const way = gateway === undefined ? "" : `  gateway ${gateway}\n`
      return `auto ${card}\niface ${card} inet static\n  address ${address}\n${way}`
    })
    .concat("auto lo\niface lo inet loopback\n")
    .join("")

/** Retries more often than Debian's defaults: a simulated boot takes no time, and the network comes up while the client waits. */
const dhclient = `send host-name = gethostname();
request subnet-mask, broadcast-address, routers, domain-name, domain-name-servers, domain-search;
initial-interval 1;
backoff-cutoff 2;
retry 5;
`

/** A client that ends releases its lease and forgets it; this log shows which leases it had. */
const dhclientLog = `[ -z "$new_ip_address" ] || echo "$reason $new_ip_address from $new_dhcp_server_identifier" >>/var/log/dhclient.log
`

/** The script of the first process: host name, sysctl, networks, services, SSH; then it reaps orphaned processes. */
const boot = `#!/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
hostname -F /etc/hostname
mkdir /run/network /run/sshd
for settings in /etc/sysctl.d/*.conf; do [ ! -e "$settings" ] || sysctl -q -p "$settings"; done
ifup -a
ifup --allow=hotplug -a &
for service in /etc/rc2.d/S*; do [ ! -x "$service" ] || "$service" start; done
[ ! -e /etc/ssh/host_key ] || /usr/sbin/sshd -D -e -f /etc/ssh/sshd_config &
echo ready
wait
while :; do sleep 3600; done
`

/** An init script as in Linux distributions without systemd, based on Debian's own helper. */
const service = (program: string, args: string): string => `#!/bin/sh
### BEGIN INIT INFO
# Provides: ${program}
# Default-Start: 2 3 4 5
### END INIT INFO
pid=/run/${program}.pid
case "$1" in
  start) start-stop-daemon --start --quiet --oknodo --pidfile $pid --exec /usr/sbin/${program} -- ${args} ;;
  stop) start-stop-daemon --stop --quiet --oknodo --retry 5 --pidfile $pid --exec /usr/sbin/${program} ;;
  restart|force-reload) "$0" stop; "$0" start ;;
  reload) start-stop-daemon --stop --signal HUP --quiet --oknodo --pidfile $pid --exec /usr/sbin/${program} ;;
  status) start-stop-daemon --status --pidfile $pid --exec /usr/sbin/${program} ;;
  *) exit 2 ;;
esac
`

/** Creates the root folder of a host. */
export const makeRootFolder = async (
  root: string,
  name: string,
  cards: readonly Card[],
  people: readonly Account[],
  /** Absent: no SSH server. */
  hostKey: string | undefined,
): Promise<void> => {
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
  await chmod(join(root, "tmp"), 0o1777)
  for (const [path, target] of Object.entries(links)) await symlink(target, join(root, path))
  // some programs are links to one of several alternatives
  await cp("/etc/alternatives", join(root, "etc/alternatives"), { recursive: true, verbatimSymlinks: true })
  const files: Readonly<Record<string, string>> = {
    "etc/boot": boot,
    "etc/dhcp/dhclient.conf": dhclient,
    "etc/dhcp/dhclient-exit-hooks.d/log": dhclientLog,
    "etc/fstab": "",
    "etc/passwd": passwd(people),
    "etc/group": "root:x:0:\nusers:x:100:\nnogroup:x:65534:\n",
    "etc/hostname": `${name}\n`,
    "etc/hosts": `127.0.0.1 localhost\n127.0.1.1 ${name}\n`,
    "etc/pam.d/other": pam,
    "etc/pam.d/su": `auth sufficient pam_rootok.so\n${pam}`,
    "etc/pam.d/sudo": pam,
    "etc/resolv.conf": "",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n",
    "etc/debian_version": "12\n",
    "etc/os-release": 'ID=debian\nVERSION_ID="12"\nNAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\n',
    "etc/network/interfaces": interfaces(cards),
    "etc/ssh/sshd_config": sshd,
    "var/lib/dpkg/status": "",
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text)
  await writeFile(join(root, "etc/shadow"), await shadow(people), { mode: 0o600 })
  await writeFile(join(root, "etc/sudoers"), sudoers, { mode: 0o440 })
  if (hostKey !== undefined) await writeFile(join(root, "etc/ssh/host_key"), hostKey, { mode: 0o600 })
  const dnsmasq = service("dnsmasq", "-x /run/dnsmasq.pid -u dnsmasq -7 /etc/dnsmasq.d,.dpkg-dist,.dpkg-old")
  await writeFile(join(root, "etc/init.d/dnsmasq"), dnsmasq, { mode: 0o755 })
  for (const [i, { name: person }] of people.entries()) {
    if (person === "root") continue
    await mkdir(join(root, "home", person), { mode: 0o700 })
    await chown(join(root, "home", person), firstUser + i, 100)
  }
}

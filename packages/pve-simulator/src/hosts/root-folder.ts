import { chmod, cp, mkdir, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { must } from "./command.ts"

/** Folders of a host that are its own; programs and libraries are the machine's, which it sees but cannot change. */
const folders: readonly string[] = ["dev", "home", "mnt", "opt", "proc", "root", "run/sshd", "srv", "sys", "tmp", "usr"].concat(
  [
    "apt/apt.conf.d",
    "apt/preferences.d",
    "apt/sources.list.d",
    "default",
    "dnsmasq.d",
    "init.d",
    "network/if-pre-up.d",
    "ssh",
    "sysctl.d",
  ].map((name) => `etc/${name}`),
  ["0", "1", "2", "3", "4", "5", "6", "S"].map((level) => `etc/rc${level}.d`),
  [
    "cache/apt/archives/partial",
    "lib/apt/lists/partial",
    "lib/dpkg/info",
    "lib/dpkg/updates",
    "lib/misc",
    "lib/systemd",
    "log",
    "tmp",
  ].map((name) => `var/${name}`),
)

/** A first process by the name of a shell would be taken for none, and the host for one with systemd. */
const links = {
  bin: "usr/bin",
  sbin: "usr/sbin",
  lib: "usr/lib",
  lib64: "usr/lib64",
  "var/run": "../run",
  "etc/sysvinit": "/bin/sh",
}

const sshd = `Port 22
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

const accounts = `root:x:0:0:root:/root:/bin/sh
sshd:x:100:65534::/run/sshd:/usr/sbin/nologin
dnsmasq:x:101:65534::/run:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`

/** A service script as Linux distributions without systemd have it, over Debian's own helper. */
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

/** Makes the folder that a host has for its root. `password` is root's. */
export const makeRootFolder = async (root: string, name: string, password: string, hostKey: string): Promise<void> => {
  for (const folder of folders) await mkdir(join(root, folder), { recursive: true })
  await chmod(join(root, "tmp"), 0o1777)
  for (const [path, target] of Object.entries(links)) await symlink(target, join(root, path))
  // some programs are links to one of several of their kind
  await cp("/etc/alternatives", join(root, "etc/alternatives"), { recursive: true, verbatimSymlinks: true })
  const hash = (await must("/usr/bin/openssl", "passwd", "-6", password)).trim()
  const files: Readonly<Record<string, string>> = {
    "etc/passwd": accounts,
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/hostname": `${name}\n`,
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/resolv.conf": "",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n",
    "etc/debian_version": "12\n",
    "etc/os-release": 'ID=debian\nVERSION_ID="12"\nNAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\n',
    "etc/network/interfaces": "auto lo\niface lo inet loopback\n",
    "etc/ssh/sshd_config": sshd,
    "var/lib/dpkg/status": "",
  }
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text)
  await writeFile(join(root, "etc/shadow"), `root:${hash}:19000:0:99999:7:::\n`, { mode: 0o600 })
  await writeFile(join(root, "etc/ssh/host_key"), hostKey, { mode: 0o600 })
  await writeFile(
    join(root, "etc/init.d/dnsmasq"),
    service("dnsmasq", "-x /run/dnsmasq.pid -7 /etc/dnsmasq.d,.dpkg-dist,.dpkg-old"),
    {
      mode: 0o755,
    },
  )
}

import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { must, type Ran, run } from "./command.ts"
import { makeRootFolder } from "./root-folder.ts"
import { makeSwitch } from "./switch.ts"

/** One network card of a host. */
export interface HostNic {
  readonly vlan: number
  readonly mac: string
  /** What DHCP would have given it at its first boot, with the length of its network. */
  readonly address?: string
  readonly gateway?: string
}

export interface HostSpec {
  readonly name: string
  /** The first is `eth0`. */
  readonly nics: readonly HostNic[]
}

/** A host of its own: network, process tree, name and root folder; the programs are the machine's. An SSH server lets root in. */
export interface RealHost {
  readonly name: string
  /** Its root folder as the machine sees it. */
  readonly root: string
  /** IPv4 addresses, without loopback. */
  readonly addresses: () => Promise<readonly string[]>
  /** Runs a program in it. */
  readonly run: (program: string, ...args: readonly string[]) => Promise<Ran>
}

export interface RealHosts {
  /** The namespace that stands for the service's host: in front of a command it runs there. */
  readonly outside: readonly string[]
  readonly add: (spec: HostSpec) => Promise<RealHost>
  /** Everything goes: processes, namespaces, folders. */
  readonly remove: () => Promise<void>
}

export interface HostsOptions {
  /** Root's password on every host. */
  readonly password: string
  /** The network between the service's host and routers: its VLAN here, and the service's address with the length. */
  readonly outer: { readonly vlan: number; readonly address: string }
  /** Networks that the service reaches through an address of the outer one. */
  readonly routes?: readonly { readonly to: string; readonly via: string }[]
}

/** A process that never ends by itself holds the host together; with it everything in the host ends. */
const life = `
set -e
mount --make-rprivate /
mount --rbind /usr "$1/usr"
mount -o remount,bind,ro "$1/usr" 2>/dev/null || true
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount -t tmpfs tmpfs "$1/dev"
mkdir "$1/dev/pts" "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
ln -s /proc/self/fd "$1/dev/fd"
for node in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "$1/dev/\${node%:*}" c 1 "\${node#*:}"; done
mknod -m 666 "$1/dev/tty" c 5 0
hostname "$2"
exec chroot "$1" /etc/sysvinit -c '/usr/sbin/sshd -D -e -f /etc/ssh/sshd_config & echo ready; wait; while :; do sleep 3600; done'
`

const started = (child: ChildProcess, name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let errors = ""
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (errors = `${errors}${text}`.slice(-2000)))
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (text.includes("ready") ? resolve() : undefined))
    child.once("exit", (code) => reject(new Error(`host ${name} ended at once with ${code}: ${errors}`)))
    child.once("error", reject)
  })

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()))

const listens = async (namespace: string): Promise<boolean> =>
  (await run("ip", ["netns", "exec", namespace, "ss", "-Hltn", "sport = :22"])).output.trim() !== ""

/** Makes a place for hosts. Names, namespaces and folders are its own: several may be on one machine at once. */
export const makeRealHosts = async (options: HostsOptions): Promise<RealHosts> => {
  const id = `rw${randomBytes(3).toString("hex")}`
  const folder = await mkdtemp(join(tmpdir(), `${id}-`))
  const lives: ChildProcess[] = []
  const namespaces: string[] = []
  const outside = `${id}-outside`
  let made = 0

  const namespace = async (name: string): Promise<void> => {
    await must("ip", "netns", "add", name)
    namespaces.push(name)
    await must("ip", "-n", name, "link", "set", "lo", "up")
  }
  const network = await makeSwitch(id)
  await namespace(outside)
  await network.plug(outside, "eth0", options.outer.vlan, undefined)
  await must("ip", "-n", outside, "address", "add", options.outer.address, "dev", "eth0")
  for (const { to, via } of options.routes ?? []) await must("ip", "-n", outside, "route", "add", to, "via", via)
  await must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(folder, "host_key"))
  const hostKey = await readFile(join(folder, "host_key"), "utf8")

  const add = async ({ name, nics }: HostSpec): Promise<RealHost> => {
    const own = `${id}-${(made += 1)}`
    const root = join(folder, own)
    await makeRootFolder(root, name, options.password, hostKey)
    await namespace(own)
    for (const [index, { vlan, mac, address, gateway }] of nics.entries()) {
      const device = `eth${index}`
      await network.plug(own, device, vlan, mac)
      if (address !== undefined) await must("ip", "-n", own, "address", "add", address, "dev", device)
      if (gateway !== undefined) await must("ip", "-n", own, "route", "replace", "default", "via", gateway, "dev", device)
    }
    const args = ["netns", "exec", own, "unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child=KILL"]
    const child = spawn("ip", [...args, "/bin/sh", "-c", life, "sh", root, name], { stdio: ["ignore", "pipe", "pipe"] })
    lives.push(child)
    await started(child, name)
    while (!(await listens(own))) await setTimeout(20)
    const inside = async (program: string, ...rest: readonly string[]): Promise<Ran> => {
      const init = (await must("pgrep", "-P", String(child.pid))).trim()
      return run("nsenter", ["--target", init, "--all", "--root", "--wd", program, ...rest])
    }
    return {
      name,
      root,
      run: inside,
      addresses: async () => {
        const shown = await must("ip", "-n", own, "-4", "-o", "address", "show")
        return [...shown.matchAll(/ inet (?<ip>[0-9.]+)\//gu)]
          .flatMap(({ groups }) => groups?.["ip"] ?? [])
          .filter((ip) => !ip.startsWith("127."))
      },
    }
  }

  const remove = async (): Promise<void> => {
    for (const child of lives) child.kill("SIGKILL")
    await Promise.all(lives.map(ended))
    for (const name of namespaces) await run("ip", ["netns", "del", name])
    await network.remove()
    await rm(folder, { recursive: true, force: true })
  }
  return { outside: ["ip", "netns", "exec", outside], add, remove }
}

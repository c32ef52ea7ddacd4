import { type ChildProcess, spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { listens, must, processTree, type Ran, run } from "./command.ts"
import { copyFolder } from "./copy-folder.ts"
import { type Account, makeRootFolder } from "./root-folder.ts"
import type { Port, Switch } from "./switch.ts"

/** One network card of a host, and its network. */
export interface HostNic extends Port {
  readonly mac: string
  /** With its prefix length. Without an address, the first card uses DHCP, as the systems of templates do. */
  readonly address?: string
  readonly gateway?: string
}

export interface HostSpec {
  readonly name: string
  /** The first is `eth0`. */
  readonly nics: readonly HostNic[]
  /** Accounts, instead of those of every host. */
  readonly accounts?: readonly Account[]
  /** Without an SSH server: an installer, which only has addresses. */
  readonly bare?: boolean
  /** A folder to begin with a copy of, instead of a template's. */
  readonly files?: string
}

/** An IPv4 address of a network card. */
export interface HostAddress {
  /** Lower case. */
  readonly mac: string
  readonly address: string
  readonly prefix: number
}

/** A host with its own network, process tree, name and root folder, and the machine's programs. Its accounts log in over SSH. */
export interface RealHost {
  readonly name: string
  /** The path of its root folder on the machine. */
  readonly root: string
  /** IPv4 addresses, without loopback. */
  readonly addresses: () => Promise<readonly string[]>
  readonly cards: () => Promise<readonly HostAddress[]>
  /** The kernel's list of its routes. It changes with each address that an active card gets or loses, and reading it starts no program. */
  readonly routes: () => Promise<string>
  /** Runs a program in it. */
  readonly run: (program: string, ...args: readonly string[]) => Promise<Ran>
  /** Ends everything in it; its folder stays. */
  readonly stop: () => Promise<void>
  /** Boots it again, with new cards if given: its files determine its addresses and services. */
  readonly start: (nics?: readonly HostNic[]) => Promise<void>
  /** Saves its present folder under this name, replacing an earlier one. */
  readonly keep: (name: string) => Promise<void>
  /** Restores the folder saved under this name; false if there is none. Only while the host does not run. */
  readonly goBack: (name: string) => Promise<boolean>
  readonly drop: (name: string) => Promise<void>
  /** Copies its folder, or the one saved under this name; false if there is none. */
  readonly copy: (to: string, name?: string) => Promise<boolean>
  /** Stops it and removes its folders. */
  readonly remove: () => Promise<void>
}

/** Script of the process that never ends by itself and keeps the host alive; everything in the host ends with it. */
const life = `
set -e
mount --make-rprivate /
mount --rbind /usr "$1/usr"
mount -o remount,bind,ro "$1/usr" 2>/dev/null || true
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount -t tmpfs -o mode=755 tmpfs "$1/run"
mount -t tmpfs tmpfs "$1/dev"
mkdir "$1/dev/pts" "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
ln -s /proc/self/fd "$1/dev/fd"
for node in null:3 zero:5 random:8 urandom:9; do mknod -m 666 "$1/dev/\${node%:*}" c 1 "\${node#*:}"; done
mknod -m 666 "$1/dev/tty" c 5 0
exec chroot "$1" /etc/sysvinit /etc/boot
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

const cardsIn = (shown: string): readonly HostAddress[] => {
  const interfaces = JSON.parse(shown) as readonly {
    readonly ifname: string
    readonly address: string
    readonly addr_info: readonly { readonly family: string; readonly local: string; readonly prefixlen: number }[]
  }[]
  return interfaces.flatMap(({ ifname, address: mac, addr_info: addresses }) =>
    ifname === "lo"
      ? []
      : addresses.flatMap(({ family, local, prefixlen }) =>
          family === "inet" ? [{ mac: mac.toLowerCase(), address: local, prefix: prefixlen }] : [],
        ),
  )
}

/** Where a host is created; `own` is part of the names of everything that is created. */
export interface HostPlace {
  readonly own: string
  readonly folder: string
  readonly network: Switch
  readonly accounts: readonly Account[]
  readonly hostKey: string
}

/** Creates and starts a host. */
export const makeHost = async (
  place: HostPlace,
  { name, nics, files, accounts = place.accounts, bare = false }: HostSpec,
): Promise<RealHost> => {
  const { own, network } = place
  const root = join(place.folder, own)
  const people = accounts.some(({ name: one }) => one === "root")
    ? accounts
    : [...place.accounts.filter(({ name: one }) => one === "root"), ...accounts]
  if (files === undefined) await makeRootFolder(root, name, nics, people, bare ? undefined : place.hostKey)
  else await copyFolder(files, root)
  let child: ChildProcess | undefined
  /** The machine's process ID of its first process. */
  let init = ""

  const start = async (cardsNow: readonly HostNic[] = nics): Promise<void> => {
    await must("ip", "netns", "add", own)
    await must("ip", "-n", own, "link", "set", "lo", "up")
    for (const [index, nic] of cardsNow.entries()) await network.plug(own, `eth${index}`, nic, nic.mac)
    const [program, ...args] = [...processTree(own), "/bin/sh", "-c", life, "sh", root]
    child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] })
    await started(child, name)
    init = (await must("pgrep", "-P", String(child.pid))).trim()
    while (!bare && !(await listens(own, "tcp", 22))) await setTimeout(20)
  }
  const cards = async () => cardsIn(await must("ip", "-n", own, "-j", "address", "show"))
  const routes = async () => readFile(`/proc/${child?.pid}/net/fib_trie`, "utf8")
  const inside = async (program: string, ...rest: readonly string[]): Promise<Ran> => {
    if (child === undefined) throw new Error(`host ${name} does not run`)
    return run("nsenter", ["--target", init, "--all", "--root", "--wd", program, ...rest])
  }
  const stop = async (): Promise<void> => {
    child?.kill("SIGKILL")
    if (child !== undefined) await ended(child)
    child = undefined
    await network.unplug(own)
    await run("ip", ["netns", "del", own])
  }
  const keptAt = (kept: string): string => join(place.folder, `${own}.kept`, kept)
  const everything = { recursive: true, force: true } as const
  await start()
  return {
    name,
    root,
    run: inside,
    cards,
    routes,
    addresses: async () => (await cards()).map(({ address }) => address),
    stop,
    start,
    keep: (kept) => copyFolder(root, keptAt(kept)),
    goBack: async (kept) => {
      if (child !== undefined) throw new Error(`host ${name} runs: it cannot be rolled back to ${kept}`)
      if (!existsSync(keptAt(kept))) return false
      await copyFolder(keptAt(kept), root)
      return true
    },
    copy: async (to, kept) => {
      const from = kept === undefined ? root : keptAt(kept)
      if (!existsSync(from)) return false
      await copyFolder(from, to)
      return true
    },
    drop: (kept) => rm(keptAt(kept), everything),
    remove: async () => {
      await stop()
      await rm(root, everything)
      await rm(keptAt(""), everything)
    },
  }
}

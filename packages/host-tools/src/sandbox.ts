import { lstatSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inwardSocket } from "./inward.ts"
import { relaySocket } from "./relay.ts"

/** A folder or file of the host that a sandboxed program sees. */
export interface Mount {
  readonly from: string
  /** Where it sees it; its own path where absent. */
  readonly to?: string
  readonly writable?: boolean
}

/** What programs of a Linux host need to run at all. Of `/etc` only what is nobody's secret. */
const systemFiles = [
  "/usr",
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/hosts",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/group",
  "/etc/pki",
  "/etc/resolv.conf",
  "/etc/services",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
]

/**
 * What of `/proc` turns the kernel's wheels for the whole host. Its files are root's by their mode alone: a service that is root could turn
 * them without any capability, and a role with it (`core_pattern` names a program that the host runs).
 */
const kernelFiles = ["/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sysrq-trigger"]

const systemLinks = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

/** On hosts with a merged `/usr` they are links, which the sandbox gets too; on others folders. */
const systemFolder = (path: string): readonly string[] => {
  try {
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path]
  } catch {
    return []
  }
}

/** Bytes of the folders in memory that a sandboxed program may write to, each. */
const [temporaryBytes, sharedMemoryBytes] = [1024 ** 3, 64 * 1024 ** 2]

const temporary = (path: string, bytes = temporaryBytes): readonly string[] => ["--size", String(bytes), "--tmpfs", path]

/**
 * Inside, whoever the service is, is nobody: root's tools do not take themselves for what they are not, and SSH, which wants a name for
 * its user, finds one where the service's account is known to a directory or to the system's manager alone, or to nobody.
 */
const nobody = { id: "65534", home: "/nonexistent" }

/**
 * Arguments of bwrap, before the program: process tree and user namespace of its own, which end with ours and make no further ones; a network
 * namespace that leads nowhere; no capabilities; nothing of the kernel to set; of the host's files nothing but the system's programs
 * and these mounts. What it can write to is limited in size, or is one of the mounts.
 */
export const sandboxArguments = (mounts: readonly Mount[], network: "own" | "given" = "own"): readonly string[] => [
  "--die-with-parent",
  "--new-session",
  "--unshare-user",
  "--uid",
  nobody.id,
  "--gid",
  nobody.id,
  "--disable-userns",
  ...(network === "own" ? ["--unshare-net"] : []),
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--cap-drop",
  "ALL",
  ...systemFiles.flatMap((path) => ["--ro-bind-try", path, path]),
  ...systemLinks.flatMap(systemFolder),
  "--proc",
  "/proc",
  ...kernelFiles.flatMap((path) => ["--ro-bind-try", path, path]),
  "--dev",
  "/dev",
  ...temporary("/dev/shm", sharedMemoryBytes),
  "--remount-ro",
  "/dev",
  ...temporary("/tmp"),
  "--dir",
  "/run",
  ...temporary("/var/tmp"),
  // an empty one: some modules work there, whatever HOME says
  ...temporary(nobody.home),
  ...mounts.flatMap(({ from, to, writable }) => [writable === true ? "--bind" : "--ro-bind-try", from, to ?? from]),
  "--remount-ro",
  "/",
]

/** The programs of this package that run in front of tools. */
const filesFolder = join(fileURLToPath(new URL(".", import.meta.url)), "..", "files")

/** Isolated from the user's and the environment's Python: it runs before anything is checked. */
const python = ["python3", "-I", "-S"]

/** A tool behind the gate: in its network namespace it finds an HTTP proxy, which leads to the relay in its working folder. */
const gated = (tool: readonly string[]): readonly string[] => [...python, join(filesFolder, "gate.py"), relaySocket, ...tool]

/** Command, in the sense of SSH's `ProxyCommand`, that connects to a host and port over the relay in the working folder. */
export const reachCommand = (...words: readonly string[]): string =>
  [...python, `'${join(filesFolder, "reach.py")}'`, relaySocket, ...words].join(" ")

/** The same as a program that takes a host and a port, as git's `core.gitProxy` is. */
export const gitReachCommand = join(filesFolder, "git-reach")

/** What a tool is given of the host. */
export interface Confinement {
  /** Working folder; writable, and the relay's socket is in it. */
  readonly folder: string
  readonly mounts: readonly Mount[]
}

/** The command line of a tool in a sandbox. The only way out of its network is the relay that is open in its folder (`openRelay`). */
export const sandboxed = (tool: readonly string[], { folder, mounts }: Confinement): readonly string[] => [
  "bwrap",
  ...sandboxArguments([{ from: filesFolder }, ...mounts, { from: folder, writable: true }]),
  "--chdir",
  folder,
  "--",
  ...gated(tool),
]

/** A network of machines that a tool works with as if its host were in it. */
export interface LentNetwork {
  /** The tool's own address there, by which it tells machines where it waits for them. */
  readonly address: string
  /** All addresses of machines, as `192.0.2.0/24`. */
  readonly networks: readonly string[]
  /** Ports of machines that it connects to. */
  readonly ports: readonly number[]
  /** Ports of loopback that lead to hosts which only the relay knows, by their names there, port 80. */
  readonly named: Readonly<Record<string, number>>
}

/**
 * Makes the network namespace: addresses of machines are its own, so that connections to them reach the gate. Who does this has rights in
 * that namespace; what comes after has none.
 */
const makeNetwork = `ip address add "$1/32" dev lo
shift
while [ "$1" != -- ]; do ip route add local "$1" dev lo; shift; done
shift
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"`

/** The command line of a tool in a sandbox that works with machines; ways out and in as `sandboxed` has them, and `inward.ts`. */
export const sandboxedAmong = (
  tool: readonly string[],
  { folder, mounts }: Confinement,
  { address, networks, ports, named }: LentNetwork,
): readonly string[] => [
  "bwrap",
  "--die-with-parent",
  "--unshare-user",
  "--uid",
  nobody.id,
  "--gid",
  nobody.id,
  "--unshare-net",
  "--cap-drop",
  "ALL",
  "--cap-add",
  "CAP_NET_ADMIN",
  "--dev-bind",
  "/",
  "/",
  "--",
  "/bin/sh",
  "-ec",
  makeNetwork,
  "sh",
  address,
  ...networks,
  "--",
  "bwrap",
  ...sandboxArguments([{ from: filesFolder }, ...mounts, { from: folder, writable: true }], "given"),
  "--chdir",
  folder,
  "--",
  ...python,
  join(filesFolder, "machine-gate.py"),
  relaySocket,
  inwardSocket,
  ...ports.map(String),
  ...Object.entries(named).map(([name, port]) => `${name}:${port}`),
  "--",
  ...tool,
]

/** The same tool where there is no sandbox: it uses the relay, and nothing holds it to that. */
export const unconfined = gated

import { lstatSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inwardSocket } from "./inward.ts"
import { relaySocket } from "./relay.ts"

/** A folder or file of the host that a sandboxed program sees. */
export interface Mount {
  readonly from: string
  /** Path inside the sandbox; the same as `from` when absent. */
  readonly to?: string
  readonly writable?: boolean
}

/**
 * What programs of a Linux host need to run at all. From `/etc`, only files without secrets; of folders that contain private keys too, only
 * what is public. An entry may be a link, and what it leads to is mounted; a link inside an entry leads only to what the sandbox has.
 */
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
  "/etc/pki/ca-trust",
  "/etc/pki/tls/cert.pem",
  "/etc/pki/tls/certs",
  "/etc/pki/tls/openssl.cnf",
  "/etc/resolv.conf",
  "/etc/services",
  "/etc/ssl/certs",
  "/etc/ssl/openssl.cnf",
]

/**
 * Parts of `/proc` that control the kernel of the whole host. Only their file mode restricts them to root: if the service runs as root, it
 * and any role could write to them without any capability (`core_pattern` names a program that the host runs).
 */
const kernelFiles = ["/proc/sys", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sysrq-trigger"]

const systemLinks = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

/** On hosts with a merged `/usr` these are symbolic links, which are recreated in the sandbox; on others they are folders. */
const systemFolder = (path: string): readonly string[] => {
  try {
    return lstatSync(path).isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path]
  } catch {
    return []
  }
}

/** Size limits of the tmpfs folders that a sandboxed program may write to. */
const [temporaryBytes, sharedMemoryBytes] = [1024 ** 3, 64 * 1024 ** 2]

const temporary = (path: string, bytes = temporaryBytes): readonly string[] => ["--size", String(bytes), "--tmpfs", path]

/**
 * Inside the sandbox the user is always nobody, whatever the service's account is. Tools run by root do not mistake themselves for root,
 * and SSH, which requires a name for its user, finds one even when the service's account is known only to a directory or to systemd, or has
 * no entry at all.
 */
const nobody = { id: "65534", home: "/nonexistent" }

/**
 * Arguments of bwrap that precede the program: its own process tree and user namespace, which end with ours and allow no nested ones; a
 * network namespace without routes; no capabilities; no writable kernel settings; of the host's files only the system's programs and these
 * mounts. Everything it can write to is limited in size or is one of the mounts.
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
  // an empty folder: some modules work there, whatever HOME says
  ...temporary(nobody.home),
  ...mounts.flatMap(({ from, to, writable }) => [writable === true ? "--bind" : "--ro-bind-try", from, to ?? from]),
  "--remount-ro",
  "/",
]

/** Folder of this package's programs that run in front of tools. */
const filesFolder = join(fileURLToPath(new URL(".", import.meta.url)), "..", "files")

/** Isolated from Python packages and settings of the user and the environment, since it runs before anything is checked. */
const python = ["python3", "-I", "-S"]

/** Puts a tool behind the gate: in its network namespace it finds an HTTP proxy that leads to the relay in its working folder. */
const gated = (tool: readonly string[]): readonly string[] => [...python, join(filesFolder, "gate.py"), relaySocket, ...tool]

/** A command, as for SSH's `ProxyCommand`, that connects to a host and port through the relay in the working folder. */
export const reachCommand = (...words: readonly string[]): string =>
  [...python, `'${join(filesFolder, "reach.py")}'`, relaySocket, ...words].join(" ")

/** The same as a program that takes a host and a port, for git's `core.gitProxy`. */
export const gitReachCommand = join(filesFolder, "git-reach")

/** What a sandboxed tool can access of the host. */
export interface Confinement {
  /** Working folder; writable, and contains the relay's socket. */
  readonly folder: string
  readonly mounts: readonly Mount[]
}

/** The command line of a tool in a sandbox. Its only way onto the network is the relay opened in its folder (`openRelay`). */
export const sandboxed = (tool: readonly string[], { folder, mounts }: Confinement): readonly string[] => [
  "bwrap",
  ...sandboxArguments([{ from: filesFolder }, ...mounts, { from: folder, writable: true }]),
  "--chdir",
  folder,
  "--",
  ...gated(tool),
]

/** A network of machines that a tool works with as if its host were part of it. */
export interface LentNetwork {
  /** The tool's own address in it, which it gives to machines that are to connect back. */
  readonly address: string
  /** The networks of the machines, such as `192.0.2.0/24`. */
  readonly networks: readonly string[]
  /** Ports of machines that the tool connects to. */
  readonly ports: readonly number[]
  /** Loopback ports that lead to port 80 of hosts whose names only the relay knows, by name. */
  readonly named: Readonly<Record<string, number>>
  /** Ports that the tool cannot listen on, because machines that connect to them reach something else. */
  readonly taken?: readonly number[]
}

/**
 * Sets up the network namespace: the machines' addresses become local, so that connections to them reach the gate. This script has rights
 * in that namespace; whatever it starts has none.
 */
const makeNetwork = `ip address add "$1/32" dev lo
shift
while [ "$1" != -- ]; do ip route add local "$1" dev lo; shift; done
shift
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
exec setpriv --ambient-caps=-all --inh-caps=-all -- "$@"`

/**
 * The command line of a sandboxed tool that works with machines. Outgoing connections as in `sandboxed`, incoming ones as in `inward.ts`.
 */
export const sandboxedAmong = (
  tool: readonly string[],
  { folder, mounts }: Confinement,
  { address, networks, ports, named, taken = [] }: LentNetwork,
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
  ...taken.map((port) => `-${port}`),
  "--",
  ...tool,
]

/** The same tool without a sandbox: it uses the relay, but nothing forces it to. */
export const unconfined = gated

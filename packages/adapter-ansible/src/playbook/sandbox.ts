import { lstatSync, readlinkSync } from "node:fs"
import { userInfo } from "node:os"

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

/**
 * Arguments of bwrap, before the program: an own process tree that dies with ours, no capabilities, nothing of the kernel to
 * set, and of the host's files nothing but the system's programs and these mounts. The network is the host's: machines are reached through it.
 */
export const sandboxArguments = (mounts: readonly Mount[]): readonly string[] => [
  "--die-with-parent",
  "--new-session",
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
  "--tmpfs",
  "/tmp",
  "--dir",
  "/run",
  "--dir",
  "/var/tmp",
  // an empty one: some modules work there, whatever HOME says
  "--tmpfs",
  userInfo().homedir,
  ...mounts.flatMap(({ from, to, writable }) => [writable === true ? "--bind" : "--ro-bind-try", from, to ?? from]),
]

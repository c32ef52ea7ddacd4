import { execFile } from "node:child_process"
import { accessSync, constants } from "node:fs"

export interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs a program to its end, without a shell; a non-zero exit code is a result, not an error. */
export const run = (program: string, args: readonly string[], input = ""): Promise<Ran> =>
  new Promise((resolve) => {
    const child = execFile(program, args, { timeout: 60_000, maxBuffer: 16 * 1024 * 1024 }, (error, output, errors) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 127
      resolve({ code, output, errors: errors === "" && error !== null ? error.message : errors })
    })
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })

/** The same for a program that must succeed; returns its output. */
export const must = async (program: string, ...args: readonly string[]): Promise<string> => {
  const { code, output, errors } = await run(program, args)
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} failed with ${code}: ${errors.trim()}`)
  return output
}

/**
 * Prefix of a command that runs it as the first process of its own process tree in a network namespace. The kernel kills the first process
 * when this process ends in any way (as long as it keeps its identity), and all others with it.
 */
export const processTree = (namespace: string): readonly [string, ...string[]] => {
  const apart = ["--mount", "--uts", "--pid", "--fork", "--kill-child=KILL"]
  return ["/usr/bin/setpriv", "--pdeathsig", "KILL", "ip", "netns", "exec", namespace, "unshare", ...apart]
}

/** Whether a program in a network namespace listens on a port. */
export const listens = async (namespace: string, protocol: "tcp" | "udp", port: number): Promise<boolean> =>
  (await run("ip", ["netns", "exec", namespace, "ss", "-Hln", `--${protocol}`, `sport = :${port}`])).output.trim() !== ""

const programs = [
  "/usr/sbin/sshd",
  "/usr/sbin/dnsmasq",
  "/usr/sbin/ifup",
  "/usr/sbin/dhclient",
  "/usr/sbin/iptables-restore",
  "/usr/sbin/nft",
  "/usr/sbin/conntrack",
  "/usr/bin/ip",
  "/usr/bin/openssl",
  "/usr/bin/python3",
  "/usr/bin/setpriv",
  "/usr/bin/sudo",
  "/usr/bin/unshare",
]

const missing = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return false
  } catch {
    return true
  }
}

/** Why this machine cannot run real hosts; undefined if it can. */
export const hostsObstacle = async (): Promise<string | undefined> => {
  if (process.platform !== "linux") return "network namespaces are Linux's"
  if (process.getuid?.() !== 0) return "making network namespaces needs root"
  const absent = programs.find(missing)
  if (absent !== undefined) return `${absent} is not installed`
  const name = `rwprobe${process.pid}`
  const made = await run("ip", ["netns", "add", name])
  if (made.code !== 0) return `network namespaces cannot be made: ${made.errors.trim()}`
  const linked = await run("ip", ["-n", name, "link", "add", "probe", "type", "bridge"])
  await run("ip", ["netns", "del", name])
  return linked.code === 0 ? undefined : `bridges cannot be made: ${linked.errors.trim()}`
}

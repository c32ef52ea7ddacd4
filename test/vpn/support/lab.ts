import { localShell, wireguardServer } from "@rangewright/adapter-wireguard"
import type { ShellCommand } from "@rangewright/ports"
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process"
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, vi } from "vitest"

const programs = [
  "/usr/bin/wg",
  "/usr/bin/wg-quick",
  "/usr/bin/wireguard-go",
  "/usr/sbin/nft",
  "/usr/bin/ip",
  "/usr/bin/python3",
  "/usr/sbin/sshd",
]

const isThere = (path: string, mode: number = constants.X_OK): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const findObstacle = (): string | undefined => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "network namespaces need root on Linux"
  const absent = programs.find((path) => !isThere(path))
  if (absent !== undefined) return `${absent} is not installed`
  if (!isThere("/dev/net/tun", constants.W_OK)) return "there is no /dev/net/tun"
  const probe = `rwvprobe${process.pid}`
  const made = spawnSync("ip", ["netns", "add", probe])
  spawnSync("ip", ["netns", "del", probe])
  return made.status === 0 ? undefined : "network namespaces cannot be made"
}

/** Why this machine cannot run a VPN; undefined when it can. */
export const obstacle = findObstacle()
export const skipNote = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

/** Answers each datagram to one address, from that address. */
const echo = `
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7))
print("ready", flush=True)
while True:
    data, who = s.recvfrom(2048)
    s.sendto(data, who)
`

/** Sends N datagrams at an interval, each answer a line with its number, and prints how many came; \`-N\`: N or more, until input ends. */
const pinger = `
import select, socket, sys, time
source, target, count, interval, patience = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:6])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if source: s.bind((source, 0))
try: s.connect((target, 7))
except OSError:
    print("no route\\n0 0", flush=True)
    sys.exit()
s.setblocking(False)
got, sent = set(), 0
sys.stdout.write("ready\\n")
sys.stdout.flush()
def take(until):
    while True:
        rest = until - time.monotonic()
        ready = select.select([s], [], [], max(0, rest))[0]
        if ready:
            try: got.add(int(s.recv(2048)))
            except OSError: pass
        elif rest <= 0: return
over = False
while (count < 0 and (not over or sent < -count)) or (sent < count and not got):
    at = time.monotonic()
    try: s.send(str(sent).encode())
    except OSError: pass
    sent += 1
    take(at + interval)
    if count < 0 and not over and sent % 20 == 0: over = bool(select.select([sys.stdin], [], [], 0)[0])
if count < 0 or not got:
    end = time.monotonic() + patience
    while len(got) < sent and time.monotonic() < end: take(time.monotonic() + 0.05)
# in one piece: print() may write word by word
sys.stdout.write(f"{sent} {len(got)}\\n")
sys.stdout.flush()
`

/** How many of the sent packets were answered. */
export interface Counted {
  readonly sent: number
  readonly got: number
}

/** A VPN server with ranges behind it and clients in front, each a network namespace. The server is set up as \`wg-quick\` would do. */
export const openVpnLab = async (rangeNumbers: readonly number[]) => {
  const id = `rwv${process.pid.toString(36)}`
  const folder = mkdtempSync(join(tmpdir(), "rangewright-vpn-"))
  const ends: (() => void)[] = []
  const ip = (...args: readonly string[]): void => void execFileSync("ip", args, { stdio: "pipe" })
  const ns = (name: string) => `${id}-${name}`
  const inside = (name: string, program: string, ...args: readonly string[]): string =>
    execFileSync("ip", ["netns", "exec", ns(name), program, ...args], { stdio: "pipe" }).toString()
  const add = (name: string): void => {
    ip("netns", "add", ns(name))
    ends.push(() => void spawnSync("ip", ["netns", "del", ns(name)]))
    ip("-n", ns(name), "link", "set", "lo", "up")
  }
  /** Starts a program in a namespace that ends with this process; returns when it reports that it is ready. */
  const start = async (name: string, ...command: readonly string[]): Promise<ChildProcess> => {
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "ip", "netns", "exec", ns(name), ...command], {
      stdio: ["pipe", "pipe", "inherit"],
    })
    ends.push(() => void child.kill("SIGKILL"))
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve())
      child.once("exit", (code) => reject(new Error(`${command.join(" ").slice(0, 60)} ended with ${code}`)))
    })
    return child
  }
  /** Connects a namespace to a bridge of the server. */
  const plug = (name: string, bridge: string, ...addresses: readonly string[]): void => {
    ip("-n", ns("s"), "link", "add", `v-${name}`, "type", "veth", "peer", "name", "eth0", "netns", ns(name))
    ip("-n", ns("s"), "link", "set", `v-${name}`, "master", bridge, "up")
    for (const address of addresses) ip("-n", ns(name), "address", "add", address, "dev", "eth0")
    ip("-n", ns(name), "link", "set", "eth0", "up")
  }

  // interfaces of wireguard-go share one folder of sockets
  const wg = `${id}s`
  add("s")
  ends.push(() => void spawnSync("ip", ["-n", ns("s"), "link", "del", wg]))
  for (const [bridge, address] of [
    ["pub", "203.0.113.1/24"],
    ["nat", "192.0.2.254/24"],
  ] as const) {
    ip("-n", ns("s"), "link", "add", bridge, "type", "bridge")
    ip("-n", ns("s"), "address", "add", address, "dev", bridge)
    ip("-n", ns("s"), "link", "set", bridge, "up")
  }
  inside("s", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
  const machine = (rangeNumber: number): string => `10.${rangeNumber}.10.10`
  for (const number of rangeNumbers) {
    add(`r${number}`)
    plug(`r${number}`, "nat", `192.0.2.${100 + number}/24`, `${machine(number)}/32`)
    ip("-n", ns(`r${number}`), "route", "add", "default", "via", "192.0.2.254")
    ip("-n", ns("s"), "route", "add", `10.${number}.0.0/16`, "via", `192.0.2.${100 + number}`)
    for (const own of [machine(number), `192.0.2.${100 + number}`]) await start(`r${number}`, "python3", "-c", echo, own)
  }
  const key = execFileSync("wg", ["genkey"]).toString()
  const publicKey = execFileSync("wg", ["pubkey"], { input: key }).toString().trim()
  writeFileSync(join(folder, "server.key"), key, { mode: 0o600 })
  inside("s", "wireguard-go", wg)
  inside("s", "wg", "set", wg, "listen-port", "51820", "private-key", join(folder, "server.key"))
  ip("-n", ns("s"), "address", "add", "198.51.100.1/24", "dev", wg)
  ip("-n", ns("s"), "link", "set", wg, "up", "mtu", "1370")
  for (const own of ["198.51.100.1", "192.0.2.254", "203.0.113.1"]) await start("s", "python3", "-c", echo, own)

  /** Commands on the server's host; `held` is called before each. */
  let held: ((command: ShellCommand) => ShellCommand) | undefined
  const shell = (command: ShellCommand) => {
    const { program, args, ...more } = held?.(command) ?? command
    return localShell({ ...more, program: "ip", args: ["netns", "exec", ns("s"), program, ...args] })
  }
  const counted = (line: string): Counted => {
    const [sent = 0, got = 0] = line.trim().split(/\s+/u).map(Number)
    return { sent, got }
  }
  const comesBack = (name: string, target: string, source: string, packets: number): boolean =>
    counted(inside(name, "python3", "-c", pinger, source, target, String(packets), "0.05", "1").split("\n")[1] ?? "").got > 0
  /** Whether any of five packets to an address is answered; for showing that none is. */
  const reaches = (name: string, target: string, source = ""): boolean => comesBack(name, target, source, 5)
  /** Whether a packet to an address is answered within 20 s: a busy host loses the first ones. */
  const arrives = (name: string, target: string, source = ""): boolean => comesBack(name, target, source, 400)
  let clients = 0
  /** Brings a client up with an unchanged file, and returns when it reaches the server. */
  const addClient = async (name: string, file: string): Promise<void> => {
    add(name)
    plug(name, "pub", `203.0.113.${10 + clients++}/24`)
    await changeFile(name, file)
  }
  const interfaceOf = (name: string): string => `${id}${name}`
  /** Replaces the file of a client. */
  const changeFile = async (name: string, file: string): Promise<void> => {
    const path = join(folder, `${interfaceOf(name)}.conf`)
    spawnSync("ip", ["-n", ns(name), "link", "del", interfaceOf(name)])
    writeFileSync(path, file, { mode: 0o600 })
    inside(name, "env", "WG_QUICK_USERSPACE_IMPLEMENTATION=wireguard-go", "wg-quick", "up", path)
    ends.push(() => void spawnSync("ip", ["-n", ns(name), "link", "del", interfaceOf(name)]))
    expect(arrives(name, "198.51.100.1")).toBe(true)
  }
  /**
   * An SSH server on the server's host, reachable from this host. While `hold` exists, commands that change something do not begin:
   * they say so in `held`, and have no effect.
   */
  const openSsh = async () => {
    const [here, there] = [`172.31.${process.pid % 250}.1`, `172.31.${process.pid % 250}.2`]
    ip("link", "add", `${id}x`, "type", "veth", "peer", "name", "host", "netns", ns("s"))
    ends.push(() => void spawnSync("ip", ["link", "del", `${id}x`]))
    ip("address", "add", `${here}/30`, "dev", `${id}x`)
    ip("link", "set", `${id}x`, "up")
    ip("-n", ns("s"), "address", "add", `${there}/30`, "dev", "host")
    ip("-n", ns("s"), "link", "set", "host", "up")
    const file = (name: string): string => join(folder, name)
    for (const name of ["host-key", "client-key"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file(name)])
    for (const [name, change, path] of [
      ["wg", "set", "/usr/bin/wg"],
      ["nft", "-f", "/usr/sbin/nft"],
    ] as const)
      writeFileSync(
        file(name),
        `#!/bin/sh\nif [ "$1" = "${change}" ] && [ -e ${file("hold")} ]; then touch ${file("held")}; exec sleep 20; fi\nexec ${path} "$@"\n`,
        { mode: 0o755 },
      )
    mkdirSync("/run/sshd", { recursive: true })
    const options = {
      ListenAddress: there,
      HostKey: file("host-key"),
      AuthorizedKeysFile: file("client-key.pub"),
      StrictModes: "no",
      UsePAM: "no",
      PidFile: "none",
      SetEnv: `PATH=${folder}:/usr/sbin:/usr/bin:/sbin:/bin`,
    }
    const configuration = Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`])
    let sshd: ChildProcess | undefined
    const begin = async (): Promise<void> => {
      sshd = spawn(
        "setpriv",
        [
          "--pdeathsig",
          "KILL",
          "ip",
          "netns",
          "exec",
          ns("s"),
          "/usr/sbin/sshd",
          "-D",
          "-e",
          "-f",
          "/dev/null",
          ...configuration,
        ],
        {
          stdio: "ignore",
        },
      )
      await vi.waitFor(() => execFileSync("ip", ["netns", "exec", ns("s"), "sh", "-c", "ss -Hltn | grep -q :22"]), {
        timeout: 20_000,
      })
    }
    const end = (): void => {
      sshd?.kill("SIGKILL")
      // connections have processes of their own
      spawnSync("sh", [
        "-c",
        `for p in $(ip netns pids ${ns("s")}); do case "$(cat /proc/$p/comm)" in sshd*) kill -9 $p;; esac; done`,
      ])
    }
    ends.push(end)
    await begin()
    const fingerprint =
      execFileSync("ssh-keygen", ["-lf", file("host-key.pub")])
        .toString()
        .split(" ")[1] ?? ""
    return { host: there, keyFile: file("client-key"), fingerprint, hold: file("hold"), held: file("held"), begin, end }
  }
  return {
    openSsh,
    publicKey,
    interface: wg,
    folder,
    machine,
    server: wireguardServer({ interface: wg, shell }),
    onServer: (program: string, ...args: readonly string[]): string => inside("s", program, ...args),
    onClient: inside,
    interfaceOf,
    hold: (how: typeof held) => {
      held = how
    },
    /** Answers packets to an address of a namespace: the router and machine of range 7 are `r7`. */
    answer: async (name: string, address: string): Promise<void> => void (await start(name, "python3", "-c", echo, address)),
    addClient,
    changeFile,
    reaches,
    arrives,
    /** Sends packets until it is told to stop, and at least this many; waits this many seconds for the last answers. */
    flow: async (name: string, target: string, { interval = 0.002, least = 100, patience = 20 } = {}) => {
      const child = await start(name, "python3", "-c", pinger, "", target, ...[-least, interval, patience].map(String))
      return async (): Promise<Counted> => {
        const said = new Promise<string>((resolve) => child.stdout?.once("data", (text: Buffer) => resolve(text.toString())))
        child.stdin?.end("over\n")
        return counted(await said)
      }
    },
    close: () => {
      for (const end of ends.reverse()) end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
export type VpnLab = Awaited<ReturnType<typeof openVpnLab>>

/**
 * The cost of a network namespace with a relay for a run of a tool: runs with and without it alternate, and are the same in everything
 * else. The tools are a program that does nothing, and `ansible-playbook` with one task over SSH.
 */
import * as Effect from "effect/Effect"
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dialDirectly } from "../packages/host-tools/src/dial.ts"
import { permission } from "../packages/host-tools/src/reach.ts"
import { openRelay } from "../packages/host-tools/src/relay.ts"
import { runCommand } from "../packages/host-tools/src/run-command.ts"
import { reachCommand, sandboxArguments, sandboxed } from "../packages/host-tools/src/sandbox.ts"
import { systemPath } from "../packages/host-tools/src/places.ts"

const goalMillis = 50

interface Bench {
  readonly folder: string
  readonly port: number
}

/** A tool, given the SSH options for reaching its machine. */
type Tool = (bench: Bench, way: string) => readonly string[]

const nothing: Tool = () => ["true"]
const playbook: Tool = ({ folder, port }, way) => [
  "ansible-playbook",
  "--inventory=machine,",
  "--user=root",
  `--private-key=${join(folder, "key")}`,
  `--extra-vars=ansible_host=127.0.0.1 ansible_port=${port} ansible_ssh_common_args='${way}'`,
  join(folder, "play.yml"),
]

const anyHostKey = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
const overRelay = `${anyHostKey} -o ProxyUseFdpass=yes -o ProxyCommand="${reachCommand("%h", "%p", "pass").replaceAll("'", "")}"`

const run = ({ folder }: Bench, [program = "", ...args]: readonly string[]) =>
  Effect.gen(function* () {
    let said = ""
    const env = {
      PATH: systemPath,
      LC_ALL: "C.UTF-8",
      HOME: join(folder, "home"),
      ANSIBLE_PIPELINING: "1",
      ANSIBLE_SSH_CONTROL_PATH_DIR: "/tmp/ssh",
    }
    const end = yield* runCommand({ program, args, env, folder }, 1_000_000, (_, line) => void (said += `${line}\n`))
    if (end.type !== "exited" || end.code !== 0) throw new Error(`the run failed: ${said}`)
  })

/** Without a namespace, as tools ran in the past: it shares the host's network. */
const shared = (bench: Bench, tool: Tool) => {
  const { folder } = bench
  const args = sandboxArguments([{ from: folder, writable: true }]).filter((word) => word !== "--unshare-net")
  return run(bench, ["bwrap", ...args, "--chdir", folder, "--", ...tool(bench, anyHostKey)])
}

/** With namespace and relay, as tools run now. */
const confined = (bench: Bench, tool: Tool) => {
  const { folder, port } = bench
  const reach = { networks: [], servers: [{ host: "127.0.0.1", port, addresses: ["127.0.0.1"] }], internet: false }
  const nobody = { never: () => Promise.resolve([]), resolve: () => Promise.resolve([]), resolveNamed: () => Promise.resolve([]) }
  const decide = (host: string, at: number) => permission(reach, nobody, host, at)
  const work = Effect.gen(function* () {
    yield* openRelay(folder, { permission: decide, dial: dialDirectly })
    yield* run(bench, sandboxed(tool(bench, overRelay), { folder, mounts: [] }))
  })
  return Effect.scoped(work)
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const sshd = (folder: string, port: number): string => `ListenAddress 127.0.0.1:${port}
HostKey ${folder}/host-key
AuthorizedKeysFile ${folder}/key.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
`

/** A machine to work on: an SSH server on this host's loopback that accepts the benchmark's key. */
const openBench = async (): Promise<Bench & { readonly close: () => void }> => {
  const folder = mkdtempSync(join(tmpdir(), "rw-confinement-"))
  const port = await freePort()
  mkdirSync(join(folder, "home"))
  for (const name of ["host-key", "key"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)])
  writeFileSync(join(folder, "play.yml"), "- {hosts: all, gather_facts: false, tasks: [{ansible.builtin.command: 'true'}]}\n")
  writeFileSync(join(folder, "sshd.conf"), sshd(folder, port))
  const server = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", join(folder, "sshd.conf")], { stdio: ["ignore", "ignore", "pipe"] })
  await new Promise<void>((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`the SSH server ended with ${code}`)))
    server.stderr.on("data", (said: Buffer) => (said.includes("listening") ? resolve() : undefined))
  })
  const close = () => {
    server.removeAllListeners("exit").kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return { folder, port, close }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const tickMillis = 10

/** CPU milliseconds of this process and of all its children that have ended. */
const spentMillis = (): number => {
  const stat = readFileSync("/proc/self/stat", "utf8")
  // fields after the program's name: user and system time, its own and that of its children
  const ticks = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .map(Number)
  return ticks.reduce((sum, each) => sum + each, 0) * tickMillis
}

interface Spent {
  readonly wall: number
  readonly processor: number
}

const spentOn = async (work: Effect.Effect<void, Error>): Promise<Spent> => {
  const [begun, before] = [performance.now(), spentMillis()]
  await Effect.runPromise(work)
  return { wall: performance.now() - begun, processor: spentMillis() - before }
}

/** Prints the cost of namespace and relay. */
export const measureConfinement = async (rounds: number): Promise<void> => {
  const bench = await openBench()
  try {
    console.log(
      `\na run of a tool with the host's network, and with a network of its own and a relay; ${rounds} of each, in turns`,
    )
    for (const [name, tool] of [
      ["nothing", nothing],
      ["ansible-playbook, one task", playbook],
    ] as const) {
      const pairs: (readonly [Spent, Spent])[] = []
      // the first pair reads everything from the disk
      for (let round = -1; round < rounds; round++) {
        const pair = [await spentOn(shared(bench, tool)), await spentOn(confined(bench, tool))] as const
        if (round >= 0) pairs.push(pair)
      }
      const of = (which: 0 | 1) => median(pairs.map((pair) => pair[which].wall))
      const cost = median(pairs.map(([before, after]) => after.wall - before.wall))
      const processor = pairs.reduce((sum, [before, after]) => sum + after.processor - before.processor, 0) / pairs.length
      const verdict = cost <= goalMillis ? "met" : "MISSED"
      console.log(`  ${name}`)
      console.log(
        `    medians                 ${of(0).toFixed(0)} ms and ${of(1).toFixed(0)} ms, ratio ${(of(1) / of(0)).toFixed(2)}`,
      )
      console.log(
        `    costs                   ${cost.toFixed(0)} ms, on processors ${processor.toFixed(0)} ms  goal ${goalMillis}  ${verdict}`,
      )
    }
  } finally {
    bench.close()
  }
}

import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { type Account, giveToOrdinary } from "./account.ts"
import { eventually } from "./eventually.ts"
import { temporaryFolder } from "./folder.ts"
import { onSimulator, type Environment, type Place, type ServiceProcess, startService } from "./service.ts"
import { type SimulatorProcess, startSimulator } from "./simulator.ts"

/** How a command on a machine ended. */
export interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

export interface Login {
  readonly username: string
  readonly password: string
}
const ofTemplate: Login = { username: "debian", password: "debian" }

/** The simulator with real hosts behind its VMs, and the place where a service for them runs. */
export interface RealLab {
  readonly simulator: SimulatorProcess
  readonly place: Place
  /** The prefix of its namespaces' names. */
  readonly id: string
  /** The service's folder. */
  readonly data: string
  readonly start: (more?: Environment) => Promise<ServiceProcess>
  /** Runs a line of shell on a machine over SSH from the service's host, as its user; by default with the template's login. */
  readonly on: (address: string, line: string, login?: Login) => Promise<Ran>
  /** Command lines of all processes on the service's host, except those that act as the hypervisor. */
  readonly running: () => Promise<readonly string[]>
}

/** Longest time of one command, in milliseconds: it may wait for a deploy in progress. */
const patience = 300_000

export const run = (program: string, ...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, args, { timeout: patience, encoding: "utf8" }, (error, output, errors) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 127, output, errors }),
    )
  })

const sshOptions = [
  "StrictHostKeyChecking=no",
  "UserKnownHostsFile=/dev/null",
  "LogLevel=ERROR",
  "PreferredAuthentications=password",
  "ConnectTimeout=5",
  // a router that loads rules forgets connections: keepalives let those continue in which the other side speaks first
  "ServerAliveInterval=2",
].flatMap((option) => ["-o", option])

const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return ""
  }
}

/** The simulator and its hosts belong to root, who alone can make them; the service runs as `account` says. */
export const openRealLab = async (speed: number, account: Account = "ordinary"): Promise<RealLab> => {
  const simulator = await startSimulator(["--real-hosts", "--speed", String(speed)])
  const [, command = ""] = await simulator.program.says(/start there +(.+?) COMMAND/u)
  const [, address = ""] = await simulator.program.says(/reached at +(\S+)/u)
  const place: Place = { launcher: command.split(" "), address, account }
  const outside = place.launcher.at(-1) ?? ""
  const data = temporaryFolder()
  if (account === "ordinary") giveToOrdinary(data)
  const environment = onSimulator(simulator, {
    RANGEWRIGHT_GUEST_AUTOMATION: "ansible",
    RANGEWRIGHT_ANSIBLE_COLLECTIONS: process.env["RANGEWRIGHT_TEST_COLLECTIONS"],
  })
  const [program = "", ...before] = place.launcher
  return {
    simulator,
    place,
    data,
    id: outside.replace(/-outside$/u, ""),
    start: (more = {}) => startService(data, { ...environment, ...more }, [], place),
    on: (host, line, { username, password } = ofTemplate) =>
      run(program, ...before, "sshpass", "-p", password, "ssh", ...sshOptions, `${username}@${host}`, line),
    running: async () => {
      const { output } = await run("ip", "netns", "pids", outside)
      return output
        .split("\n")
        .flatMap((pid) => (pid === "" ? [] : [commandLine(pid)]))
        .filter((line) => line !== "" && !line.includes("/usr/sbin/dnsmasq"))
    },
  }
}

/** Everything of the lab's that the machine shows: namespaces, the link, folders. */
export const tracesOf = async ({ id }: Pick<RealLab, "id">): Promise<readonly string[]> => {
  const namespaces = (await run("ip", "netns", "list")).output.split("\n")
  const links = (await run("ip", "-oneline", "link", "show")).output.split("\n")
  const folders = ["/tmp", "/run/rangewright-hosts"].flatMap((folder) => readdirSync(folder))
  return [...namespaces, ...links, ...folders].filter((line) => line.includes(id))
}

/** Waits until all processes of a killed service have ended. */
export const atRest = (lab: RealLab): Promise<true> =>
  eventually("the end of what the killed service had started", lab.running, (lines) => lines.length === 0)

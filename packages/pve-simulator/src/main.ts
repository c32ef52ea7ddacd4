import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { labTemplates, withTemplates } from "./core/template-names.ts"
import { openLabHosts, type LabHosts } from "./hosts/index.ts"
import { parseCommandLine, usage, UsageError, type CommandLine } from "./options.ts"
import { qemuObstacle, qemuScreens, type Screens } from "./screen/qemu.ts"
import { createSimulator, type HttpListener, type Simulator } from "./simulator.ts"
import type { SshListener } from "./ssh/server.ts"

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Prints one line that says what is wrong, and exits. */
const give = (text: string, code: number): never => {
  process.stderr.write(`simulator: ${text}\n`)
  process.exit(code)
}

const loadState = (simulator: Simulator, path: string): void => {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    give(`cannot read the state file ${path}: ${(error as Error).message}`, 1)
    return
  }
  try {
    simulator.restore(text)
  } catch (error) {
    give(`cannot use the state file ${path}: ${(error as Error).message}; move it away to start with an empty cluster`, 1)
  }
}

/** Writes a new file and renames it, so that a crash leaves the old file intact. */
const storeState = (simulator: Simulator, path: string): void => {
  try {
    writeFileSync(`${path}.new`, simulator.save(), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch (error) {
    give(`cannot write the state file ${path}: ${(error as Error).message}`, 1)
  }
}

interface Running {
  readonly simulator: Simulator
  readonly http: HttpListener
  readonly ssh: SshListener | undefined
  readonly lab: LabHosts | undefined
}

const introduce = ({ simulator, http, ssh, lab }: Running, options: CommandLine): void => {
  const curl = http.fingerprint === undefined ? "curl -s" : "curl -sk"
  const token = `-H 'Authorization: PVEAPIToken=${simulator.rootToken}'`
  const [node = ""] = simulator.state.nodes.keys()
  say(
    `Proxmox VE simulator: ${[...simulator.state.nodes.keys()].join(", ")}; ${simulator.state.guests.size} guests; ${options.speed} times real time`,
  )
  say(`  url            ${http.url}`)
  if (http.fingerprint !== undefined) say(`  fingerprint    ${http.fingerprint}`)
  say(`  root token     ${simulator.rootToken}`)
  say(`  root password  ${simulator.rootPassword}`)
  say(`  control token  ${simulator.controlToken}`)
  if (ssh !== undefined) say(`  ssh            root@${ssh.host} -p ${ssh.port}, host key ${ssh.hostKey}`)
  if (lab !== undefined) {
    const logins = lab.accounts.map(({ name, password }) => `${name}/${password}`).join(", ")
    say(`  real hosts     for VMs with Linux; SSH logins: ${logins} (sudo)`)
    say(`  start there    ${lab.outside.join(" ")} COMMAND   runs a command that reaches the hosts and this API`)
    say(`  reached at     ${lab.link.there}                     the address of servers that run there, from here`)
  }
  say("Try:")
  say(`  ${curl} ${token} '${http.url}/api2/json/cluster/resources?type=vm'`)
  say(`  ${curl} ${token} -d newid=200 -d name=first ${http.url}/api2/json/nodes/${node}/qemu/101/clone`)
  say(`  ${curl} -H 'Authorization: Bearer ${simulator.controlToken}' ${http.url}/simulator/stats`)
}

const openScreens = (): Screens => {
  const obstacle = qemuObstacle()
  if (obstacle !== undefined) throw new Error(`cannot show QEMU's screens: ${obstacle}`)
  return qemuScreens()
}

/** Waits for a listener, or exits with one line that names the option. */
const listening = async <A>(option: string, port: number, listen: Promise<A>): Promise<A> => {
  try {
    return await listen
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const because =
      code === "EADDRINUSE"
        ? `another program listens there; stop it, or choose another port (${option})`
        : code === "EADDRNOTAVAIL" || code === "ENOTFOUND"
          ? "this machine has no such address; choose another one (--host)"
          : message
    throw new Error(`cannot listen on port ${port}: ${because}`, { cause })
  }
}

const open = async (options: CommandLine, lab: LabHosts | undefined): Promise<Running> => {
  const simulator = createSimulator({
    nodes: options.nodes,
    seed: options.seed,
    speed: options.speed,
    templates: withTemplates(labTemplates, options.templates),
    // a range manager could not use a cluster without a prepared zone
    sdnZone: options.nodes > 1 ? "ludus" : undefined,
    ...(lab === undefined ? {} : { backing: lab.guests }),
    ...(options.screens ? { screens: openScreens() } : {}),
  })
  if (options.state !== undefined) {
    loadState(simulator, options.state)
    // report an unwritable file now rather than at the end
    storeState(simulator, options.state)
  }
  const certificateFile = options.state === undefined ? undefined : `${options.state}.pem`
  const host = options.host ?? lab?.link.here ?? "127.0.0.1"
  const { port, sshPort, tls } = options
  const http = await listening("--port", port, simulator.listen({ host, port, tls, certificateFile }))
  const ssh = sshPort === undefined ? undefined : await listening("--ssh-port", sshPort, simulator.ssh({ host, port: sshPort }))
  return { simulator, http, ssh, lab }
}

const run = async (options: CommandLine): Promise<void> => {
  const failed = (vmid: number, error: unknown) => process.stderr.write(`simulator: host of VM ${vmid}: ${String(error)}\n`)
  const lab = options.realHosts ? await openLabHosts(failed) : undefined
  const running = await open(options, lab).catch(async (error: unknown) => {
    await lab?.close()
    throw error
  })
  introduce(running, options)
  // else only an orderly end writes the code compiled so far, and tests kill it
  flushCompileCache()
  const stop = async (): Promise<void> => {
    const { simulator } = running
    if (options.state !== undefined) storeState(simulator, options.state)
    await simulator.close()
    await lab?.close()
    process.exit(0)
  }
  process.once("SIGINT", () => void stop())
  process.once("SIGTERM", () => void stop())
}

try {
  const options = parseCommandLine(process.argv.slice(2))
  if (options.help) say(usage.trimEnd())
  else await run(options)
} catch (error) {
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof UsageError) give(`${text} (--help lists the options)`, 2)
  give(text, 1)
}

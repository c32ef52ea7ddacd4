import { createHash } from "node:crypto"
import type { Timing } from "../core/timing.ts"
import { sleep, start, type Routine } from "../core/routine.ts"
import type { Exec, Guest, GuestOs, StaticAddress } from "../core/state.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import { licenceReport } from "./licence.ts"

type Input = Readonly<Record<string, unknown>>

/** How long a stage takes on a guest that does not have its effect yet. */
const durationOf = (timing: Timing, stage: string, os: GuestOs, input: Input): number => {
  const windows = os.family === "windows"
  const durations: Readonly<Record<string, number>> = {
    address: windows ? timing.addressWindows : timing.addressLinux,
    hostname: windows ? timing.hostnameWindows : timing.hostnameLinux,
    router: timing.router,
    sysprep: timing.sysprep,
    "primary-dc": timing.primaryDc,
    "alt-dc": timing.additionalDc,
    "domain-join": timing.domainJoin,
    packages: timing.packages,
    role: timing.role,
    "windows-base": timing.windowsBase,
    dns: timing.dns,
    firewall: timing.firewall,
    "additional-tools": timing.additionalTools,
    chocolatey: timing.chocolateyPackage * (Array.isArray(input["packages"]) ? Math.max(1, input["packages"].length) : 1),
    office: timing.office,
    "visual-studio": timing.visualStudio,
    "windows-update": timing.windowsUpdate,
    "inspect-windows": timing.inspectWindows,
    "activate-windows": timing.activateWindows,
    "kms-server": timing.kmsServer,
  }
  return Object.hasOwn(durations, stage) ? durations[stage]! : timing.otherStage
}

const digest = (input: string): string => createHash("sha256").update(input).digest("hex")

/** Roles are recorded by name, so that applying one role does not affect another. */
const keyOf = (stage: string, input: Input): string =>
  stage === "role" ? `role:${asText(input["role"] ?? input["name"])}` : stage

const secretKey = /password|passwd|secret|private|token|license_?key/i

/** Masks the secrets in a value, because recorded state can be read. */
const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, secretKey.test(key) ? "********" : masked(inner)]))
}

const addressOf = (input: Input): { index: string; address: StaticAddress } | undefined => {
  const raw = input["address"] ?? input["ip"]
  if (typeof raw !== "string") return undefined
  const [address = "", bits] = raw.split("/")
  const prefix = Number(bits ?? input["prefix"] ?? 24)
  const gateway = input["gateway"]
  const dns = input["dns"]
  return {
    index: asText(input["interface"] ?? 0),
    address: {
      address,
      prefix,
      ...(typeof gateway === "string" ? { gateway } : {}),
      ...(Array.isArray(dns) ? { dns: dns.map(String) } : typeof dns === "string" ? { dns: [dns] } : {}),
    },
  }
}

/** The stages that set a machine's host name. */
const naming = new Set(["hostname", "address", "router", "sysprep"])

/** Records the effect of a stage. */
const apply = (os: GuestOs, stage: string, input: Input): void => {
  if (stage === "address" || stage === "router") {
    const fixed = addressOf(input)
    if (fixed !== undefined) os.addresses[fixed.index] = fixed.address
  }
  const hostname = input["hostname"] ?? (stage === "hostname" ? input["name"] : undefined)
  if (typeof hostname === "string" && naming.has(stage)) os.hostname = hostname
  if (stage === "role") {
    const name = asText(input["role"] ?? input["name"])
    if (!os.roles.includes(name)) os.roles.push(name)
  }
  const held = os.stages[stage]
  const shown = masked(input) as Record<string, unknown>
  os.stages[stage] = typeof held === "object" && held !== null ? { ...held, ...shown } : shown
}

/** The recorded state of a guest, as `guest-facts` prints it and every stage returns it. */
export const factsOf = (os: GuestOs): Record<string, unknown> => ({
  family: os.family,
  hostname: os.hostname,
  ...(os.addresses["0"] === undefined ? {} : { address: os.addresses["0"].address }),
  addresses: os.addresses,
  roles: os.roles,
  stages: os.stages,
})

const parseInput = (text: string): Input | undefined => {
  if (text.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Input) : undefined
  } catch {
    return undefined
  }
}

const never = () => new Error("a wait without a limit ended")

/** Starts a stage; its end is written into `exec`. Stages of one guest run one after another, with a limit over all guests. */
export const runStage = (world: World, guest: Guest, exec: Exec, stage: string): void => {
  const os = guest.os!
  const end = (exitcode: number, output: string, error: string) => {
    exec.exited = true
    exec.exitcode = exitcode
    exec.output = output
    exec.error = error
    exec.endsAt = undefined
    world.stages.get(guest.vmid)?.delete(exec.pid)
    world.trace.add(world.clock.now(), `stage ${guest.vmid} ${stage} ${exitcode}`)
  }
  const input = parseInput(exec.input)
  if (input === undefined) return end(2, "", "the input is not a JSON object")
  function* work(values: Input): Routine<void> {
    const key = keyOf(stage, values)
    const seen = digest(JSON.stringify(values))
    const changed = os.applied[key] !== seen
    const duration = changed ? durationOf(world.timing, stage, os, values) : world.timing.unchangedStage
    exec.endsAt = world.clock.now() + duration
    yield* sleep(world.clock, duration)
    const fault = world.faults.takeStageFault(stage, guest.vmid)
    if (fault !== undefined) return end(1, "", fault.text)
    if (changed) {
      apply(os, stage, values)
      os.applied[key] = seen
    }
    const report = licenceReport(os, stage)
    end(0, JSON.stringify({ changed, state: factsOf(os), ...(report === undefined ? {} : { report }) }), "")
  }
  const oneOfMany = () =>
    world.locks.slot("guest stages", world.timing.guestStages, Number.POSITIVE_INFINITY, never, () => work(input))
  const running = start(
    world.locks.exclusive(`guest ${guest.vmid}`, Number.POSITIVE_INFINITY, never, oneOfMany),
    () => undefined,
    (error) => end(1, "", error instanceof Error ? error.message : String(error)),
  )
  if (exec.exited) return
  const all = world.stages.get(guest.vmid) ?? new Map()
  world.stages.set(guest.vmid, all)
  all.set(exec.pid, running)
}

/** Ends the stages of a guest that is turned off; unfinished work is lost. */
export const stopStages = (world: World, guest: Guest): void => {
  const all = world.stages.get(guest.vmid)
  if (all === undefined) return
  world.stages.delete(guest.vmid)
  for (const running of all.values()) running.interrupt(new Error("the machine was powered off"))
}

import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Cgroups, findCgroups, openCgroup, type RunLimits } from "./cgroups.ts"
import { type Dial, dialDirectly } from "./dial.ts"
import { ownAddresses, permission, type Reach, type Resolve, resolveNamed, resolvePublic, type Surroundings } from "./reach.ts"
import type { Limits } from "./limited.ts"
import { openRelay } from "./relay.ts"
import { type LentNetwork, type Mount, sandboxed, sandboxedAmong, unconfined } from "./sandbox.ts"
import { sandboxAvailability, type SandboxAvailability, type SandboxChoice } from "./sandbox-availability.ts"

/** How tools run on this host. Everything has a safe default. */
export interface ToolOptions {
  readonly sandbox?: SandboxChoice
  /** Whether runs may use the internet; each may be held to less. */
  readonly internet?: boolean
  /** Addresses that no run connects to, beside all that this host has itself: the hypervisor's, the database's. Asked for each connection. */
  readonly never?: () => Promise<readonly string[]>
  /** Of names that tools ask for; the host's name servers where absent. */
  readonly resolve?: Resolve
  readonly limits?: Partial<RunLimits>
  /** Connects from the service's host; its own routes where absent. */
  readonly dial?: Dial
}

/** Where tools run, as it was found when the service started. */
export interface ToolHost {
  readonly sandbox: SandboxAvailability
  readonly choice: SandboxChoice
  readonly internet: boolean
  readonly cgroups: Cgroups
  readonly limits: RunLimits
  readonly surroundings: Surroundings
  readonly dial: Dial
}

const defaultLimits: RunLimits = { processes: 1024, memoryBytes: 4 * 1024 ** 3 }

// a fact of the host: finding them moves this process into a group of its own
const cgroups = Effect.runSync(Effect.cached(Effect.promise(() => findCgroups())))

/** Looks once what this host offers. Never fails: what does not work is in the answer. */
export const openToolHost = (options: ToolOptions = {}): Effect.Effect<ToolHost> =>
  Effect.gen(function* () {
    const { sandbox: choice = "auto", never = () => Promise.resolve([]) } = options
    return {
      sandbox: yield* sandboxAvailability(choice),
      choice,
      internet: options.internet ?? true,
      cgroups: yield* cgroups,
      limits: { ...defaultLimits, ...options.limits },
      surroundings: {
        never: async () => [...ownAddresses(), ...(await never())],
        resolve: options.resolve ?? resolvePublic,
        resolveNamed,
      },
      dial: options.dial ?? dialDirectly,
    }
  })

/** What one run is given. */
export interface RunOptions {
  /** Of this run alone, and its working folder. */
  readonly folder: string
  readonly mounts: readonly Mount[]
  readonly reach: Reach
  /** For addresses that the host has no route to; the host's own routes where absent. */
  readonly dial?: Dial
  readonly onRefused?: (because: string) => void
  /** Machines that it works with. Such a tool runs in a sandbox or not at all. */
  readonly among?: LentNetwork
}

/** A run that is prepared: its relay is open, and its control group is there. */
export interface PreparedRun {
  /** The command line in front of which everything stands that holds the tool to its limits. */
  readonly confine: (tool: readonly string[]) => readonly string[]
  /** Memory is the address space of each process, and what all of them have where there are control groups. */
  readonly limits: Required<Pick<Limits, "joins" | "memoryBytes" | "processes">>
}

/** Prepares a run of a tool; what was opened for it is closed with the scope, and whatever it started ends. */
export const prepareRun = (host: ToolHost, options: RunOptions): Effect.Effect<PreparedRun, Error, Scope.Scope> =>
  Effect.gen(function* () {
    const { folder, mounts, reach, dial = host.dial, onRefused, among } = options
    if (among !== undefined && !host.sandbox.works)
      return yield* Effect.fail(new Error(`it may only run in a sandbox, and ${host.sandbox.because}`))
    const allowed = { ...reach, internet: reach.internet && host.internet }
    yield* openRelay(folder, {
      permission: (name, port) => permission(allowed, host.surroundings, name, port),
      dial,
      ...(onRefused === undefined ? {} : { onRefused }),
    })
    const { joins } = yield* openCgroup(host.cgroups, host.limits)
    return {
      confine: (tool) => {
        if (among !== undefined) return sandboxedAmong(tool, { folder, mounts }, among)
        return host.sandbox.works ? sandboxed(tool, { folder, mounts }) : unconfined(tool)
      },
      limits: { joins, ...host.limits },
    }
  })

import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Cgroups, findCgroups, openCgroup, type RunLimits } from "./cgroups.ts"
import { type Dial, dialDirectly } from "./dial.ts"
import { ownAddresses, permission, type Reach, type Resolve, resolveNamed, resolvePublic, type Surroundings } from "./reach.ts"
import type { Limits } from "./limited.ts"
import { openRelay } from "./relay.ts"
import { type LentNetwork, type Mount, sandboxed, sandboxedAmong, unconfined } from "./sandbox.ts"
import { sandboxAvailability, type SandboxAvailability, type SandboxChoice } from "./sandbox-availability.ts"

/** How tools run on this host. Every option has a safe default. */
export interface ToolOptions {
  readonly sandbox?: SandboxChoice
  /** Whether runs may use the internet; a single run may be restricted further. */
  readonly internet?: boolean
  /** Addresses that no run may connect to, besides all of this host's own: the hypervisor's, the database's. Called for each connection. */
  readonly never?: () => Promise<readonly string[]>
  /** Resolves names that tools ask for; the host's name servers when absent. */
  readonly resolve?: Resolve
  readonly limits?: Partial<RunLimits>
  /** Connects from the service's host; uses its own routes when absent. */
  readonly dial?: Dial
}

/** The tool environment as found at service start. */
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

// once per process: detecting them moves this process into its own group
const cgroups = Effect.runSync(Effect.cached(Effect.promise(() => findCgroups())))

/** Detects what this host offers. Never fails: the result says what does not work. */
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
  /** Used by this run alone; its working folder. */
  readonly folder: string
  readonly mounts: readonly Mount[]
  readonly reach: Reach
  /** For addresses the host has no route to; the host's own routes when absent. */
  readonly dial?: Dial
  readonly onRefused?: (because: string) => void
  /** Machines that the tool works with. Such a tool runs in a sandbox or not at all. */
  readonly among?: LentNetwork
}

/** A prepared run: its relay is open, and its control group exists. */
export interface PreparedRun {
  /** Prefixes the tool's command line with everything that enforces its limits. */
  readonly confine: (tool: readonly string[]) => readonly string[]
  /** Memory limits the address space of each process, and the total of all of them where control groups are available. */
  readonly limits: Required<Pick<Limits, "joins" | "memoryBytes" | "processes">>
}

/** Prepares a run of a tool. Closing the scope closes everything opened for it and ends every process it started. */
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

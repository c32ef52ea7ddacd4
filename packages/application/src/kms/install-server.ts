import { Conflict, Failed, type Fault, type KmsHost, type KmsServer, kmsServerProblem, type UserId } from "@rangewright/domain"
import { type GuestAutomation, type Machines, NameLookup, type Ranges, type RunJournal, type Users } from "@rangewright/ports"
import { endOfRun, type RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { startRun } from "../range/run-to-end.ts"
import { Settings } from "../settings.ts"
import { obstacleOf } from "./able-machines.ts"
import { askingRange } from "./ask-in-turn.ts"
import { askWindows, requireAutomation } from "./ask-windows.ts"
import { configuredKms } from "./kms-host.ts"
import { requireNoRun } from "./license-machines.ts"
import { requireOpenRange } from "./open-range.ts"
import { kmsServerMachine } from "./server-machine.ts"

type Services = GuestAutomation | Machines | NameLookup | Ranges | RunEngine | RunJournal | Settings | Users

/** Sets up a KMS host on a machine of a range, and waits until Windows reports that it is one. */
const setUp = (server: KmsServer, by: UserId): Effect.Effect<string, Fault, Services> =>
  Effect.gen(function* () {
    const doing = `set up a KMS host on ${server.machine}`
    const { machine, range } = yield* kmsServerMachine(server, doing)
    yield* requireOpenRange(range, doing)
    yield* requireAutomation(doing)
    yield* requireNoRun(range)
    const obstacle = (yield* obstacleOf(range))(machine)
    if (obstacle !== undefined) return yield* new Conflict({ what: `Cannot ${doing}: ${obstacle}` })
    const problem = kmsServerProblem(yield* askingRange(range.id, doing)(askWindows(doing, machine)))
    if (problem !== undefined) return yield* new Conflict({ what: `Cannot ${doing}: ${problem}` })
    const { id } = yield* startRun(doing, range, { kind: "kms-install", vmid: machine.vmid }, by)
    yield* endOfRun(doing, id)
    return `${server.machine} (VM ${machine.vmid}) of range ${range.id} is a KMS host`
  })

const connects = ({ host, port }: KmsHost): Effect.Effect<string, Fault, NameLookup> =>
  Effect.flatMap(
    NameLookup.use((names) => names.connects(host, port)),
    (because) =>
      because === undefined
        ? Effect.succeed(`KMS host ${host}:${port} accepts connections. Nothing was installed: it is your own`)
        : Effect.fail(
            new Failed({
              what: `Cannot use the KMS host ${host}:${port}: the service cannot connect to it: ${because}`,
              hint: "Machines may still be able to reach it: POST /kms/license shows it for each of them.",
            }),
          ),
  )

/** Prepares the configured KMS host: sets it up on a machine, or proves that the organization's own answers. */
export const installKms = (by: UserId): Effect.Effect<string, Fault, Services> =>
  Effect.gen(function* () {
    const { host, server } = yield* configuredKms("set up a KMS host")
    const done = server === undefined ? undefined : yield* setUp(server, by)
    // `host` may be another address of that server, reachable from machines only
    return done ?? (host === undefined ? "" : yield* connects(host))
  })

import {
  Conflict,
  Failed,
  type Fault,
  type KmsHost,
  kmsServerProblem,
  NotFound,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import { type GuestAutomation, type Machines, NameLookup, type Ranges, type RunJournal } from "@rangewright/ports"
import { endOfRun, type RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { startRun } from "../range/run-to-end.ts"
import { Settings } from "../settings.ts"
import { machineWithRange, obstacleOf } from "./able-machines.ts"
import { askWindows, requireAutomation } from "./ask-windows.ts"
import { configuredKms } from "./kms-host.ts"
import { requireNoRun } from "./license-machines.ts"
import { requireOpenRange } from "./open-range.ts"

type Services = GuestAutomation | Machines | NameLookup | Ranges | RunEngine | RunJournal | Settings

/** Sets a KMS host up on a machine of a range, and waits until Windows says that it is one. */
const setUp = (vmid: Vmid, by: UserId): Effect.Effect<string, Fault, Services> =>
  Effect.gen(function* () {
    const found = yield* machineWithRange(vmid)
    const doing = `set up a KMS host on ${found?.machine.name ?? `VM ${vmid}`}`
    if (found === undefined)
      return yield* new NotFound({
        what: `Cannot ${doing}: it is no machine of a range`,
        hint: "Deploy a machine with Windows Server, and name its number in the configuration (kms_server).",
      })
    const { machine, range } = found
    yield* requireOpenRange(range, doing)
    yield* requireAutomation(doing)
    yield* requireNoRun(range)
    const obstacle = (yield* obstacleOf(range))(machine)
    if (obstacle !== undefined) return yield* new Conflict({ what: `Cannot ${doing}: ${obstacle}` })
    const problem = kmsServerProblem(yield* askWindows(doing, machine))
    if (problem !== undefined) return yield* new Conflict({ what: `Cannot ${doing}: ${problem}` })
    const { id } = yield* startRun(doing, range, { kind: "kms-install", vmid }, by)
    yield* endOfRun(doing, id)
    return `${machine.name ?? `VM ${vmid}`} (VM ${vmid}) of range ${range.id} is a KMS host`
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
              hint: "Machines may reach it all the same: POST /kms/license tells for each of them.",
            }),
          ),
  )

/** Makes the KMS host ready that the configuration names: sets it up on a machine, or proves that the organisation's own answers. */
export const installKms = (by: UserId): Effect.Effect<string, Fault, Services> =>
  Effect.gen(function* () {
    const { host, server } = yield* configuredKms("set up a KMS host")
    const done = server === undefined ? undefined : yield* setUp(server, by)
    // another address of the same server may be for the machines alone
    return done ?? (host === undefined ? "" : yield* connects(host))
  })

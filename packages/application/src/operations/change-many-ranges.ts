import { Conflict, type Fault, type PowerChange, type Range, type User, type Vmid } from "@rangewright/domain"
import { RunEngine, type StartedRun } from "@rangewright/run-engine"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { countUse } from "../access/count-use.ts"
import { rangeOfBody } from "../access/select-range.ts"
import { Activity } from "../activity.ts"
import { operation } from "../operation/operation.ts"
import { markedText, selectMachines, snapshotProblem } from "../range/change-snapshots.ts"
import { testingStart, testingStop } from "../range/change-testing.ts"
import { deployOptions } from "../range/deploy-options.ts"
import { startRun } from "../range/run-to-end.ts"
import { rangeRequest, type RunRequest } from "../run/request.ts"
import type { HandlerServices } from "../services.ts"
import { tellTemplates } from "../template/tell-templates.ts"
import { ChangeManyResult, itemsOf, reasonOf } from "../wire/bulk.ts"

const actions = [
  "poweron",
  "poweroff",
  "shutdown",
  "reboot",
  "deploy",
  "snapshot",
  "rollback",
  "testing-start",
  "testing-stop",
] as const
type Action = (typeof actions)[number]

/** Starts the run of one range. `name`: that of the snapshot. */
type Begin = (range: Range, user: User, name: string) => Effect.Effect<StartedRun, Fault, HandlerServices>

const power =
  (change: PowerChange): Begin =>
  (range, user) =>
    startRun(
      `change the power of range ${range.id}`,
      range,
      { kind: "power", change, vmids: undefined, ...(change === "reboot" && { whereOn: true }) },
      user.id,
    )

/** Starts a snapshot run for all machines of the range. */
const snapshots = (range: Range, user: User, name: string, doing: string, make: (vmids: readonly Vmid[]) => RunRequest) =>
  Effect.gen(function* () {
    const problem = snapshotProblem(range, name)
    if (problem !== undefined) return yield* new Conflict({ what: `Cannot ${doing}: ${problem}` })
    const { machines } = yield* selectMachines(range, undefined)
    if (machines.length === 0) return yield* new Conflict({ what: `Cannot ${doing}: range ${range.id} has no machines` })
    return yield* startRun(doing, range, make(machines.map(({ vmid }) => vmid)), user.id)
  })

const begin: Readonly<Record<Action, Begin>> = {
  poweron: power("on"),
  poweroff: power("off"),
  shutdown: power("shutdown"),
  reboot: power("reboot"),
  deploy: (range, user) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const options = yield* deployOptions({})
      return yield* engine.start(rangeRequest(range, { kind: "deploy", options }), user.id).pipe(tellTemplates(user))
    }),
  snapshot: (range, user, name) =>
    Effect.flatMap(markedText(""), (description) =>
      snapshots(range, user, name, `take snapshots of range ${range.id}`, (vmids) => ({
        kind: "snapshot-create",
        name,
        description,
        memory: false,
        atomic: false,
        vmids,
      })),
    ),
  rollback: (range, user, name) =>
    snapshots(range, user, name, `roll range ${range.id} back`, (vmids) => ({
      kind: "snapshot-rollback",
      name,
      atomic: false,
      vmids,
    })),
  "testing-start": (range, user) =>
    Effect.flatMap(testingStart, (request) => startRun(`start testing of range ${range.id}`, range, request, user.id)),
  "testing-stop": (range, user) => {
    const doing = `stop testing of range ${range.id}`
    return Effect.flatMap(testingStop(doing, range, false), (request) => startRun(doing, range, request, user.id))
  },
}

const mostRanges = 1000
/** Concurrent starts. */
const atOnce = 8

export const changeManyRanges = operation({
  id: "changeManyRanges",
  route: "POST /bulk",
  group: "Range",
  origin: "ours",
  does: "change many ranges",
  summary: "Begin the same action on all machines of each of these ranges, in a run of its own",
  access: "user",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      action: Schema.Literals(actions),
      rangeIDs: Schema.Array(Schema.String).check(Schema.isMaxLength(mostRanges)),
      /** Name of the snapshot, for `snapshot` and `rollback`. */
      name: Schema.optionalKey(Schema.String),
    }),
  },
  audited: ["action", "rangeIDs"],
  output: { type: "json", schema: ChangeManyResult },
  statuses: {
    200: "the runs that were begun, and why none was for the other ranges",
    400: `the body is malformed; no range is named, or more than ${mostRanges}`,
  },
  handle: ({ body: { action, rangeIDs, name = "" }, caller, user }) =>
    Effect.gen(function* () {
      const activity = yield* Activity
      const items = yield* itemsOf(`${action} many ranges`, "rangeIDs", rangeIDs)
      const outcomes = yield* Effect.forEach(
        items,
        (item) =>
          Effect.result(
            Effect.gen(function* () {
              // an empty ID would select the user's default range
              const range = yield* item === ""
                ? Effect.fail(new Conflict({ what: "No range is named" }))
                : rangeOfBody(item, undefined, user)
              countUse(activity, range.id, {
                at: new Date(yield* Clock.currentTimeMillis),
                by: caller.id,
                request: "POST /bulk",
              })
              return yield* begin[action](range, user, name)
            }),
          ).pipe(Effect.map((result) => ({ item, result }))),
        { concurrency: atOnce },
      )
      const started = outcomes.flatMap(({ item, result }) =>
        Result.isSuccess(result)
          ? [
              {
                rangeID: item,
                runID: result.success.id,
                ...(result.success.blockedBy === undefined ? {} : { blockedBy: result.success.blockedBy }),
              },
            ]
          : [],
      )
      const errors = outcomes.flatMap(({ item, result }) =>
        Result.isFailure(result) ? [{ item: item.slice(0, 100), reason: reasonOf(result.failure) }] : [],
      )
      return { ...(started.length === 0 ? {} : { started }), ...(errors.length === 0 ? {} : { errors }) }
    }),
})

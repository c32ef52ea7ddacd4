import { type MigrationDirection, MigrationBlocked, workPlan } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { runKind } from "@rangewright/run-engine"
import { migrationWorks, runSteps } from "./migration-work.ts"
import { planNetworks } from "./plan-networks.ts"
import { undoNetworks } from "./undo-networks.ts"

const Options = Schema.Struct({ createZone: Schema.Boolean })

/** Prefix of a plan's note about work that is left to do after the run. */
export const byHandMark = "By hand: "

/** A run that moves the whole installation from one kind of network to the other. */
const networkRun = (name: string, doing: string, direction: MigrationDirection) =>
  runKind({
    name,
    doing,
    request: Options,
    whenBusy: "join",
    plan: ({ createZone }) =>
      Effect.gen(function* () {
        const plan = yield* planNetworks(direction, createZone)
        if (plan.blockers.length > 0) return yield* new MigrationBlocked(plan)
        const byHand = plan.byHand.map((note) => byHandMark + note)
        if (plan.idle !== undefined) return workPlan([], { notes: byHand })
        const changes = plan.machines.map(({ name: object, nics }) => ({
          kind: "change" as const,
          object,
          reasons: nics.map(({ nic, after }) => `${nic}: ${after}`),
        }))
        return workPlan(runSteps(plan, { direction, createZone }), {
          changes,
          notes: [...plan.warnings, ...byHand],
        })
      }),
    works: migrationWorks,
    finish: (end, state) => (end.status === "success" ? Effect.void : undoNetworks(state)),
  })

export const migrateToSdn = networkRun("migrate-sdn", "the migration to SDN networking", "to-sdn")
export const returnToBridges = networkRun("return-to-bridges", "the return to bridges", "to-bridges")

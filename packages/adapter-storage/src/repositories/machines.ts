import { type MachineSettings, type RangeId, RangeNotFound, type Vmid } from "@rangewright/domain"
import { type KeptLogin, Machines, type OwedSettings } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import {
  machineDebts,
  machineLogins,
  machines,
  machineSnapshots,
  machineStages,
  machineSystems,
  observation,
  toFreshness,
  toMachine,
  toMissingMachine,
  toRangeMachine,
  vmidReservations,
} from "../records/machine.ts"
import { every, first, type StoredRow } from "../schema/table.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { replaceMachines } from "./replace-machines.ts"
import { requireRange } from "./require.ts"
import { keepSnapshots, keepStages, recallStages } from "./machine-snapshots.ts"
import { releaseVmids, replaceVmid, reserveVmids } from "./vmid-reservations.ts"

const readObserved = observation.reader({ only: ["observedAt", "cluster"] })
const ownMachines = "select m.* from machines m join ranges r on r.id = m.pool where not m.template"

/** Runs a write for a range; does nothing when the range is gone. */
const ifThere = <A, E, R>(tx: Transaction, rangeId: RangeId, write: Effect.Effect<A, E, R>) =>
  requireRange(tx, rangeId).pipe(
    Effect.andThen(write),
    Effect.asVoid,
    Effect.catchIf(
      (fault) => fault instanceof RangeNotFound,
      () => Effect.void,
    ),
  )

export const machinesLayer: Layer.Layer<Machines, never, Database> = Layer.effect(
  Machines,
  Effect.gen(function* () {
    const database = yield* Database
    const doing = "read the state of machines"
    const ofRange = database.prepared(doing, `${ownMachines} and m.pool = ? order by m.vmid`, every(toRangeMachine))
    const templates = database.prepared(
      doing,
      "select * from machines where template and missing_since is null order by vmid",
      every(toMachine),
    )
    const missing = database.list(doing, "select * from machines where missing_since is not null order by vmid", toMissingMachine)
    const observed = database.prepared(doing, "select * from observation where id = 1", first(readObserved))
    const machineCount = database.prepared(
      doing,
      "select count(*) as machines from machines where missing_since is null",
      ([row]) => Number(row?.["machines"]),
    )
    const freshness = database.cachedRead(
      doing,
      "select observed_at, away_since, away_reason, doubt_since, doubt_reason from observation where id = 1",
      ([row]) => (row === undefined ? { observedAt: undefined, awaySince: undefined, awayReason: undefined } : toFreshness(row)),
    )
    const ofMachines = <Row, A>(table: string, read: (row: StoredRow) => Row, meaning: (rows: readonly Row[]) => A) =>
      database.prepared(`read ${table}`, `select * from ${table} where range_id = ?`, (rows) => meaning(rows.map(read)))

    return {
      replace: (cluster) => database.serializedWrite("store an observation", (tx) => replaceMachines(tx, cluster)),
      missing: missing(),
      doubt: (at, reason) =>
        database.serializedWrite("store whether lists are trusted", (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .updateTable("observation")
                .set((column) => ({
                  doubt_since: reason === undefined ? null : column.fn.coalesce("doubt_since", column.val(at.getTime())),
                  doubt_reason: reason ?? null,
                }))
                .where("id", "=", 1)
                .execute(),
            ),
          ),
        ),
      cluster: Effect.gen(function* () {
        const { observedAt: at, cluster } = (yield* observed()) ?? {}
        return at === undefined || cluster === undefined ? undefined : { at, ...cluster, machineCount: yield* machineCount() }
      }),
      templates: templates(),
      record: ({ address, foreignAddresses, ...machine }) =>
        database.serializedWrite(`store the state of machine ${machine.vmid}`, (tx) =>
          Effect.gen(function* () {
            const recordedAt = new Date(yield* Clock.currentTimeMillis)
            const row = machines.write({ ...machine, recordedAt, address, ...(foreignAddresses && { foreignAddresses }) })
            // fields that were not reported keep their stored values
            const { name, address: at, ...told } = row
            const known = {
              ...told,
              missing_since: null,
              ...(name === null ? {} : { name }),
              ...(at === null ? {} : { address: at }),
            }
            yield* tx((db) => db.deleteFrom("departed_machines").where("vmid", "=", machine.vmid).execute())
            // its index is written whenever the pool is, even with the same value
            const { pool, ...rest } = known
            const { numUpdatedRows } = yield* tx((db) =>
              db
                .updateTable("machines")
                .set(rest)
                .where("vmid", "=", machine.vmid)
                .where("pool", pool === null ? "is" : "=", pool)
                .executeTakeFirst(),
            )
            if (numUpdatedRows > 0n) return
            yield* tx((db) =>
              db
                .insertInto("machines")
                .values(row)
                .onConflict((conflict) => conflict.column("vmid").doUpdateSet(known))
                .execute(),
            )
          }),
        ),
      reported: (vmid, { address, foreignAddresses }) =>
        database.serializedWrite(`store the addresses of machine ${vmid}`, (tx) =>
          Effect.asVoid(
            tx((db) =>
              db.updateTable("machines").set(machines.write({ address, foreignAddresses })).where("vmid", "=", vmid).execute(),
            ),
          ),
        ),
      forget: (vmid) =>
        database.serializedWrite(`forget machine ${vmid}`, (tx) =>
          Effect.gen(function* () {
            const at = yield* Clock.currentTimeMillis
            yield* tx((db) => db.deleteFrom("machines").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_stages").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_logins").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_systems").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_debts").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_snapshots").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("snapshot_stages").where("vmid", "=", vmid).execute())
            yield* tx((db) =>
              db
                .insertInto("departed_machines")
                .values({ vmid, at })
                .onConflict((conflict) => conflict.column("vmid").doUpdateSet({ at }))
                .execute(),
            )
          }),
        ),
      ofRange,
      find: database.prepared(doing, `${ownMachines} and m.vmid = ?`, first(toRangeMachine)),
      away: (since, reason) =>
        database.serializedWrite("store that the hypervisor is unreachable", (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .updateTable("observation")
                .set((column) => ({
                  away_since: column.fn.coalesce("away_since", column.val(since.getTime())),
                  away_reason: reason,
                }))
                .where("id", "=", 1)
                .execute(),
            ),
          ),
        ),
      freshness: freshness(),
      reserve: (rangeId, names, taken, span) =>
        database.serializedWrite("reserve VMIDs", (tx) => reserveVmids(tx, rangeId, names, taken, span)),
      replaceReservation: (rangeId, machine, taken, span) =>
        database.serializedWrite("reserve another VMID", (tx) => replaceVmid(tx, rangeId, machine, taken, span)),
      release: (rangeId, names) => database.write("release VMIDs", (tx) => releaseVmids(tx, rangeId, names)),
      reservations: ofMachines(
        "vmid_reservations",
        vmidReservations.reader(),
        (rows) => new Map(rows.map(({ machine, vmid }) => [machine, vmid])),
      ),
      stages: ofMachines("machine_stages", machineStages.reader(), (rows) => {
        const stages = new Map<Vmid, Map<string, string>>()
        for (const { vmid, stepKey, fingerprint } of rows)
          stages.set(vmid, (stages.get(vmid) ?? new Map<string, string>()).set(stepKey, fingerprint))
        return stages
      }),
      systems: ofMachines(
        "machine_systems",
        machineSystems.reader(),
        (rows) => new Map(rows.map(({ vmid, system }) => [vmid, system])),
      ),
      keepSystem: (rangeId, vmid, system) => {
        const row = machineSystems.write({ rangeId, vmid, system })
        return database.write(`store the operating system of machine ${vmid}`, (tx) =>
          ifThere(
            tx,
            rangeId,
            tx((db) =>
              db
                .insertInto("machine_systems")
                .values(row)
                .onConflict((conflict) =>
                  conflict
                    .columns(["range_id", "vmid"])
                    .doUpdateSet({ system: row.system })
                    .where("machine_systems.system", "!=", row.system),
                )
                .execute(),
            ),
          ),
        )
      },
      keepActivation: (rangeId, vmid, activation) => {
        const { activation: text } = machines.write({ activation })
        return database.serializedWrite(`store the licence of machine ${vmid}`, (tx) =>
          Effect.asVoid(
            tx((db) =>
              db.updateTable("machines").set({ activation: text }).where("vmid", "=", vmid).where("pool", "=", rangeId).execute(),
            ),
          ),
        )
      },
      owed: ofMachines(
        "machine_debts",
        machineDebts.reader(),
        (rows) =>
          new Map(
            rows.map(({ vmid, settings, generation }): readonly [Vmid, OwedSettings] => [
              vmid,
              { settings: settings as MachineSettings, generation },
            ]),
          ),
      ),
      owe: (rangeId, vmid, owed) =>
        database.write(`store the settings owed to machine ${vmid}`, (tx) =>
          ifThere(
            tx,
            rangeId,
            Effect.gen(function* () {
              yield* tx((db) => db.deleteFrom("machine_debts").where("range_id", "=", rangeId).where("vmid", "=", vmid).execute())
              if (owed === undefined) return
              const row = machineDebts.write({ rangeId, vmid, ...owed })
              yield* tx((db) => db.insertInto("machine_debts").values(row).execute())
            }),
          ),
        ),
      logins: ofMachines(
        "machine_logins",
        machineLogins.reader(),
        (rows) =>
          new Map(
            rows.map(({ vmid, sealed, sealedNext }): readonly [Vmid, KeptLogin] => [
              vmid,
              {
                ...(sealed === undefined ? {} : { current: sealed }),
                ...(sealedNext === undefined ? {} : { pending: sealedNext }),
              },
            ]),
          ),
      ),
      keepLogin: (rangeId, vmid, { current, pending }) =>
        database.write(`store the login of machine ${vmid}`, (tx) =>
          ifThere(
            tx,
            rangeId,
            Effect.gen(function* () {
              yield* refuseForeignSeal(tx, database.engine, current, pending)
              yield* tx((db) =>
                db.deleteFrom("machine_logins").where("range_id", "=", rangeId).where("vmid", "=", vmid).execute(),
              )
              if (current === undefined && pending === undefined) return
              const row = { range_id: rangeId, vmid, sealed: current ?? null, sealed_next: pending ?? null }
              yield* tx((db) => db.insertInto("machine_logins").values(row).execute())
            }),
          ),
        ),
      snapshots: ofMachines(
        "machine_snapshots",
        machineSnapshots.reader(),
        (rows) => new Map(rows.map(({ vmid, readAt, snapshots, current }) => [vmid, { readAt, snapshots, current }])),
      ),
      keepSnapshots: (rangeId, vmid, kept) =>
        database.serializedWrite(`store the snapshots of machine ${vmid}`, (tx) =>
          ifThere(tx, rangeId, keepSnapshots(tx, rangeId, vmid, kept)),
        ),
      keepStages: (rangeId, vmid, snapshot) =>
        database.write(`store the stages of machine ${vmid} with its snapshot`, (tx) =>
          ifThere(tx, rangeId, keepStages(tx, rangeId, vmid, snapshot)),
        ),
      recallStages: (rangeId, vmid, snapshot) =>
        database.write(`restore the stages of machine ${vmid}`, (tx) =>
          ifThere(tx, rangeId, recallStages(tx, rangeId, vmid, snapshot)),
        ),
      recordStage: (rangeId: RangeId, vmid, stepKey, fingerprint) =>
        database.write(`store that ${stepKey} is done`, (tx) =>
          ifThere(
            tx,
            rangeId,
            tx((db) =>
              db
                .insertInto("machine_stages")
                .values({ range_id: rangeId, vmid, step_key: stepKey, fingerprint })
                .onConflict((conflict) => conflict.columns(["range_id", "vmid", "step_key"]).doUpdateSet({ fingerprint }))
                .execute(),
            ),
          ),
        ),
    }
  }),
)

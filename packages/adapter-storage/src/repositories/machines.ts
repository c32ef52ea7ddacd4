import type { GuestSystem, ObservedCluster, RangeId, Vmid } from "@rangewright/domain"
import { type Freshness, Machines } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Selectable } from "kysely"
import { Database } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { fromMachine, toDate, toMachine, toMissingMachine, toRangeMachine } from "../schema/rows.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { replaceMachines } from "./replace-machines.ts"
import { releaseVmids, replaceVmid, reserveVmids } from "./vmid-reservations.ts"

type MachineRow = Selectable<Tables["machines"]>
type ObservationRow = Selectable<Tables["observation"]>

const ownMachines = "select m.* from machines m join ranges r on r.id = m.pool where not m.template"

export const machinesLayer: Layer.Layer<Machines, never, Database> = Layer.effect(
  Machines,
  Effect.gen(function* () {
    const database = yield* Database
    const doing = "read the state of machines"
    const ofRange = database.prepared<MachineRow>(doing, `${ownMachines} and m.pool = ? order by m.vmid`)
    const byVmid = database.prepared<MachineRow>(doing, `${ownMachines} and m.vmid = ?`)
    const shown = database.prepared<MachineRow>(doing, "select * from machines where missing_since is null order by vmid")
    const missing = database.prepared<MachineRow>(doing, "select * from machines where missing_since is not null order by vmid")
    const observation = database.prepared<ObservationRow>(doing, "select * from observation where id = 1")
    const freshness = database.kept(
      doing,
      "select observed_at, away_since, away_reason, doubt_since, doubt_reason from observation where id = 1",
      ([row]: readonly Omit<ObservationRow, "id" | "cluster">[]): Freshness => ({
        observedAt: row === undefined || row.observed_at === null ? undefined : toDate(row.observed_at),
        awaySince: row === undefined || row.away_since === null ? undefined : toDate(row.away_since),
        awayReason: row?.away_reason ?? undefined,
        ...(row === undefined || row.doubt_since === null
          ? {}
          : { doubt: { since: toDate(row.doubt_since), reason: row.doubt_reason ?? "" } }),
      }),
    )
    const reserved = database.prepared<{ readonly machine: string; readonly vmid: number }>(
      "read reserved VMIDs",
      "select machine, vmid from vmid_reservations where range_id = ?",
    )
    const stagesOf = database.prepared<Selectable<Tables["machine_stages"]>>(
      "read the stages of machines",
      "select * from machine_stages where range_id = ? order by vmid, step_key",
    )

    const loginsOf = database.prepared<Selectable<Tables["machine_logins"]>>(
      "read the logins of machines",
      "select * from machine_logins where range_id = ? order by vmid",
    )

    const systemsOf = database.prepared<Selectable<Tables["machine_systems"]>>(
      "read the operating systems of machines",
      "select * from machine_systems where range_id = ? order by vmid",
    )

    return {
      replace: (cluster) => database.writeAlone("keep an observation", (tx) => replaceMachines(tx, cluster)),
      missing: Effect.map(missing(), (rows) => rows.map(toMissingMachine)),
      doubt: (at, reason) =>
        database.writeAlone("keep whether lists are believed", (tx) =>
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
        const [seen] = yield* observation()
        if (seen === undefined || seen.observed_at === null || seen.cluster === null) return undefined
        const kept = JSON.parse(seen.cluster) as Pick<ObservedCluster, "nodes" | "storages">
        return { at: toDate(seen.observed_at), ...kept, machines: (yield* shown()).map(toMachine) }
      }),
      record: ({ address, foreignAddresses, ...machine }) =>
        database.writeAlone(`keep the state of machine ${machine.vmid}`, (tx) =>
          Effect.gen(function* () {
            const row = { ...fromMachine(machine), address: address ?? null, recorded_at: yield* Clock.currentTimeMillis }
            const claimed = foreignAddresses === undefined ? {} : { foreign_addresses: JSON.stringify(foreignAddresses) }
            const { name: _name, address: _address, vmid: _vmid, ...told } = row
            const known = {
              ...told,
              missing_since: null,
              ...(row.name === null ? {} : { name: row.name }),
              ...(row.address === null ? {} : { address: row.address }),
              ...claimed,
            }
            yield* tx((db) => db.deleteFrom("departed_machines").where("vmid", "=", machine.vmid).execute())
            yield* tx((db) =>
              db
                .insertInto("machines")
                .values({ ...row, ...claimed })
                .onConflict((conflict) => conflict.column("vmid").doUpdateSet(known))
                .execute(),
            )
          }),
        ),
      reported: (vmid, { address, foreignAddresses }) =>
        database.writeAlone(`keep the addresses of machine ${vmid}`, (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .updateTable("machines")
                .set({ address: address ?? null, foreign_addresses: JSON.stringify(foreignAddresses) })
                .where("vmid", "=", vmid)
                .execute(),
            ),
          ),
        ),
      forget: (vmid) =>
        database.writeAlone(`forget machine ${vmid}`, (tx) =>
          Effect.gen(function* () {
            const at = yield* Clock.currentTimeMillis
            yield* tx((db) => db.deleteFrom("machines").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_stages").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_logins").where("vmid", "=", vmid).execute())
            yield* tx((db) => db.deleteFrom("machine_systems").where("vmid", "=", vmid).execute())
            yield* tx((db) =>
              db
                .insertInto("departed_machines")
                .values({ vmid, at })
                .onConflict((conflict) => conflict.column("vmid").doUpdateSet({ at }))
                .execute(),
            )
          }),
        ),
      ofRange: (rangeId) => Effect.map(ofRange(rangeId), (rows) => rows.map(toRangeMachine)),
      find: (vmid) => Effect.map(byVmid(vmid), ([row]) => (row === undefined ? undefined : toRangeMachine(row))),
      away: (since, reason) =>
        database.writeAlone("keep that the hypervisor is away", (tx) =>
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
      reserve: (rangeId, machines, taken, span) =>
        database.writeAlone("reserve VMIDs", (tx) => reserveVmids(tx, rangeId, machines, taken, span)),
      replaceReservation: (rangeId, machine, taken, span) =>
        database.writeAlone("reserve another VMID", (tx) => replaceVmid(tx, rangeId, machine, taken, span)),
      release: (rangeId, machines) => database.write("release VMIDs", (tx) => releaseVmids(tx, rangeId, machines)),
      reservations: (rangeId) =>
        Effect.map(reserved(rangeId), (rows) => new Map(rows.map((row) => [row.machine, row.vmid as Vmid]))),
      stages: (rangeId) =>
        Effect.map(stagesOf(rangeId), (rows) => {
          const stages = new Map<Vmid, Map<string, string>>()
          for (const row of rows) {
            const vmid = row.vmid as Vmid
            stages.set(vmid, (stages.get(vmid) ?? new Map<string, string>()).set(row.step_key, row.fingerprint))
          }
          return stages
        }),
      systems: (rangeId) =>
        Effect.map(
          systemsOf(rangeId),
          (rows) => new Map(rows.map(({ vmid, system }) => [vmid as Vmid, JSON.parse(system) as GuestSystem])),
        ),
      keepSystem: (rangeId, vmid, system) =>
        database.write(`keep the operating system of machine ${vmid}`, (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .insertInto("machine_systems")
                .values({ range_id: rangeId, vmid, system: JSON.stringify(system) })
                .onConflict((conflict) =>
                  conflict
                    .columns(["range_id", "vmid"])
                    .doUpdateSet({ system: JSON.stringify(system) })
                    .where("machine_systems.system", "!=", JSON.stringify(system)),
                )
                .execute(),
            ),
          ),
        ),
      logins: (rangeId) =>
        Effect.map(
          loginsOf(rangeId),
          (rows) =>
            new Map(
              rows.map(({ vmid, sealed, sealed_next }) => [
                vmid as Vmid,
                { ...(sealed === null ? {} : { current: sealed }), ...(sealed_next === null ? {} : { pending: sealed_next }) },
              ]),
            ),
        ),
      keepLogin: (rangeId, vmid, { current, pending }) =>
        database.write(`keep the login of machine ${vmid}`, (tx) =>
          Effect.gen(function* () {
            yield* refuseForeignSeal(tx, database.engine, current, pending)
            yield* tx((db) => db.deleteFrom("machine_logins").where("range_id", "=", rangeId).where("vmid", "=", vmid).execute())
            if (current === undefined && pending === undefined) return
            const row = { range_id: rangeId, vmid, sealed: current ?? null, sealed_next: pending ?? null }
            yield* tx((db) => db.insertInto("machine_logins").values(row).execute())
          }),
        ),
      recordStage: (rangeId: RangeId, vmid, stepKey, fingerprint) =>
        database.write(`keep that ${stepKey} is done`, (tx) =>
          Effect.asVoid(
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

import type { AccessType, Grant, Range, RangeId, RecordId, UserId } from "@rangewright/domain"
import type { RangeMachine } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Selectable } from "kysely"
import type { Database } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toRange, toRangeMachine } from "../schema/rows.ts"

type RangeRow = Selectable<Tables["ranges"]>
type MachineRow = Selectable<Tables["machines"]>
interface GrantRow {
  readonly user_id: string
  readonly user_number: number
  readonly user_name: string
  readonly range_id: string
  readonly range_number: number
  readonly access_type: AccessType
}

/** Every path by which users have ranges: one row for a direct grant, and one for each group. Both halves are narrowed by what is asked of it. */
const access = `(select range_id, user_id, 'Direct' as access_type from range_grants
  union all select gr.range_id, gm.user_id, case gm.role when 'manager' then 'Group Manager' else 'Group Member' end
  from group_members gm join group_ranges gr on gr.group_name = gm.group_name)`
const grantColumns = `select u.id as user_id, u.number as user_number, u.name as user_name, r.id as range_id, r.number as range_number, g.access_type
  from ${access} g join users u on u.id = g.user_id join ranges r on r.id = g.range_id`
const ownMachines = "select m.* from machines m join ranges r on r.id = m.pool where not m.template"

const toGrant = (row: GrantRow): Grant => ({
  userId: row.user_id as UserId,
  userNumber: row.user_number,
  name: row.user_name,
  rangeId: row.range_id as RangeId,
  accessType: row.access_type,
})

const toRanges = (rows: readonly RangeRow[]): readonly Range[] => rows.map(toRange)

const byUserThenType = (a: Grant, b: Grant): number =>
  a.userId === b.userId ? (a.accessType < b.accessType ? -1 : 1) : a.userId < b.userId ? -1 : 1

/** The reads of every request: prepared once, to plain rows. */
export const rangeReads = ({ prepared, kept }: Database["Service"]) => {
  const doing = "read ranges"
  const byId = kept(doing, "select * from ranges where id = ?", toRanges)
  const byRecord = prepared<RangeRow>(doing, "select * from ranges where record_id = ?")
  const all = prepared<RangeRow>(doing, "select * from ranges order by number")
  const allOf = prepared<RangeRow>(
    doing,
    `select r.* from ranges r where r.id in (select g.range_id from ${access} g where g.user_id = ?) order by r.number`,
  )
  const oneOf = kept(
    doing,
    `select r.* from ranges r where r.id = ? and exists (select 1 from ${access} g where g.range_id = r.id and g.user_id = ?)`,
    toRanges,
  )
  const machines = prepared<MachineRow>(doing, `${ownMachines} order by m.vmid`)
  const machinesOf = prepared<MachineRow>(doing, `${ownMachines} and m.pool = ? order by m.vmid`)
  const machinesFor = prepared<MachineRow>(
    doing,
    `${ownMachines} and r.id in (select g.range_id from ${access} g where g.user_id = ?) order by m.vmid`,
  )
  const grantsOfRange = prepared<GrantRow>("read grants", `${grantColumns} where g.range_id = ?`)
  const grantsOfUser = prepared<GrantRow>("read grants", `${grantColumns} where g.user_id = ? order by r.number, g.access_type`)
  const revision = kept(
    "read the revision",
    "select value from revision where id = 1",
    ([row]: readonly { readonly value: number | string }[]) => Number(row?.value ?? 0),
  )
  const config = prepared<Selectable<Tables["range_configs"]>>(
    "read a configuration",
    "select * from range_configs where range_id = ?",
  )

  const deployedConfig = prepared<Pick<Selectable<Tables["range_configs"]>, "content">>(
    "read the configuration of a deploy",
    "select coalesce(deployed, content) as content from range_configs where range_id = ?",
  )

  const first = Effect.map(([row]: readonly RangeRow[]): Range | undefined => row && toRange(row))
  const list = (filter: { readonly for?: UserId; readonly rangeId?: RangeId }) => {
    if (filter.rangeId === undefined) return Effect.map(filter.for === undefined ? all() : allOf(filter.for), toRanges)
    return filter.for === undefined ? byId(filter.rangeId) : oneOf(filter.rangeId, filter.for)
  }
  const machineRowsOf = (filter: { readonly for?: UserId; readonly rangeId?: RangeId }) => {
    if (filter.rangeId !== undefined) return machinesOf(filter.rangeId)
    return filter.for === undefined ? machines() : machinesFor(filter.for)
  }

  return {
    find: (id: RangeId) => Effect.map(byId(id), ([range]) => range),
    findByRecordId: (id: RecordId) => first(byRecord(id)),
    list,
    machinesByRange: (filter: { readonly for?: UserId; readonly rangeId?: RangeId }) =>
      Effect.map(machineRowsOf(filter), (rows) => {
        const grouped = new Map<RangeId, RangeMachine[]>()
        for (const machine of rows.map(toRangeMachine)) {
          const group = grouped.get(machine.rangeId)
          if (group === undefined) grouped.set(machine.rangeId, [machine])
          else group.push(machine)
        }
        return grouped
      }),
    grants: (id: RangeId) => Effect.map(grantsOfRange(id), (rows) => rows.map(toGrant).sort(byUserThenType)),
    grantsOf: (userId: UserId) =>
      Effect.map(grantsOfUser(userId), (rows) => rows.map((row) => ({ ...toGrant(row), rangeNumber: row.range_number }))),
    revision: revision(),
    config,
    deployedConfig,
  }
}

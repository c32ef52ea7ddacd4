import type { Grant, Range, RangeId, RecordId, UserId } from "@rangewright/domain"
import type { RangeOverview, RangePictureSize } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { toPicture } from "../records/blueprint.ts"
import { toRangeMachine } from "../records/machine.ts"
import { rangeConfigs, toRange } from "../records/range.ts"
import { count, named, oneOf, text, whole } from "../schema/column.ts"
import { rangeId, recordId, userId } from "../schema/ids.ts"
import { configTextOf } from "./require-config.ts"
import { every, first, readerOf, type StoredRow } from "../schema/table.ts"

/** Every path by which users have ranges: one row per direct grant and one per group. Conditions narrow both halves. */
const access = `(select range_id, user_id, 'Direct' as access_type from range_grants
  union all select gr.range_id, gm.user_id, case gm.role when 'manager' then 'Group Manager' else 'Group Member' end
  from group_members gm join group_ranges gr on gr.group_name = gm.group_name)`
const grantColumns = `select u.id as user_id, u.number as user_number, u.name as user_name, r.id as range_id, r.number as range_number, g.access_type
  from ${access} g join users u on u.id = g.user_id join ranges r on r.id = g.range_id`
const ownMachines = "select m.* from machines m join ranges r on r.id = m.pool where not m.template"

const grantReader = readerOf("the grants", {
  userId,
  userNumber: whole,
  name: named("user_name", text),
  rangeId,
  rangeNumber: whole,
  accessType: oneOf(["Direct", "Group Manager", "Group Member"]),
})
const toGrant: (row: StoredRow) => Grant = grantReader({ without: ["rangeNumber"] })

const toPictureSize: (row: StoredRow) => RangePictureSize = readerOf("the table ranges", {
  id: rangeId,
  recordId,
  bytes: count,
})()

const readTime = rangeConfigs.reader({ only: ["updatedAt"] })

const byUserThenType = (a: Grant, b: Grant): number =>
  a.userId === b.userId ? (a.accessType < b.accessType ? -1 : 1) : a.userId < b.userId ? -1 : 1

interface Filter {
  readonly for?: UserId
  readonly rangeId?: RangeId
}

/** Reads made by every request: prepared once, and returning plain rows. */
export const rangeReads = ({ prepared, list, cachedRead, read }: Database["Service"]) => {
  const doing = "read ranges"
  const all = "select * from ranges order by number"
  const allOf = `select r.* from ranges r where r.id in (select g.range_id from ${access} g where g.user_id = ?) order by r.number`
  const one = cachedRead(doing, "select * from ranges where id = ?", every(toRange))
  const ownOne = cachedRead(
    doing,
    `select r.* from ranges r where r.id = ? and exists (select 1 from ${access} g where g.range_id = r.id and g.user_id = ?)`,
    every(toRange),
  )
  /** The requested ranges, from the reads of all ranges and of all that a user has. */
  const select = (whole: ReturnType<typeof list<Range>>, own: ReturnType<typeof list<Range>>) => (filter: Filter) => {
    if (filter.rangeId === undefined) return filter.for === undefined ? whole() : own(filter.for)
    return filter.for === undefined ? one(filter.rangeId) : ownOne(filter.rangeId, filter.for)
  }
  const listed = select(prepared(doing, all, every(toRange)), prepared(doing, allOf, every(toRange)))
  const shown = select(list(doing, all, toRange), list(doing, allOf, toRange))
  const machines = list(doing, `${ownMachines} order by m.vmid`, toRangeMachine)
  const machinesOf = list(doing, `${ownMachines} and m.pool = ? order by m.vmid`, toRangeMachine)
  const machinesFor = list(
    doing,
    `${ownMachines} and r.id in (select g.range_id from ${access} g where g.user_id = ?) order by m.vmid`,
    toRangeMachine,
  )
  const machinesMeant = (filter: Filter) => {
    if (filter.rangeId !== undefined) return machinesOf(filter.rangeId)
    return filter.for === undefined ? machines() : machinesFor(filter.for)
  }
  const grantsOfRange = list("read grants", `${grantColumns} where g.range_id = ?`, toGrant)
  const grantsOfUser = list("read grants", `${grantColumns} where g.user_id = ? order by r.number, g.access_type`, grantReader())
  // the payer as `payerOf` has it; reads only the length of the picture
  const pictureSizes = prepared(
    "count the disk space of the pictures of ranges",
    `select r.id, r.record_id, octet_length(t.content) as bytes from range_thumbnails t join ranges r on r.id = t.range_id
     where ? = (select u.id from range_grants g join users u on u.id = g.user_id where g.range_id = r.id
       order by case when u.id = r.made_for then 0 else 1 end, u.number limit 1)`,
    every(toPictureSize),
  )
  const revision = cachedRead("read the revision", "select value from revision where id = 1", ([row]) =>
    count.read(row?.["value"] ?? 0),
  )

  return {
    find: (id: RangeId) => Effect.map(one(id), ([range]) => range),
    findByRecordId: prepared(doing, "select * from ranges where record_id = ?", first(toRange)),
    list: (filter: Filter = {}) => listed(filter),
    overview: (filter: Filter) =>
      Effect.gen(function* () {
        const ranges = yield* shown(filter)
        const grouped = Map.groupBy(yield* machinesMeant(filter), (machine) => machine.rangeId)
        return ranges.map((range): RangeOverview => ({ range, machines: grouped.get(range.id) ?? [] }))
      }),
    grants: (id: RangeId) => Effect.map(grantsOfRange(id), (grants) => grants.toSorted(byUserThenType)),
    grantsOf: grantsOfUser,
    revision: revision(),
    config: prepared(
      "read a configuration",
      "select * from range_configs where range_id = ?",
      first((row) => ({ text: configTextOf(row), ...readTime(row) })),
    ),
    thumbnail: (recordId: RecordId, name: string) =>
      read("read the picture of a range", (db) =>
        db
          .selectFrom("range_thumbnails as t")
          .innerJoin("ranges as r", "r.id", "t.range_id")
          .select(["r.thumbnail as name", "t.type", "t.content"])
          .where("r.record_id", "=", recordId)
          .where("r.thumbnail", "=", name)
          .execute()
          .then(first(toPicture)),
      ),
    pictureSizes: (payer: UserId) =>
      Effect.map(pictureSizes(payer), (found) => found.toSorted((a, b) => (a.recordId < b.recordId ? -1 : 1))),
    deployedConfig: prepared(
      "read the configuration of a deploy",
      "select coalesce(deployed, content) as content from range_configs where range_id = ?",
      first(configTextOf),
    ),
  }
}

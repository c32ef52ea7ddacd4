import type { Blueprint, BlueprintId, RecordId } from "@rangewright/domain"
import type { BlueprintFilter } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { type BlueprintRow, toBlueprint, toPicture } from "../schema/rows.ts"

interface UserShare {
  readonly blueprint_id: string
  readonly user_id: string
}
interface GroupShare {
  readonly blueprint_id: string
  readonly group_name: string
}

/** Everything but the texts and the picture itself. */
const columns = `select b.id, b.record_id, b.owner, b.name, b.description, b.version, b.tags, b.min_version, b.source,
  b.source_blueprint_id, b.bundle_snapshot, b.bundle_directory, b.install_status, b.install_error, b.installed_at, b.created_at,
  b.updated_at, t.name as thumbnail from blueprints b left join blueprint_thumbnails t on t.blueprint_id = b.id`

/** An order of our own: the engines' collations differ. */
const lastChangedFirst = (a: Blueprint, b: Blueprint): number =>
  b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? -1 : 1)

const grouped = <A>(
  rows: readonly A[],
  keyOf: (row: A) => string,
  valueOf: (row: A) => string,
): ReadonlyMap<string, string[]> => {
  const found = new Map<string, string[]>()
  for (const row of rows) found.set(keyOf(row), [...(found.get(keyOf(row)) ?? []), valueOf(row)])
  return found
}

/** The reads of blueprints: prepared once, to plain rows. */
export const blueprintReads = ({ prepared, read }: Database["Service"]) => {
  const byId = prepared<BlueprintRow>("find a blueprint", `${columns} where b.id = ?`)
  const byRecordId = prepared<BlueprintRow>("find a blueprint", `${columns} where b.record_id = ?`)
  const all = prepared<BlueprintRow>("list blueprints", columns)
  const allFor = prepared<BlueprintRow>(
    "list blueprints",
    `${columns} where b.owner = ?
      or b.id in (select blueprint_id from blueprint_users where user_id = ?)
      or b.id in (select s.blueprint_id from blueprint_groups s join group_members m on m.group_name = s.group_name where m.user_id = ?)`,
  )
  const allOfSource = prepared<BlueprintRow>("list the blueprints of a source", `${columns} where b.source = ?`)
  const users = prepared<UserShare>("list the users of blueprints", "select blueprint_id, user_id from blueprint_users")
  const usersOf = prepared<UserShare>(
    "list the users of a blueprint",
    "select blueprint_id, user_id from blueprint_users where blueprint_id = ?",
  )
  const groups = prepared<GroupShare>("list the groups of blueprints", "select blueprint_id, group_name from blueprint_groups")
  const groupsOf = prepared<GroupShare>(
    "list the groups of a blueprint",
    "select blueprint_id, group_name from blueprint_groups where blueprint_id = ?",
  )
  const config = prepared<{ readonly config: string }>(
    "read the configuration of a blueprint",
    "select config from blueprints where id = ?",
  )
  const requirements = prepared<{ readonly requirements: string | null }>(
    "read what a blueprint requires",
    "select requirements from blueprints where id = ?",
  )

  const withShares = (rows: readonly BlueprintRow[], only?: string) =>
    Effect.gen(function* () {
      if (rows.length === 0) return []
      const toUsers = grouped(
        yield* only === undefined ? users() : usersOf(only),
        (row) => row.blueprint_id,
        (row) => row.user_id,
      )
      const toGroups = grouped(
        yield* only === undefined ? groups() : groupsOf(only),
        (row) => row.blueprint_id,
        (row) => row.group_name,
      )
      return rows.map((row) => toBlueprint(row, toUsers.get(row.id) ?? [], toGroups.get(row.id) ?? []))
    })
  const one = ([row]: readonly BlueprintRow[]) =>
    row === undefined ? Effect.succeed(undefined) : Effect.map(withShares([row], row.id), ([blueprint]) => blueprint)

  return {
    find: (id: BlueprintId) => Effect.flatMap(byId(id), one),
    findByRecordId: (id: RecordId) => Effect.flatMap(byRecordId(id), one),
    list: ({ for: user, ofSource }: BlueprintFilter = {}) =>
      Effect.gen(function* () {
        const rows = yield* user !== undefined ? allFor(user, user, user) : ofSource !== undefined ? allOfSource(ofSource) : all()
        const wanted = ofSource === undefined ? rows : rows.filter(({ source }) => source === ofSource)
        return (yield* withShares(wanted)).sort(lastChangedFirst)
      }),
    thumbnail: (recordId: RecordId, name: string) =>
      Effect.map(
        read("read the picture of a blueprint", (db) =>
          db
            .selectFrom("blueprint_thumbnails as t")
            .innerJoin("blueprints as b", "b.id", "t.blueprint_id")
            .select(["t.name", "t.type", "t.content"])
            .where("b.record_id", "=", recordId)
            .where("t.name", "=", name)
            .executeTakeFirst(),
        ),
        (row) => (row === undefined ? undefined : toPicture(row)),
      ),
    config: (id: BlueprintId) => Effect.map(config(id), ([row]) => row?.config),
    requirements: (id: BlueprintId) => Effect.map(requirements(id), ([row]) => row?.requirements ?? undefined),
  }
}

import type { Blueprint, BlueprintId, RecordId, UserId } from "@rangewright/domain"
import type { BlueprintFilter } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { blueprintGroups, blueprints, blueprintUsers, toBlueprint, toBlueprintSize, toPicture } from "../records/blueprint.ts"
import { every, first } from "../schema/table.ts"

const readUser = blueprintUsers.reader()
const readGroup = blueprintGroups.reader()
const readId = blueprints.reader({ only: ["id"] })
const readTexts = blueprints.reader({ only: ["config", "requirements"] })

/** All columns except the texts and the picture. */
const columns = `select b.id, b.record_id, b.owner, b.name, b.description, b.version, b.tags, b.min_version, b.source,
  b.source_blueprint_id, b.bundle_snapshot, b.bundle_directory, b.install_status, b.install_error, b.installed_at, b.created_at,
  b.updated_at, t.name as thumbnail from blueprints b left join blueprint_thumbnails t on t.blueprint_id = b.id`

/** The condition that a user owns the blueprint or has it shared. Takes the user as parameter three times. */
const usableBy = `(b.owner = ?
  or b.id in (select blueprint_id from blueprint_users where user_id = ?)
  or b.id in (select s.blueprint_id from blueprint_groups s join group_members m on m.group_name = s.group_name where m.user_id = ?))`

/** Sorted here: the engines' collations differ. */
const lastChangedFirst = (a: Blueprint, b: Blueprint): number =>
  b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? -1 : 1)

/** The reads of blueprints: prepared once, to plain rows. */
export const blueprintReads = ({ prepared, list, read }: Database["Service"]) => {
  const users = list("list the users of blueprints", "select * from blueprint_users", readUser)
  const usersOf = list("list the users of a blueprint", "select * from blueprint_users where blueprint_id = ?", readUser)
  const groups = list("list the groups of blueprints", "select * from blueprint_groups", readGroup)
  const groupsOf = list("list the groups of a blueprint", "select * from blueprint_groups where blueprint_id = ?", readGroup)
  const texts = prepared(
    "read the texts of a blueprint",
    "select config, requirements from blueprints where id = ?",
    first(readTexts),
  )
  const withShares = (found: readonly Blueprint[], only?: string) =>
    Effect.gen(function* () {
      if (found.length === 0) return []
      const toUsers = Map.groupBy(yield* only === undefined ? users() : usersOf(only), (share) => share.blueprintId)
      const toGroups = Map.groupBy(yield* only === undefined ? groups() : groupsOf(only), (share) => share.blueprintId)
      return found.map((blueprint): Blueprint => ({
        ...blueprint,
        sharedUsers: (toUsers.get(blueprint.id) ?? []).map((share) => share.userId).sort(),
        sharedGroups: (toGroups.get(blueprint.id) ?? []).map((share) => share.groupName).sort(),
      }))
    })
  const one = (where: string) => {
    const found = prepared("find a blueprint", `${columns} where ${where}`, first(toBlueprint))
    return (id: string) =>
      Effect.flatMap(found(id), (blueprint) =>
        blueprint === undefined
          ? Effect.succeed(undefined)
          : Effect.map(withShares([blueprint], blueprint.id), ([shared]) => shared),
      )
  }
  const all = list("list blueprints", columns, toBlueprint)
  const allFor = list("list blueprints", `${columns} where ${usableBy}`, toBlueprint)
  // what no blueprint names may be removed, so none is left out
  const ids = prepared("list the ids of blueprints", "select b.id from blueprints b", every(readId))
  const idsFor = prepared("list the ids of blueprints", `select b.id from blueprints b where ${usableBy}`, every(readId))
  // reads only the length of a text
  const sizes = prepared(
    "count the disk space of blueprints",
    `select b.id, b.record_id, b.bundle_snapshot,
       octet_length(b.config) + coalesce(octet_length(b.requirements), 0) + coalesce(octet_length(t.content), 0) as bytes
     from blueprints b left join blueprint_thumbnails t on t.blueprint_id = b.id where b.owner = ?`,
    every(toBlueprintSize),
  )
  const allOfSource = list("list the blueprints of a source", `${columns} where b.source = ?`, toBlueprint)

  return {
    find: one("b.id = ?"),
    findByRecordId: one("b.record_id = ?"),
    list: ({ for: user, ofSource }: BlueprintFilter = {}) =>
      Effect.gen(function* () {
        const found = yield* user !== undefined
          ? allFor(user, user, user)
          : ofSource !== undefined
            ? allOfSource(ofSource)
            : all()
        const wanted = ofSource === undefined ? found : found.filter(({ origin }) => origin?.source === ofSource)
        return (yield* withShares(wanted)).sort(lastChangedFirst)
      }),
    ids: ({ for: user }: Pick<BlueprintFilter, "for"> = {}) =>
      Effect.map(user === undefined ? ids() : idsFor(user, user, user), (found) => found.map(({ id }) => id).toSorted()),
    sizes: (owner: UserId) => Effect.map(sizes(owner), (found) => found.toSorted((a, b) => (a.recordId < b.recordId ? -1 : 1))),
    thumbnail: (recordId: RecordId, name: string) =>
      read("read the picture of a blueprint", (db) =>
        db
          .selectFrom("blueprint_thumbnails as t")
          .innerJoin("blueprints as b", "b.id", "t.blueprint_id")
          .selectAll("t")
          .where("b.record_id", "=", recordId)
          .where("t.name", "=", name)
          .execute()
          .then(first(toPicture)),
      ),
    config: (id: BlueprintId) => Effect.map(texts(id), (found) => found?.config),
    requirements: (id: BlueprintId) => Effect.map(texts(id), (found) => found?.requirements),
  }
}

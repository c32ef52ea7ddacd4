import * as Schema from "effect/Schema"
import type { SourceUse } from "../source/delete-source.ts"

const texts = Schema.Array(Schema.String)

/** The removal of a source (done or planned), and who uses what it brought. */
export const DeleteSourceResponse = Schema.Struct({
  status: Schema.Literals(["deleted", "planned"]),
  /** For people; absent if nobody used anything. */
  result: Schema.optionalKey(Schema.String),
  /** Blueprints that are removed with it, and with whom they were shared. */
  removedBlueprints: Schema.optionalKey(
    Schema.Array(Schema.Struct({ blueprintID: Schema.String, sharedUsers: texts, sharedGroups: texts })),
  ),
  /** Things that stay; without a user they are global. */
  stillInstalled: Schema.optionalKey(
    Schema.Array(Schema.Struct({ kind: Schema.String, name: Schema.String, userID: Schema.optionalKey(Schema.String) })),
  ),
}).annotate({ identifier: "DeleteSourceResponse" })

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`

const sharedOf = (shared: number, all: number, planned: boolean): string => {
  const one = planned ? "is" : "was"
  if (shared === 0) return `none ${one} shared`
  if (all === 1) return `it ${one} shared`
  return `${shared} of them ${shared === 1 ? one : planned ? "are" : "were"} shared`
}

const summary = ({ blueprints, installed }: SourceUse, planned: boolean): string => {
  const shared = blueprints.filter(({ sharedUsers, sharedGroups }) => sharedUsers.length + sharedGroups.length > 0).length
  const users = new Set(installed.flatMap(({ scope }) => (scope.type === "user" ? [scope.userId] : []))).size
  const global = installed.some(({ scope }) => scope.type === "global")
  const whose = [...(users === 0 ? [] : [count(users, "user")]), ...(global ? ["everybody"] : [])].join(" and ")
  return [
    ...(blueprints.length === 0
      ? []
      : [
          `${count(blueprints.length, "blueprint")} ${planned ? "would be deleted" : blueprints.length === 1 ? "was deleted" : "were deleted"} with it; ${sharedOf(shared, blueprints.length, planned)}`,
        ]),
    ...(installed.length === 0
      ? []
      : [`what was installed from it ${planned ? "would stay" : "stays"}: ${count(installed.length, "item")} of ${whose}`]),
  ].join("; ")
}

export const deleteSourceResponse = (use: SourceUse, planned: boolean): typeof DeleteSourceResponse.Type => ({
  status: planned ? "planned" : "deleted",
  ...(use.blueprints.length + use.installed.length === 0 ? {} : { result: summary(use, planned) }),
  ...(use.blueprints.length === 0
    ? {}
    : {
        removedBlueprints: use.blueprints.map(({ id, sharedUsers, sharedGroups }) => ({
          blueprintID: id,
          sharedUsers,
          sharedGroups,
        })),
      }),
  ...(use.installed.length === 0
    ? {}
    : {
        stillInstalled: use.installed.map(({ kind, name, scope }) => ({
          kind: kind.replaceAll("-", "_"),
          name,
          ...(scope.type === "user" ? { userID: scope.userId } : {}),
        })),
      }),
})

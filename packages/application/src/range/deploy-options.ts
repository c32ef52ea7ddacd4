import { type DeployTag, deployTags, InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { DeployOptions } from "../run/request.ts"
import { commaList } from "../wire/parameters.ts"
import { RoleOrder } from "../wire/plan.ts"

/** Options of a deploy, as in the body; queries have lists as comma-separated lists. */
export const requestedDeployFields = {
  /** Some clients send a comma-separated list, some an array. */
  tags: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  force: Schema.optionalKey(Schema.Boolean),
  verbose: Schema.optionalKey(Schema.Boolean),
  only_roles: Schema.optionalKey(Schema.Array(Schema.String)),
  limit: Schema.optionalKey(Schema.String),
  /** Remove machines that the configuration no longer names. */
  prune: Schema.optionalKey(Schema.Boolean),
  /** Recreate machines whose template changed. */
  replace: Schema.optionalKey(Schema.Boolean),
  /** Absent: as the configuration says, or else the order of the file. */
  role_order: Schema.optionalKey(RoleOrder),
}

type RequestedDeploy = Schema.Struct.Type<typeof requestedDeployFields>

const knownTags: ReadonlySet<string> = new Set(deployTags)
const isDeployTag = (tag: string): tag is DeployTag => knownTags.has(tag)

/** The requested options. Empty texts count as absent; `all` is every tag. Fails for unknown tags, naming each. */
export const deployOptions = (asked: RequestedDeploy): Effect.Effect<DeployOptions, InvalidInput> => {
  const tags = [...new Set([asked.tags ?? []].flat().flatMap(commaList))]
  const unknown = tags.filter((tag) => tag !== "all" && !isDeployTag(tag))
  if (unknown.length > 0)
    return Effect.fail(
      new InvalidInput({
        what: `Cannot deploy: ${unknown.length === 1 ? "tag" : "tags"} ${unknown.join(", ").slice(0, 500)} not known`,
        hint: `Tags: all, ${deployTags.join(", ")}.`,
      }),
    )
  return Effect.succeed({
    tags: tags.includes("all") ? [] : tags.filter(isDeployTag),
    limit: (asked.limit ?? "").trim(),
    onlyRoles: [...new Set((asked.only_roles ?? []).map((role) => role.trim()).filter((role) => role !== ""))],
    force: asked.force ?? false,
    verbose: asked.verbose ?? false,
    ...(asked.role_order === undefined ? {} : { roleSequence: asked.role_order }),
    prune: asked.prune ?? false,
    replace: asked.replace ?? false,
  })
}

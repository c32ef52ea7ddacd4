import { type DeployTag, deployTags, InvalidInput, type RoleSequence } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { DeployOptions } from "../run/request.ts"
import { commaList } from "../wire/parameters.ts"

/** What clients send for a deploy; some send tags as a comma list, some as an array. */
export interface DeployWish {
  readonly tags?: string | readonly string[]
  readonly limit?: string
  readonly only_roles?: readonly string[]
  readonly force?: boolean
  readonly verbose?: boolean
  readonly role_order?: RoleSequence
  readonly prune?: boolean
  readonly replace?: boolean
}

const knownTags: ReadonlySet<string> = new Set(deployTags)
const isDeployTag = (tag: string): tag is DeployTag => knownTags.has(tag)

/** The options meant. Empty texts say nothing; `all` is every tag. Fails for tags that no deploy knows, naming each. */
export const deployOptions = (wish: DeployWish): Effect.Effect<DeployOptions, InvalidInput> => {
  const tags = [...new Set([wish.tags ?? []].flat().flatMap(commaList))]
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
    limit: (wish.limit ?? "").trim(),
    onlyRoles: [...new Set((wish.only_roles ?? []).map((role) => role.trim()).filter((role) => role !== ""))],
    force: wish.force ?? false,
    verbose: wish.verbose ?? false,
    ...(wish.role_order === undefined ? {} : { roleSequence: wish.role_order }),
    prune: wish.prune ?? false,
    replace: wish.replace ?? false,
  })
}

import { InvalidInput, type Selection, type Source, type SourceContent, stillShipped } from "@rangewright/domain"
import { Blueprints, type ClaimKind, type LibraryScope, Sources, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type InstallTarget, scopeFor } from "./installation.ts"

/**
 * What was installed from the source for this target and is still shipped: exactly what an update installs again. Blueprints have no scope:
 * all of the source count.
 */
export const installedSelection = (
  source: Pick<Source, "recordId">,
  content: SourceContent,
  target: InstallTarget,
): Effect.Effect<Selection, StorageFault, Blueprints | Sources> =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const sources = yield* Sources
    const rows = yield* blueprints.list({ ofSource: source.recordId })
    const claims = yield* sources.claims(source.recordId)
    const claimed = (kind: ClaimKind, scope: LibraryScope) =>
      claims.filter((claim) => claim.kind === kind && isSameScope(claim.scope, scope)).map(({ name }) => name)
    return stillShipped(content, {
      blueprints: rows.flatMap(({ origin }) => (origin === undefined ? [] : [origin.sourceBlueprintID])),
      templates: claimed("template", scopeFor("template", target)),
      localRoles: claimed("local-role", scopeFor("role", target)),
      localCollections: claimed("local-collection", scopeFor("collection", target)),
    })
  })

/** The wanted things, if all are installed; `InvalidInput` names those that are not. Without a selection, everything that is installed. */
export const onlyInstalled = (
  installed: Selection,
  wanted: Partial<Selection> | null | undefined,
): Effect.Effect<Partial<Selection>, InvalidInput> => {
  const missing = (Object.keys(installed) as readonly (keyof Selection)[]).flatMap((member) =>
    (wanted?.[member] ?? []).filter((name) => !installed[member].includes(name)).map((name) => `${member}: ${name}`),
  )
  return missing.length === 0
    ? Effect.succeed(wanted ?? installed)
    : Effect.fail(
        new InvalidInput({
          what: `Cannot upgrade what was not installed from the source or is no longer shipped: ${missing.join(", ")}`,
          hint: "Install it with POST /sources/{sourceID}/install.",
        }),
      )
}

export const isSameScope = (a: LibraryScope, b: LibraryScope): boolean =>
  a.type === "user" && b.type === "user" ? a.userId === b.userId : a.type === b.type

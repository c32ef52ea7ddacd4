import {
  artifactKinds,
  type InstalledItem,
  type InstallItemKind,
  InvalidInput,
  isRecordId,
  isUserId,
  type Source,
  listed,
} from "@rangewright/domain"
import {
  type ArtifactRef,
  Blueprints,
  type ClaimKind,
  claimKinds,
  type SourceClaim,
  Sources,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { UninstallSelection as Selection } from "../wire/install.ts"
import { type InstallTarget, scopeFor } from "./installation.ts"
import { isSameScope } from "./installed-selection.ts"

/** See its wire schema. */
export type UninstallSelection = typeof Selection.Type

const scope = Schema.Union([
  Schema.Struct({ type: Schema.Literal("user"), userId: Schema.String.pipe(Schema.refine(isUserId)) }),
  Schema.Struct({ type: Schema.Literal("global") }),
])

/** How to remove a thing: the row of a blueprint, or a copy with the claims on it. */
export const Removal = Schema.Union([
  Schema.Struct({
    row: Schema.Struct({ sourceBlueprintID: Schema.String, recordId: Schema.String.pipe(Schema.refine(isRecordId)) }),
  }),
  Schema.Struct({
    artifact: Schema.Struct({ scope, kind: Schema.Literals(artifactKinds), name: Schema.String }),
    claims: Schema.Array(Schema.Literals(claimKinds)),
  }),
])

/** An installed thing of a source. */
export interface InstalledThing extends InstalledItem {
  readonly removal: typeof Removal.Type
}

type Member = Exclude<keyof UninstallSelection, "blueprints">

/** By member of the selection: the kind of its items in results, where they are, and which claims refer to the same copy. */
const artifactMembers = {
  templates: { kind: "template", type: "template", claim: "template", claims: ["template"] },
  localRoles: { kind: "local_role", type: "role", claim: "local-role", claims: ["local-role", "galaxy-role"] },
  localCollections: {
    kind: "local_collection",
    type: "collection",
    claim: "local-collection",
    claims: ["local-collection", "galaxy-collection"],
  },
  roles: { kind: "role", type: "role", claim: "galaxy-role", claims: ["local-role", "galaxy-role"] },
  collections: {
    kind: "collection",
    type: "collection",
    claim: "galaxy-collection",
    claims: ["local-collection", "galaxy-collection"],
  },
  subscriptionRoles: { kind: "subscription_role", type: "role", claim: "subscription-role", claims: ["subscription-role"] },
} as const satisfies Record<
  Member,
  {
    readonly kind: InstallItemKind
    readonly type: ArtifactRef["kind"]
    readonly claim: ClaimKind
    readonly claims: readonly ClaimKind[]
  }
>

const members = Object.keys(artifactMembers) as readonly Member[]

/** The selected things among those that the source brought for the target. `InvalidInput` names all that are not. */
export const installedThings = (
  source: Source,
  target: InstallTarget,
  selection: UninstallSelection,
): Effect.Effect<readonly InstalledThing[], InvalidInput | StorageFault, Blueprints | Sources> =>
  Effect.gen(function* () {
    const sources = yield* Sources
    const blueprintStore = yield* Blueprints
    const rows = yield* blueprintStore.list({ ofSource: source.recordId })
    const own = yield* sources.claims(source.recordId)
    const claimsOfOthers = (yield* sources.allClaims).filter((claim) => claim.source.recordId !== source.recordId)
    const missing: string[] = []
    const blueprints = [...new Set(selection.blueprints)].flatMap((id): readonly InstalledThing[] => {
      const row = rows.find(({ origin }) => origin?.sourceBlueprintID === id)
      if (row === undefined) missing.push(`blueprint ${id}`)
      return row === undefined
        ? []
        : [
            {
              kind: "blueprint",
              name: row.id,
              otherSources: [],
              removal: { row: { sourceBlueprintID: id, recordId: row.recordId } },
            },
          ]
    })
    const artifacts = members.flatMap((member) => {
      const { kind, type, claim, claims } = artifactMembers[member]
      const scope = kind === "subscription_role" ? ({ type: "global" } as const) : scopeFor(type, target)
      const isOf = (kinds: readonly ClaimKind[], name: string) => (known: SourceClaim) =>
        kinds.includes(known.kind) && known.name === name && isSameScope(known.scope, scope)
      return [...new Set(selection[member])].flatMap((name): readonly InstalledThing[] => {
        if (!own.some(isOf([claim], name))) {
          missing.push(`${kind.replace(/^local_/u, "").replaceAll("_", " ")} ${name}`)
          return []
        }
        const otherSources = [...new Set(claimsOfOthers.filter(isOf(claims, name)).map((claim) => claim.source.id))]
        return [{ kind, name, otherSources, removal: { artifact: { scope, kind: type, name }, claims } }]
      })
    })
    if (missing.length > 0) return yield* notInstalled(source, target, missing)
    return [...blueprints, ...artifacts]
  })

const notInstalled = (source: Source, { global }: InstallTarget, missing: readonly string[]) =>
  new InvalidInput({
    what: `Cannot uninstall from source ${source.id}: ${listed(missing)} ${missing.length === 1 ? "was" : "were"} not installed ${global ? "globally" : "for you"} from this source`,
    hint: `GET /sources/${source.id}/blueprints, /templates, /roles and /collections list what was installed.`,
  })

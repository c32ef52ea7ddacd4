import type { SourceId, SourceIssue, UndeclaredDependency as Undeclared } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import type { ItemOutcome } from "../source/item-outcome.ts"
import { UndeclaredDependency } from "./source-catalog.ts"

/** The outcome of an item that a source ships. */
export const ArtifactResult = Schema.Struct({
  name: Schema.String,
  ok: Schema.Boolean,
  message: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "ArtifactResult" })

/** The outcome of a requirement of a blueprint; `error` also contains notes about a success. */
export const AnsibleInstallResult = Schema.Struct({
  name: Schema.String,
  version: Schema.optionalKey(Schema.String),
  ok: Schema.Boolean,
  error: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.Literals(["role", "collection", "subscription_role"])),
}).annotate({ identifier: "AnsibleInstallResult" })

export const syncResultFields = {
  sourceID: Schema.String,
  templateResults: Schema.Array(ArtifactResult),
  localAnsibleResults: Schema.Struct({
    roleResults: Schema.Array(ArtifactResult),
    collectionResults: Schema.Array(ArtifactResult),
  }),
  blueprintResults: Schema.Struct({
    ansibleResults: Schema.Array(AnsibleInstallResult),
    undeclaredDependencies: Schema.optionalKey(Schema.Array(UndeclaredDependency)),
    /** Ours: the blueprints themselves, by their IDs. */
    results: Schema.optionalKey(Schema.Array(ArtifactResult)),
  }),
} as const

/** A part of a source that is ignored, or has no effect. Lines and columns count from 1. */
export const SourceWarning = Schema.Struct({
  file: Schema.String,
  path: Schema.String,
  line: Schema.Int,
  column: Schema.Int,
  message: Schema.String,
}).annotate({ identifier: "SourceWarning" })

/** A member with the warnings about a source; none if there are none. */
export const sourceWarnings = (issues: readonly SourceIssue[]): { readonly warnings?: readonly (typeof SourceWarning.Type)[] } =>
  issues.length === 0
    ? {}
    : { warnings: issues.map(({ file, path, line, column, message }) => ({ file, path, line, column, message })) }

/** The result of a sync or an installation, item by item. */
export const SyncResultResponse = Schema.Struct({
  ...syncResultFields,
  warnings: Schema.optionalKey(Schema.Array(SourceWarning)),
}).annotate({ identifier: "SyncResultResponse" })

const artifactResults = (outcomes: readonly ItemOutcome[], kind: ItemOutcome["kind"]): readonly (typeof ArtifactResult.Type)[] =>
  outcomes.flatMap(({ kind: own, name, ok, text }) =>
    own === kind ? [{ name, ok, ...(text === undefined ? {} : { message: text }) }] : [],
  )

/** Outcomes of requirements, in order. */
export const ansibleResults = (outcomes: readonly ItemOutcome[]): readonly (typeof AnsibleInstallResult.Type)[] =>
  outcomes.flatMap(({ kind, name, version, ok, text }) =>
    kind === "role" || kind === "collection" || kind === "subscription_role"
      ? [{ name, ...(version ? { version } : {}), ok, ...(text === undefined ? {} : { error: text }), type: kind }]
      : [],
  )

/** A sync installs nothing: it has no outcomes. */
export const syncResult = (
  sourceID: SourceId,
  outcomes: readonly ItemOutcome[],
  undeclared: readonly Undeclared[],
): typeof SyncResultResponse.Type => {
  const blueprints = artifactResults(outcomes, "blueprint")
  return {
    sourceID,
    templateResults: artifactResults(outcomes, "template"),
    localAnsibleResults: {
      roleResults: artifactResults(outcomes, "local_role"),
      collectionResults: artifactResults(outcomes, "local_collection"),
    },
    blueprintResults: {
      ansibleResults: ansibleResults(outcomes),
      ...(undeclared.length === 0 ? {} : { undeclaredDependencies: undeclared }),
      ...(blueprints.length === 0 ? {} : { results: blueprints }),
    },
  }
}

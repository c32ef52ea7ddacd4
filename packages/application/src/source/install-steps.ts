import { artifactKinds, isRecordId, type Step } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import type { WorkStep } from "@rangewright/run-engine"
import type { PreparedInstall } from "./prepare-install.ts"

const text = Schema.String
const record = Schema.String.pipe(Schema.refine(isRecordId))
const optional = Schema.optionalKey(Schema.String)
const requirements = <F extends Schema.Struct.Fields>(fields: F) => {
  const requirement = Schema.Struct(fields)
  return Schema.Array(
    Schema.Struct({
      requirement,
      declared: Schema.Array(Schema.Struct({ blueprint: text, requirement })),
      change: Schema.Literals(["place", "replace", "keep", "differs"]),
    }),
  )
}
const row = Schema.Struct({ sourceBlueprintID: text, recordId: record })

/** One part of an installation, as journaled. Each may be repeated, and fails alone. */
export const InstallStep = Schema.Union([
  Schema.Struct({ do: Schema.Literal("prune"), rows: Schema.Array(row) }),
  Schema.Struct({
    do: Schema.Literal("blueprint"),
    id: text,
    recordId: record,
    publicId: text,
    change: Schema.Literals(["create", "refresh", "keep", "refuse"]),
    because: optional,
  }),
  Schema.Struct({
    do: Schema.Literal("artifact"),
    artifact: Schema.Struct({
      kind: Schema.Literals(artifactKinds),
      name: text,
      directory: text,
      description: optional,
      version: optional,
      change: Schema.Literals(["place", "replace", "keep", "differs", "refuse"]),
      because: optional,
    }),
    /** Requirements also name it by its full name: then it is one of their outcomes too. */
    required: Schema.Boolean,
    force: Schema.Boolean,
  }),
  Schema.Struct({
    do: Schema.Literal("roles"),
    planned: requirements({ name: optional, src: optional, version: optional, scm: optional }),
    force: Schema.Boolean,
  }),
  Schema.Struct({
    do: Schema.Literal("collections"),
    planned: requirements({ name: optional, version: optional, source: optional, type: optional }),
    force: Schema.Boolean,
  }),
  Schema.Struct({ do: Schema.Literal("subscription"), names: Schema.Array(text) }),
  /** Fails if the step with this key had failed items: if that step failed itself, its outcomes would be lost. */
  Schema.Struct({ do: Schema.Literal("check"), of: text }),
])
export type InstallStep = typeof InstallStep.Type

/** A step with its declaration in the plan of a run. */
export interface PlannedStep {
  readonly declared: WorkStep
  readonly step: InstallStep
}

/** Limit of concurrent copies. */
const library: Step["uses"] = [{ resource: "library", slots: 4, ofHost: true }]
/** Expected seconds of a step, and per requirement. */
const seconds = { row: 0.1, copy: 0.5, requirement: 8 } as const

/** All steps. None of them stops another, but what comes from elsewhere waits for what the source ships, which it may need. */
export const installStepsOf = ({ plan, blueprints, pruned }: PreparedInstall, force: boolean): readonly PlannedStep[] => {
  const required = new Set(plan.vendoredRoles.map(({ name }) => name))
  const copies = plan.artifacts.map((artifact): PlannedStep => {
    const { kind, name } = artifact
    const title = `Install ${kind} ${name}`
    const declared = { key: `${kind}:${name}`, title, estimate: seconds.copy, uses: library, tolerated: true }
    return { declared, step: { do: "artifact", artifact, required: kind === "role" && required.has(name), force } }
  })
  const after = copies.map(({ declared }) => declared.key)
  const fetched = (key: string, title: string, count: number, step: InstallStep): readonly PlannedStep[] =>
    count === 0
      ? []
      : [
          {
            declared: {
              key,
              title: `Fetch ${title} (${count})`,
              estimate: seconds.requirement * count,
              after,
              tolerated: true,
            },
            step,
          },
          {
            declared: { key: `${key}-check`, title: `Check ${title}`, estimate: 0, after: [key], tolerated: true },
            step: { do: "check", of: key },
          },
        ]
  const { roles, collections, subscriptionRoles } = plan
  return [
    ...(pruned.length === 0 ? [] : [pruneStep(pruned)]),
    ...blueprints.map(({ blueprint: { id }, recordId, publicId, change, because }): PlannedStep => ({
      declared: { key: `blueprint:${id}`, title: `Install blueprint ${publicId}`, estimate: seconds.row, tolerated: true },
      step: { do: "blueprint", id, recordId, publicId, change, ...(because === undefined ? {} : { because }) },
    })),
    ...copies,
    ...fetched("roles", "roles that blueprints require", roles.length, { do: "roles", planned: roles, force }),
    ...fetched("collections", "collections that blueprints require", collections.length, {
      do: "collections",
      planned: collections,
      force,
    }),
    ...fetched("subscription", "subscription roles", subscriptionRoles.length, {
      do: "subscription",
      names: subscriptionRoles.map(({ name }) => name),
    }),
  ]
}

const pruneStep = (rows: PreparedInstall["pruned"]): PlannedStep => ({
  declared: { key: "prune", title: "Remove blueprints that are no longer shipped", estimate: seconds.row, tolerated: true },
  step: { do: "prune", rows },
})

import { type Blueprint, type Fault, type InstallPlan, planInstall } from "@rangewright/domain"
import { ArtifactLibrary, Blueprints, type LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { longWork } from "../operation/long-work.ts"
import { type InstallTarget, scopeFor } from "../source/installation.ts"
import type { SourceContents } from "../source/source-contents.ts"
import { blueprintConfig } from "./find-blueprint.ts"
import { asShipped, dependencyContextOf } from "./dependency-context.ts"

/** For whom dependencies are installed. */
export interface DependencyChoice extends InstallTarget {
  /** Replaces what is there. */
  readonly force: boolean
}

/** What is already installed in the target scope. */
const presentFor = (choice: DependencyChoice): Effect.Effect<Parameters<typeof planInstall>[1], LibraryFault, ArtifactLibrary> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const there = yield* library.list(scopeFor("role", choice))
    const everybodys = yield* library.list({ type: "global" })
    return {
      ...there,
      templates: [],
      globalRoles: everybodys.roles.map(({ name }) => name),
      blueprints: [],
      otherBlueprints: new Set(),
      builtInTemplates: new Set(),
    }
  })

/**
 * Plans the installation of the blueprint's requirements, and changes nothing: what its source ships comes from the snapshot that the
 * blueprint was installed from, everything else from where it is published. Templates are not included: they are built.
 */
export const planDependencies = Effect.fnUntraced(function* (
  blueprint: Blueprint,
  choice: DependencyChoice,
): Effect.fn.Return<InstallPlan, Fault, ArtifactLibrary | Blueprints | SourceContents> {
  const blueprints = yield* Blueprints
  const { id, content, files } = yield* dependencyContextOf(blueprint)
  const config = yield* blueprintConfig(blueprint)
  const requirements = yield* blueprints.requirements(blueprint.id)
  const present = yield* presentFor(choice)
  const shipped = yield* longWork(() => asShipped(id, blueprint, config, requirements))
  const shipping = { id: "", content: { ...content, blueprints: [shipped] }, ...(files === undefined ? {} : { files }) }
  const planned = yield* longWork(() => planInstall(shipping, present, { selection: { blueprints: [id] }, force: choice.force }))
  // cannot happen: the only blueprint that is requested is there
  if (Result.isFailure(planned)) return yield* Effect.die(new Error(`blueprint ${blueprint.id} is not in its own plan`))
  const plan = planned.success
  return { ...plan, artifacts: plan.artifacts.filter(({ kind }) => kind !== "template") }
})

/** The part of the plan that is still to be done: installed subscription roles are never replaced. */
export const stillToInstall = (plan: InstallPlan): InstallPlan => ({
  ...plan,
  subscriptionRoles: plan.subscriptionRoles.filter(({ there }) => !there),
  // a role that the source ships is reported once
  vendoredRoles: [],
})

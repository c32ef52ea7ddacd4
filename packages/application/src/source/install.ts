import {
  type DryRunPlan,
  dryRunOf,
  type Fault,
  type InstallChoice,
  type PlannedArtifact,
  type UndeclaredDependency,
} from "@rangewright/domain"
import {
  type ArtifactLibrary,
  type Blueprints,
  ContentFetcher,
  type CredentialHasher,
  RunJournal,
  type Sources,
  type Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { RunEngine } from "@rangewright/run-engine"
import type { Settings } from "../settings.ts"
import { isSameCopy } from "./compare-artifact.ts"
import { holderOfInstall } from "./conclude-install.ts"
import { installOutcomes } from "./install-outcomes.ts"
import { sourceInstall } from "./install-run.ts"
import type { Installation } from "./installation.ts"
import type { ItemOutcome } from "./item-outcome.ts"
import { prepareInstall } from "./prepare-install.ts"
import { sourceSubject } from "./source-subject.ts"
import { startAfterOthers } from "./start-after-others.ts"

/** The result of an installation, item by item. */
export interface InstallResult {
  readonly outcomes: readonly ItemOutcome[]
  /** Of all blueprints of the source. */
  readonly undeclared: readonly UndeclaredDependency[]
}

export type InstallServices = Blueprints | ContentFetcher | RunEngine | RunJournal

/**
 * Releases the snapshot of an installation that did not begin, unless another one is in progress: that may need the same snapshot, and
 * releases it at its end.
 */
const releaseUnbegun = ({ source, content }: Installation) =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const fetcher = yield* ContentFetcher
    const active = yield* journal.active(sourceSubject(source.recordId))
    if (active?.kind === sourceInstall.name) return
    yield* fetcher.release(content.snapshot.id, holderOfInstall(source.recordId))
  }).pipe(Effect.ignore({ log: "Warn" }))

/**
 * Installs from a snapshot of a source, in a run of the source, and waits for its end; the run continues without its caller. A failed item
 * does not affect the others. Fails before anything is done if the selection names items that are not shipped.
 */
export const installFrom = (
  installation: Installation,
  { selection, force = false, noDeps = false }: InstallChoice,
): Effect.Effect<InstallResult, Fault, InstallServices> =>
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const engine = yield* RunEngine
    const { source, content, user, userRecord, global } = installation
    const { id } = content.snapshot
    yield* fetcher.pin(id, holderOfInstall(source.recordId))
    const asked = { recordId: source.recordId, snapshot: id, user, global, force, noDeps }
    const more = { ...(selection === undefined ? {} : { selection }), ...(userRecord === undefined ? {} : { userRecord }) }
    const request = sourceInstall.request(sourceSubject(source.recordId), { ...asked, ...more })
    const run = yield* Effect.onError(startAfterOthers(request, user), () => releaseUnbegun(installation))
    const state = yield* engine.wait(run.id)
    return { outcomes: installOutcomes(state), undeclared: content.survey.undeclared }
  })

/** What `installFrom` would do; changes nothing. Installed items are compared with what is shipped. */
export const dryRunInstall = (
  installation: Installation,
  choice: InstallChoice,
): Effect.Effect<
  { readonly plan: DryRunPlan; readonly undeclared: readonly UndeclaredDependency[] },
  Fault,
  ArtifactLibrary | Blueprints | ContentFetcher | CredentialHasher | Settings | Sources | Users
> =>
  Effect.gen(function* () {
    const { plan } = yield* prepareInstall(installation, choice)
    const artifacts = yield* Effect.forEach(plan.artifacts, (artifact) => compared(installation, artifact, choice.force ?? false))
    return { plan: dryRunOf(installation.source, { ...plan, artifacts }), undeclared: plan.undeclared }
  })

const compared = (installation: Installation, artifact: PlannedArtifact, force: boolean) => {
  const { because = "something else with this name exists", ...planned } = artifact
  if (artifact.change === "place" || artifact.change === "refuse") return Effect.succeed(artifact)
  return isSameCopy(installation, artifact).pipe(
    Effect.map((same): PlannedArtifact => {
      if (same) return { ...planned, change: "keep" }
      return force ? { ...planned, change: "replace" } : { ...planned, change: "differs", because }
    }),
    // what cannot be read cannot be installed either, and the installation would report that
    Effect.catchTags({
      ContentFault: ({ message }) => Effect.succeed({ ...planned, change: "refuse", because: message } as const),
      LibraryFault: ({ message }) => Effect.succeed({ ...planned, change: "refuse", because: message } as const),
    }),
  )
}

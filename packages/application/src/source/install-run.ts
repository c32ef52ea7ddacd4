import {
  Failed,
  isRecordId,
  type RecordId,
  type RunHead,
  sayFailures,
  type SnapshotId,
  SourceNotFound,
  type StepFacts,
  type UserId,
  workPlan,
} from "@rangewright/domain"
import { Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { runKind } from "@rangewright/run-engine"
import { work } from "@rangewright/run-engine"
import { InstallSelection } from "../wire/install.ts"
import { concludeInstall, releaseInstalled, tellBlueprints } from "./conclude-install.ts"
import { outcomesIn } from "./install-outcomes.ts"
import { InstallStep, installStepsOf } from "./install-steps.ts"
import { type Installation, stillWanted } from "./installation.ts"
import { failuresAmong, type ItemOutcome } from "./item-outcome.ts"
import { performInstallStep } from "./perform-install.ts"
import { prepareInstall } from "./prepare-install.ts"
import { SourceContents } from "./source-contents.ts"

/** The stored request of an installation. */
const Request = Schema.Struct({
  /** Record ID of the source: a source created again under its ID is another one. */
  recordId: Schema.String.pipe(Schema.refine(isRecordId)),
  snapshot: Schema.String,
  user: Schema.String,
  userRecord: Schema.optionalKey(Schema.String.pipe(Schema.refine(isRecordId))),
  global: Schema.Boolean,
  selection: Schema.optionalKey(InstallSelection),
  force: Schema.Boolean,
  noDeps: Schema.Boolean,
})
type Request = typeof Request.Type
const readRequest = Schema.decodeUnknownEffect(Request)

const installationOf = ({ recordId, snapshot, user, userRecord, global }: Request) =>
  Effect.gen(function* () {
    const sources = yield* Sources
    const contents = yield* SourceContents
    const source = yield* sources.findByRecordId(recordId)
    if (source === undefined) return yield* new SourceNotFound({ source: recordId })
    // written by `installFrom`
    const content = yield* contents.ofId(snapshot as SnapshotId)
    const target = { user: user as UserId, ...(userRecord === undefined ? {} : { userRecord }), global }
    yield* stillWanted(target)
    return { source, content, ...target } satisfies Installation
  })

const unreadable = () => new Failed({ what: "Cannot continue the installation: its request cannot be read" })
const requestOf = ({ options }: RunHead) => Effect.mapError(readRequest(options), unreadable)

/** One step. An item that cannot be installed fails its own step; failed requirements fail the `check` step that follows. */
const install = work({
  name: "install",
  input: InstallStep,
  settle: (step, { head, factsOf, print }) =>
    Effect.gen(function* () {
      if (step.do === "check") return yield* failFor(outcomesIn(factsOf(step.of)))
      const installation = yield* installationOf(yield* requestOf(head))
      // tool output is for people; a journal that cannot be written ends the run by itself
      const outcomes = yield* performInstallStep(installation, step, (said) => Effect.ignore(print(said)))
      if (step.do === "artifact" || step.do === "blueprint") yield* failFor(outcomes)
      return { data: outcomes.map((outcome) => ({ ...outcome })) }
    }),
})

/** Fails if any outcome failed; the message names all that did. */
export const failFor = (outcomes: readonly ItemOutcome[]): Effect.Effect<StepFacts, Failed> => {
  const [first, ...others] = failuresAmong(outcomes)
  if (first === undefined) return Effect.succeed({})
  return Effect.fail(new Failed({ what: others.length === 0 ? first.because : sayFailures([first, ...others]) }))
}

/** Installs from a snapshot of a source, item by item. */
export const sourceInstall = runKind({
  name: "source-install",
  doing: "an installation",
  request: Request,
  plan: (request) =>
    Effect.gen(function* () {
      const installation = yield* installationOf(request)
      const steps = installStepsOf(yield* prepareInstall(installation, request), request.force)
      return workPlan(steps.map(({ declared, step }) => install.step(declared, step)))
    }),
  works: [install],
  owner: ({ id }) =>
    Effect.map(
      Effect.flatMap(Sources, (sources) => sources.findByRecordId(id as RecordId)),
      (source) => source?.owner,
    ),
  finish: (end, state, head) =>
    Effect.gen(function* () {
      const sources = yield* Sources
      const contents = yield* SourceContents
      const { recordId, snapshot, noDeps } = yield* requestOf(head)
      // nothing is recorded for a removed source, and only the end for one whose content is gone
      const source = yield* sources.findByRecordId(recordId)
      const content = yield* Effect.option(contents.ofId(snapshot as SnapshotId))
      if (source !== undefined) yield* concludeInstall(recordId, end, state)
      if (!noDeps && Option.isSome(content)) yield* tellBlueprints(content.value.content, state)
      yield* releaseInstalled(recordId)
    }),
})

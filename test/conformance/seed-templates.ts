import type { RecordId, RunHead, RunId } from "@rangewright/domain"
import { ArtifactLibrary, RunJournal } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { idOf } from "../../packages/adapter-http/test/support.ts"
import { templateBuild, templateSubject } from "../../packages/application/src/template/build-run.ts"

/** The member's template that is not built. */
const template = "debian-own"

/** A build of the member's that has ended. */
export const seededBuild = "build0000000001" as RunId

const request = templateBuild.request(templateSubject(template), {
  template,
  user: idOf.member,
  userRecord: "record000000002" as RecordId,
  own: true,
  batch: "b",
  parallel: 1,
})

/** The files of a template, and a build that failed. */
export const seedTemplates = Effect.gen(function* () {
  const bytes = new TextEncoder().encode(`variable "vm_name" {\n  default = "${template}"\n}\n`)
  yield* (yield* ArtifactLibrary).place(
    { scope: { type: "user", userId: idOf.member }, kind: "template", name: template },
    [{ kind: "file", path: "debian.pkr.hcl", size: bytes.length, executable: false, read: Effect.succeed(bytes) }],
    { replace: true },
  )
  const journal = yield* RunJournal
  const at = new Date("2026-01-02T03:04:05Z")
  const head: RunHead = { id: seededBuild, ...request, by: idOf.member, startedAt: at }
  yield* journal.open(head, undefined)
  const generation = (yield* journal.claim(head.id, "before", 30)) ?? 1
  yield* journal.close(head.id, generation, { type: "Ended", status: "failure", message: "the disk was full" }, undefined, at)
})

/** A build of it that does not end by itself, once its tool runs. */
export const startBuild = Effect.gen(function* () {
  const engine = yield* RunEngine
  return (yield* engine.start(request, idOf.member)).id
})

import type { RecordId, RunHead, RunId, UserId } from "@rangewright/domain"
import { ArtifactLibrary, RunJournal } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { idOf } from "../../packages/adapter-http/test/support.ts"
import { templateBuild, templateSubject } from "../../packages/application/src/template/build-run.ts"

const member = { user: idOf.member, userRecord: "record000000002" as RecordId }
const admin = { user: idOf.admin, userRecord: "record000000001" as RecordId }

/** A finished build of the member. */
export const seededBuild = "build0000000001" as RunId

const requestFor = (template: string, whose: typeof member) =>
  templateBuild.request(templateSubject(template), { template, ...whose, own: true, batch: "b", parallel: 2 })

/** A template with a thumbnail, of the member and the administrator. */
export const picturedTemplate = "drawn"

const define = Effect.fnUntraced(function* (name: string, userId: UserId) {
  const file = (path: string, text: string) => {
    const bytes = new TextEncoder().encode(text)
    return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) } as const
  }
  const builder = file("debian.pkr.hcl", `variable "vm_name" {\n  default = "${name}"\n}\n`)
  const picture = name === picturedTemplate ? "a.gif" : undefined
  yield* (yield* ArtifactLibrary).place(
    { scope: { type: "user", userId }, kind: "template", name },
    picture === undefined ? [builder] : [builder, file(picture, "GIF89a")],
    { template: { system: undefined, description: undefined, picture }, replace: true },
  )
})

const ended = Effect.fnUntraced(function* (id: RunId, template: string, whose: typeof member) {
  const journal = yield* RunJournal
  const at = new Date("2026-01-02T03:04:05Z")
  const head: RunHead = { id, ...requestFor(template, whose), by: whose.user, startedAt: at }
  yield* journal.open(head, undefined)
  const generation = (yield* journal.claim(id, "before", 30)) ?? 1
  yield* journal.close(id, generation, { type: "Ended", status: "failure", message: "the disk was full" }, undefined, at)
})

/** The member's template that is not built, and failed builds of the member and the administrator. */
export const seedTemplates = Effect.gen(function* () {
  yield* define("debian-own", idOf.member)
  for (const owner of [idOf.member, idOf.admin]) yield* define(picturedTemplate, owner)
  yield* ended(seededBuild, "debian-own", member)
  yield* ended("build0000000002" as RunId, "debian-admin", admin)
})

/** A build of each that does not end by itself once its tool runs. */
export const startBuilds = Effect.gen(function* () {
  const engine = yield* RunEngine
  yield* define("debian-admin", idOf.admin)
  const begin = Effect.fnUntraced(function* (template: string, whose: typeof member) {
    const { id } = yield* engine.start(requestFor(template, whose), whose.user)
    yield* engine.events(id, 0).pipe(
      Stream.takeUntil(({ event }) => event.type === "Output" && event.text.includes("Creating VM")),
      Stream.runDrain,
    )
    return id
  })
  yield* begin("debian-admin", admin)
  return yield* begin("debian-own", member)
})

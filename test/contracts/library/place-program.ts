/** Replaces one role again and again, in a process of its own, and reports each time. For tests that kill it. */
import { libraryLayer } from "@rangewright/adapter-ansible"
import type { UserId } from "@rangewright/domain"
import { ArtifactLibrary } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { aRole, entriesOf } from "./entries.ts"

const [folder = ""] = process.argv.slice(2)
const scope = { type: "user", userId: "JD" as UserId } as const

await Effect.runPromise(
  ArtifactLibrary.use((library) =>
    Effect.forever(
      Effect.gen(function* () {
        const text = crypto.randomUUID()
        const files = { ...aRole, "files/which": text, "files/copy": text }
        yield* library.place({ scope, kind: "role", name: "web" }, entriesOf(files), { replace: true })
        process.send?.("placed")
      }),
    ),
  ).pipe(Effect.provide(libraryLayer({ folder }))),
)

import { type MemoryGalaxy, publishTo } from "@rangewright/adapter-memory"
import { type ArtifactEntry, ArtifactLibrary } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { idOf } from "../../packages/adapter-http/test/support.ts"

const entries = (files: Readonly<Record<string, string>>): readonly ArtifactEntry[] =>
  Object.entries(files).map(([path, text]) => {
    const bytes = new TextEncoder().encode(text)
    return { kind: "file", path, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
  })

/** A role and a collection that are published under their names. */
export const fillGalaxy = (galaxy: MemoryGalaxy): void => {
  publishTo(galaxy, "role", "acme.web", "1.0.0", { entries: entries({ "tasks/main.yml": "[]\n" }) })
  publishTo(galaxy, "collection", "acme.util", "1.0.0", {
    entries: entries({ "galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\n" }),
  })
}

/** Roles of the member and of everybody. */
export const seedRoles = Effect.gen(function* () {
  const library = yield* ArtifactLibrary
  const files = entries({
    "tasks/main.yml": "[]\n",
    "defaults/main.yml": "greeting: hello\ntimes: 2\n",
    "meta/argument_specs.yml":
      "argument_specs: {main: {options: {greeting: {type: str, description: What is said, choices: [hello, bye]}}}}\n",
  })
  for (const scope of [{ type: "user", userId: idOf.member }, { type: "global" }] as const)
    yield* library.place({ scope, kind: "role", name: "acme.hello" }, files, { version: "1.0.0", replace: false })
})

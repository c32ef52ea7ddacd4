import { makeMemoryLibrary, memoryLibraryLayer } from "@rangewright/adapter-memory"
import type { UserId } from "@rangewright/domain"
import { type ArtifactEntry, ArtifactLibrary, type LibraryScope } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { libraryRoles } from "../../src/index.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rangewright-roles-"))
  for (const scope of ["users/alice", "global"])
    await mkdir(join(folder, scope, "collections/ansible_collections/acme", scope.slice(0, 5), "roles/setup"), {
      recursive: true,
    })
})
afterAll(() => rm(folder, { recursive: true }))

const bytes = new TextEncoder().encode("[]\n")
const tasks: ArtifactEntry = {
  kind: "file",
  path: "tasks/main.yml",
  size: bytes.length,
  executable: false,
  read: Effect.succeed(bytes),
}

describe("a user's own roles", () => {
  it("are the user's, and those of the user's collections, and nobody else's", async () => {
    const alice: LibraryScope = { type: "user", userId: "alice" as UserId }
    const found = await Effect.runPromise(
      Effect.gen(function* () {
        const library = yield* ArtifactLibrary
        const place = (scope: LibraryScope, name: string) =>
          library.place({ scope, kind: "role", name }, [tasks], { replace: false })
        yield* place(alice, "secret")
        yield* place(alice, "both")
        yield* place({ type: "global" }, "both")
        yield* place({ type: "global" }, "common")
        const { roles, ownRoles } = yield* libraryRoles({ folder, library: folder, program: join(folder, "none") })
        return {
          all: yield* roles("alice" as UserId),
          own: yield* ownRoles("alice" as UserId),
          others: yield* ownRoles("bob" as UserId),
        }
      }).pipe(Effect.provide(memoryLibraryLayer(makeMemoryLibrary()))),
    )
    expect([...found.own].sort()).toEqual(["acme.users.setup", "both", "secret"])
    expect([...found.others]).toEqual([])
    expect([...(found.all ?? [])].sort()).toEqual(["acme.globa.setup", "acme.users.setup", "both", "common", "secret"])
  })
})

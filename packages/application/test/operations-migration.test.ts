import type { User } from "@rangewright/domain"
import { MigrationRecords, RecordDamaged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let admin: User
beforeEach(async () => {
  app = makeTestApp({ settings: { clusterMode: true, natNetwork: undefined } })
  admin = await app.addUser("Root1", { isAdmin: true })
})

describe("a damaged record of a migration", () => {
  const damaged = new RecordDamaged({ what: "the record", hint: "Restore it." })
  const withDamage = <A, E>(effect: Effect.Effect<A, E, MigrationRecords>) =>
    Effect.provideService(effect, MigrationRecords, {
      find: Effect.fail(damaged),
      save: () => Effect.die("saved"),
      remove: Effect.die("removed"),
    })

  it("does not keep anybody from the status, which says nothing of it", async () => {
    const member = await app.addUser("Ada")
    const read = app.handle("getSDNMigrationStatus", member) as Effect.Effect<unknown, never, MigrationRecords>
    expect(await app.run(withDamage(read))).toMatchObject({ cluster_mode: true, needs_migration: true })
  })

  it.each([
    ["getSDNMigrationReport", {}],
    ["migrateToSDN", { dryRun: true }],
    ["rollbackSDNMigration", { dryRun: true }],
  ])("is a conflict with a way out for %s, and nothing takes its place", async (operation, query) => {
    const asked = app.handle(operation, admin, { query }) as Effect.Effect<never, RecordDamaged, MigrationRecords>
    expect(await app.run(Effect.flip(withDamage(asked)))).toMatchObject({
      kind: "conflict",
      message: "Cannot continue: the record is damaged",
      hint: "Restore it.",
    })
  })
})

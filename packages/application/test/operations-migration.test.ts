import { handlerServicesLayer } from "@rangewright/application"
import type { User } from "@rangewright/domain"
import { MigrationRecords, RecordDamaged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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
  const records = Layer.succeed(MigrationRecords, {
    find: Effect.fail(damaged),
    save: () => Effect.die("saved"),
    remove: Effect.die("removed"),
  })
  const handled = (operation: string, user: User, query = {}) =>
    Effect.provide(app.handle(operation, user, { query }), Layer.provide(Layer.fresh(handlerServicesLayer), records))

  it("does not keep anybody from the status, which says nothing of it", async () => {
    const member = await app.addUser("Ada")
    expect(await app.run(handled("getSDNMigrationStatus", member))).toMatchObject({ cluster_mode: true, needs_migration: true })
  })

  it.each([
    ["getSDNMigrationReport", {}],
    ["migrateToSDN", { dryRun: true }],
    ["rollbackSDNMigration", { dryRun: true }],
  ])("is a conflict with a way out for %s, and nothing takes its place", async (operation, query) => {
    expect(await app.run(Effect.orDie(Effect.flip(handled(operation, admin, query))))).toMatchObject({
      kind: "conflict",
      message: "Cannot continue: the record is damaged",
      hint: "Restore it.",
    })
  })
})

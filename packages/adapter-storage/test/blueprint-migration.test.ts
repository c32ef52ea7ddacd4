import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { type BlueprintId, type GroupName, neverInstalled, type RecordId, type UserId } from "@rangewright/domain"
import { Blueprints, type Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { sqliteLayer } from "../src/engine/sqlite.ts"
import { sqliteMigrations } from "../src/migrations/index.ts"
import { usersLayer } from "../src/repositories/users.ts"
import { onFile, temporaryFolder } from "./support.ts"

/** A database of the version before blueprints could come from sources: web/basic of alice, with a picture, shared with bob and a group. */
const oldFile = async (): Promise<string> => {
  const file = join(await temporaryFolder(), "data.db")
  const before = sqliteMigrations.slice(0, 4)
  const users: Layer.Layer<Users, unknown> = usersLayer.pipe(Layer.provide(sqliteLayer(file, before)))
  await Effect.runPromise(Effect.scoped(Effect.asVoid(Layer.build(users))))
  const database = new DatabaseSync(file)
  database.exec(`
    insert into users (id, record_id, number, name, email, email_key, is_admin, hypervisor_username, hypervisor_realm,
      has_completed_onboarding, created_at, updated_at, token_key)
    values ('alice', 'alice0000000000', 2, 'Alice', '', null, 0, 'alice', 'pve', 0, 0, 0, 'k'),
      ('bob', 'bob000000000000', 3, 'Bob', '', null, 0, 'bob', 'pve', 0, 0, 0, 'k');
    insert into user_groups (name, record_id, description, created_at) values ('red', 'red000000000000', '', 0);
    insert into blueprints (id, record_id, owner, name, description, version, tags, min_version, created_at, updated_at, config)
    values ('web/basic', 'webbasic0000000', 'alice', 'Web', 'd', '1.0.0', '["t"]', '2.0', 1000, 2000, 'ludus: [] # kept');
    insert into blueprint_thumbnails (blueprint_id, name, type, content) values ('web/basic', 'web_x.png', 'image/png', x'0102');
    insert into blueprint_users (blueprint_id, user_id) values ('web/basic', 'bob');
    insert into blueprint_groups (blueprint_id, group_name) values ('web/basic', 'red');`)
  database.close()
  return file
}

it("keeps the blueprints of an old database with their pictures and shares, which still go with them", async () => {
  await onFile(
    await oldFile(),
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const id = "web/basic" as BlueprintId
      const recordId = "webbasic0000000" as RecordId
      expect(yield* blueprints.list()).toEqual([
        {
          id,
          recordId,
          owner: "alice",
          name: "Web",
          description: "d",
          version: "1.0.0",
          tags: ["t"],
          minVersion: "2.0",
          thumbnail: "web_x.png",
          origin: undefined,
          bundle: undefined,
          installation: neverInstalled,
          sharedUsers: ["bob"],
          sharedGroups: ["red"],
          createdAt: new Date(1000),
          updatedAt: new Date(2000),
        },
      ])
      expect(yield* blueprints.config(id)).toBe("ludus: [] # kept")
      expect(yield* blueprints.requirements(id)).toBeUndefined()
      expect((yield* blueprints.thumbnail(recordId, "web_x.png"))?.bytes).toEqual(new Uint8Array([1, 2]))
      expect(yield* blueprints.unshareWithUser(id, "bob" as UserId)).toBe(true)
      expect(yield* blueprints.unshareWithGroup(id, "red" as GroupName)).toBe(true)
      yield* blueprints.remove(id)
      expect(yield* blueprints.thumbnail(recordId, "web_x.png")).toBeUndefined()
    }),
  )
})

import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { createDatabase, noServer, testServer } from "../contracts/storage/postgres-server.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { launch, startService } from "./support/service.ts"

const drops: (() => Promise<void>)[] = []
afterAll(async () => {
  await endAll()
  for (const drop of drops) await drop()
  removeFolders()
})

const newKey = (): string => randomBytes(32).toString("hex")

describe.skipIf(testServer === undefined)(
  `the secret key of several services over one PostgreSQL (${testServer === undefined ? noServer : "given"})`,
  { timeout: 300_000 },
  () => {
    const sharedDatabase = async () => {
      const { url, drop } = await createDatabase(testServer ?? "")
      drops.push(drop)
      return url
    }

    test("a second service with another key, or without one, is refused and creates none", async () => {
      const RANGEWRIGHT_DATABASE_URL = await sharedDatabase()
      const first = await startService(temporaryFolder(), { RANGEWRIGHT_DATABASE_URL, RANGEWRIGHT_SECRET_KEY: newKey() })
      for (const more of [{ RANGEWRIGHT_SECRET_KEY: newKey() }, {}]) {
        const data = temporaryFolder()
        const second = launch(data, { RANGEWRIGHT_DATABASE_URL, ...more })
        expect((await second.ended).code).toBe(1)
        expect(second.stderr()).toMatch(/the database.*secret_key of its other instances/su)
        expect(readdirSync(data).filter((name) => /key/u.test(name))).toEqual([])
      }
      await addUser(first.root, "ADA", true)
    })

    test("a service that was not given the new key says so, and stores no secret that nobody could open", async () => {
      const RANGEWRIGHT_DATABASE_URL = await sharedDatabase()
      const [oldKey, nextKey] = [newKey(), newKey()]
      const old = { RANGEWRIGHT_DATABASE_URL, RANGEWRIGHT_SECRET_KEY: oldKey }
      const changing = temporaryFolder()
      const stopped = await startService(changing, old)
      const ada = await addUser(stopped.root, "ADA", true)
      stopped.program.signal("SIGTERM")
      await stopped.program.ended
      const forgotten = await startService(temporaryFolder(), old)
      const file = join(changing, "new-key")
      writeFileSync(file, nextKey, { mode: 0o600 })
      const rotation = launch(changing, old, ["rotate-key", file])
      expect((await rotation.ended).code).toBe(0)

      const ready = await fetch(`${forgotten.url}/readyz`)
      expect([ready.ok, await ready.text()]).toEqual([false, expect.stringContaining("its key was changed")])
      const refused = await fetch(`${forgotten.url}/api/v2/user`, {
        method: "POST",
        headers: { "X-API-KEY": ada, "content-type": "application/json" },
        body: JSON.stringify({ userID: "BOB", name: "Bob", email: "bob@lab.example", isAdmin: false }),
      })
      expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining("its key was changed to")])
      forgotten.program.signal("SIGTERM")
      await forgotten.program.ended

      const again = await startService(changing, { RANGEWRIGHT_DATABASE_URL, RANGEWRIGHT_SECRET_KEY: nextKey })
      const answer = await fetch(`${again.url}/api/v2/user/credentials?userID=ADA`, { headers: { "X-API-KEY": ada } })
      expect(answer.status).toBe(200)
      expect(existsSync(join(changing, "secret-key"))).toBe(false)
    })
  },
)

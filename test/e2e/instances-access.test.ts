import { randomBytes } from "node:crypto"
import { afterAll, describe, expect, test } from "vitest"
import { createDatabase, noServer, testServer } from "../contracts/storage/postgres-server.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

const drops: (() => Promise<void>)[] = []
afterAll(async () => {
  await endAll()
  for (const drop of drops) await drop()
  removeFolders()
})

/** Reads the user's events until the service ends the stream. */
const openStream = async (service: ServiceProcess, key: string) => {
  const response = await fetch(`${service.url}/api/v2/events`, { headers: { "x-api-key": key } })
  expect(response.status).toBe(200)
  const seen = { text: "", ended: false }
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) seen.text += chunk
    seen.ended = true
  }
  void read().catch(() => {
    seen.ended = true
  })
  await eventually(
    "the beginning of the stream",
    () => Promise.resolve(seen.text),
    (text) => text.includes("ready") && text,
  )
  return seen
}

describe.skipIf(testServer === undefined)(
  `two services over one PostgreSQL (${testServer === undefined ? noServer : "given"})`,
  { timeout: 300_000 },
  () => {
    test("what is revoked at one is refused by the other at once, however often it was used there", async () => {
      const simulator = await startSimulator(["--speed", "60"])
      const database = await createDatabase(testServer ?? "")
      drops.push(database.drop)
      const environment = onSimulator(simulator, {
        RANGEWRIGHT_DATABASE_URL: database.url,
        RANGEWRIGHT_SECRET_KEY: randomBytes(32).toString("hex"),
      })
      const first = await startService(temporaryFolder(), environment)
      const boss = first.as(await addUser(first.root, "BOSS", true))
      await addLab(first, "LAB", smallLab(2))
      const key = await addUser(first.root, "ADA")
      const second = await startService(temporaryFolder(), environment)
      const ada = (service: ServiceProcess, own = key) => service.as(own)
      const status = async (method: string, path: string, own = key) =>
        (await ada(second, own).ask(method, path, method === "GET" ? undefined : {})).status
      /** Uses it at the second service often enough that anything that could be remembered is. */
      const warm = async (path: string, own = key) => {
        for (let n = 0; n < 5; n++) expect(await status("GET", path, own)).toBe(200)
      }

      // a grant
      await boss.send("POST", "/ranges/assign/ADA/LAB", {})
      await warm("/range?rangeID=LAB")
      const stream = await openStream(second, key)
      await boss.send("DELETE", "/ranges/revoke/ADA/LAB?force=true")
      expect([await status("GET", "/range?rangeID=LAB"), await status("POST", "/range/deploy?rangeID=LAB")]).toEqual([403, 403])

      // by a group
      await boss.send("POST", "/groups", { name: "crew" })
      await boss.send("POST", "/groups/crew/ranges", { rangeIDs: ["LAB"] })
      await boss.send("POST", "/groups/crew/users", { userIDs: ["ADA"] })
      await warm("/range?rangeID=LAB")
      await boss.send("DELETE", "/groups/crew/users", { userIDs: ["ADA"] })
      expect(await status("GET", "/range?rangeID=LAB")).toBe(403)

      // an administrator
      await boss.send("PUT", "/user/ADA/admin", { isAdmin: true })
      await warm("/user/all")
      await boss.send("PUT", "/user/ADA/admin", { isAdmin: false })
      expect(await status("GET", "/user/all")).toBe(403)

      // a scoped key
      const scoped = await ada(first).send<{ readonly keyID: string; readonly apiKey: string }>("POST", "/user/keys", {
        name: "x",
        scope: "read",
        days: 1,
      })
      await warm("/range", scoped.apiKey)
      await ada(first).send("DELETE", `/user/keys/${scoped.keyID}`)
      expect(await status("GET", "/range", scoped.apiKey)).toBe(401)

      // a quota
      await warm("/user/quotas")
      await boss.send("PUT", "/user/quotas", { userIDs: ["ADA"], quotaVMs: 1 })
      expect((await ada(first).upload("/range/config?rangeID=ADA", smallLab(2))).status).toBe(200)
      expect(await ada(second).ask("POST", "/range/deploy?rangeID=ADA", {})).toMatchObject({
        status: 403,
        body: { error: expect.stringContaining("quota") as string },
      })

      // the key
      const { result } = await ada(first).get<{ readonly result: { readonly apiKey: string } }>("/user/apikey")
      expect(await status("GET", "/range")).toBe(401)
      await warm("/range", result.apiKey)
      await eventually(
        "the end of the stream",
        () => Promise.resolve(stream.ended),
        (ended) => ended,
      )

      // the user
      await boss.send("DELETE", "/user/ADA?force=true")
      expect(await status("GET", "/range", result.apiKey)).toBe(401)
    })
  },
)

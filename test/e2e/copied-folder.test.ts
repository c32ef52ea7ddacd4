import { randomBytes } from "node:crypto"
import { cpSync } from "node:fs"
import { afterAll, describe, expect, test } from "vitest"
import { createDatabase, noServer, testServer } from "../contracts/storage/postgres-server.ts"
import type { StreamEvent } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectMachines, expectSuccess, expectWholeStream, follow, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

const drops: (() => Promise<void>)[] = []
afterAll(async () => {
  await endAll()
  for (const drop of drops) await drop()
  removeFolders()
})

describe.skipIf(testServer === undefined)(
  `two services over one PostgreSQL whose data folders are copies (${testServer === undefined ? noServer : "given"})`,
  { timeout: 300_000 },
  () => {
    test("neither continues the runs of the other while that one lives, and one does once it is dead", async () => {
      // slow enough that the run lasts until the first service is killed, however long the second takes to start
      const simulator = await startSimulator(["--speed", "10"])
      const database = await createDatabase(testServer ?? "")
      drops.push(database.drop)
      const environment = onSimulator(simulator, {
        RANGEWRIGHT_DATABASE_URL: database.url,
        RANGEWRIGHT_SECRET_KEY: randomBytes(32).toString("hex"),
      })
      const folder = temporaryFolder()
      const first = await startService(folder, environment)
      const key = await addUser(first.root, "ADA", true)
      await addLab(first, "PAIR", smallLab(3))
      const copy = temporaryFolder()
      cpSync(folder, copy, { recursive: true })
      const seen: StreamEvent[] = []
      const resumed = () => seen.filter(({ type }) => type === "Resumed").length
      const until = (by: ServiceProcess, step: RegExp) =>
        follow(by.as(key), runId, seen, ({ type, data }) => type === "StepDispatched" && step.test(String(data["key"])))
      const runId = await deploy(first.as(key), "PAIR")
      await until(first, /clone/u)
      // it looks for runs that it could continue before it is ready
      const second = await startService(copy, environment)
      await second.program.says(/another service on this database has the same name/u)
      await until(second, /address/u)
      expect(resumed()).toBe(0)
      await first.crash()
      await follow(second.as(key), runId, seen)
      await expectSuccess(second.as(key), runId)
      await expectWholeStream(second.as(key), runId, seen)
      expect(resumed()).toBe(1)
      await expectMachines(simulator, second.as(key), "PAIR", ["router-debian11-x64", "m1", "m2", "m3"])
    })
  },
)

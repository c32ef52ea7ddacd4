import { randomBytes } from "node:crypto"
import { afterAll, describe, expect, test } from "vitest"
import { createDatabase, noServer, testServer } from "../contracts/storage/postgres-server.ts"
import { clockAhead } from "./support/clock.ts"
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

const hour = 3600

/**
 * Two services with folders of their own on one database and one hypervisor, the first on a host whose clock is `ahead` seconds ahead; and
 * a deploy that the first one has begun.
 */
const twoInstances = async (server: string, ahead: number) => {
  const simulator = await startSimulator(["--speed", "60"])
  const database = await createDatabase(server)
  drops.push(database.drop)
  const environment = onSimulator(simulator, {
    RANGEWRIGHT_DATABASE_URL: database.url,
    RANGEWRIGHT_SECRET_KEY: randomBytes(32).toString("hex"),
  })
  const first = await startService(temporaryFolder(), { ...environment, ...clockAhead(ahead) })
  const key = await addUser(first.root, "ADA", true)
  await addLab(first, "PAIR", smallLab(3))
  const second = await startService(temporaryFolder(), environment)
  // ROOT's key stays the one that the first service wrote
  await addUser(first.root, "BOB", false)
  const runId = await deploy(first.as(key), "PAIR")
  const seen: StreamEvent[] = []
  // watched through the second service from the start
  const underWay = await follow(
    second.as(key),
    runId,
    seen,
    ({ type, data }) => type === "StepDispatched" && /clone/u.test(String(data.key)),
  )
  expect(underWay).toBe(true)
  const taken = async (by: ServiceProcess) => {
    await follow(by.as(key), runId, seen)
    await expectSuccess(by.as(key), runId)
    await expectWholeStream(by.as(key), runId, seen)
    expect(seen.filter(({ type }) => type === "Resumed")).toHaveLength(1)
    // whichever service wrote the events, their times come from one clock
    const times = seen.map(({ data }) => Date.parse(String(data["at"])))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(Math.abs(Date.now() - (times[0] ?? 0))).toBeLessThan((hour * 1000) / 2)
    await expectMachines(simulator, by.as(key), "PAIR", ["router-debian11-x64", "m1", "m2", "m3"])
  }
  return { first, second, taken }
}

describe.skipIf(testServer === undefined)(
  `two services over one PostgreSQL (${testServer === undefined ? noServer : "given"})`,
  { timeout: 300_000 },
  () => {
    const server = testServer ?? ""

    test.concurrent("one takes over the run of another that was killed, once its lease has ended, even if that one's clock was an hour ahead", async () => {
      const { first, second, taken } = await twoInstances(server, hour)
      await first.crash()
      await taken(second)
    })

    test.concurrent("one whose clock is an hour behind, and that was stopped for longer than its lease, changes nothing when it wakes up", async () => {
      const { first, second, taken } = await twoInstances(server, -hour)
      await first.program.says(/the clock of this host differs from that of the database server/u)
      first.program.signal("SIGSTOP")
      await taken(second)
      first.program.signal("SIGCONT")
      await first.program.says(/another worker continues it/u)
      await taken(first)
    })
  },
)

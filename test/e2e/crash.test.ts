import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import type { ApiClient, StreamEvent } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { adLab, adLabMachines, addLab, addUser, deploy, expectMachines, expectWholeStream, follow } from "./support/lab.ts"
import { expectSuccess, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { random } from "./support/random.ts"
import { launch, onSimulator, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

const isDispatch = ({ type }: StreamEvent): boolean => type === "StepDispatched"

/** Dispatches of a deploy after which the service is killed: the first ones, which make pool and network, and later ones. */
const killAfterDispatch = [1, 2, 3, 5, 8, 11, 14, 18, 22, 26, 30, 34]

test.concurrent(
  "a killed service resumes the deploy wherever it stood, and readers of its events miss none",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "120"])
    const data = temporaryFolder()
    const environment = onSimulator(simulator, { RANGEWRIGHT_SIMULATOR_ROLES: "any" })
    let service = await startService(data, environment)
    const adminKey = await addUser(service.root, "ADA", true)
    await addLab(service, "CRASH", adLab)
    const runId = await deploy(service.as(adminKey), "CRASH")

    const seen: StreamEvent[] = []
    const marks = new Set(killAfterDispatch)
    const dispatched = new Set<string>()
    const isMoment = (event: StreamEvent): boolean =>
      isDispatch(event) && marks.delete(dispatched.add(String(event.data.key)).size)
    while (marks.size > 0) {
      expect(await follow(service.as(adminKey), runId, seen, isMoment)).toBe(true)
      await service.crash()
      service = await startService(data, environment)
    }

    const admin = service.as(adminKey)
    await follow(admin, runId, seen)
    await expectSuccess(admin, runId)
    expect((await rangeOf(admin, "CRASH")).rangeState).toBe("SUCCESS")
    await expectWholeStream(admin, runId, seen)
    await expectMachines(simulator, admin, "CRASH", adLabMachines)
    const history = await admin.get<readonly { readonly id: string; readonly status: string }[]>(
      "/range/logs/history?rangeID=CRASH",
    )
    expect(history).toMatchObject([{ id: runId, status: "success" }])
    const { result } = await admin.get<{ readonly result: string }>("/range/logs?rangeID=CRASH")
    expect(result.match(/^PLAY RECAP/gmu)).toHaveLength(1)
    expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
  },
)

/** The churn: between two kills come a few stream events, so that something happens, and a different number each time. */
const churnRanges = ["CHURNA", "CHURNB", "CHURNC"] as const
const churnKills = 8

test.concurrent(
  "ranges deployed side by side survive a service that is killed again and again",
  { timeout: 300_000 },
  async () => {
    const next = random(20_260_101)
    const simulator = await startSimulator(["--speed", "300"])
    const data = temporaryFolder()
    const environment = onSimulator(simulator)
    let service = await startService(data, environment)
    const adminKey = await addUser(service.root, "ADA", true)
    const users = new Map<string, ApiClient>()
    for (const id of churnRanges) users.set(id, await addLab(service, id, smallLab(4)))
    const runs = new Map<string, string>()
    for (const id of churnRanges) runs.set(id, await deploy(service.as(adminKey), id))
    const journals = new Map<string, StreamEvent[]>(churnRanges.map((id) => [id, []]))
    for (let kill = 0; kill < churnKills; kill += 1) {
      // the stream of one random range sets the time of the kill: after some of its events, of any type
      const watched = churnRanges[Math.floor(next() * churnRanges.length)] ?? churnRanges[0]
      let left = 1 + Math.floor(next() * 12)
      await follow(service.as(adminKey), runs.get(watched) ?? "", journals.get(watched) ?? [], () => --left <= 0)
      await service.crash()
      service = await startService(data, environment)
    }
    const admin = service.as(adminKey)
    for (const id of churnRanges) {
      const runId = runs.get(id) ?? ""
      const seen = journals.get(id) ?? []
      await follow(admin, runId, seen)
      await expectSuccess(admin, runId)
      await expectWholeStream(admin, runId, seen)
      await expectMachines(simulator, admin, id, ["router-debian11-x64", "m1", "m2", "m3", "m4"])
    }
    const guests = await simulator.guests()
    expect(guests).toHaveLength(churnRanges.length * 5)
    const numbers = await Promise.all(churnRanges.map(async (id) => (await rangeOf(admin, id)).rangeNumber))
    expect(new Set(numbers).size).toBe(churnRanges.length)
  },
)

test.concurrent(
  "a deploy that waits for an aborted one resumes after the service was killed, and the aborted one ends",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "30"])
    const data = temporaryFolder()
    const environment = onSimulator(simulator)
    let service = await startService(data, environment)
    const adminKey = await addUser(service.root, "ADA", true)
    await addLab(service, "AGAIN", smallLab(2))
    const admin = () => service.as(adminKey)
    const first = await deploy(admin(), "AGAIN")
    await follow(admin(), first, [], (event) => isDispatch(event) && String(event.data.key).startsWith("start:"))
    await admin().send("POST", "/range/abort?rangeID=AGAIN")
    expect((await rangeOf(admin(), "AGAIN")).rangeState).toBe("ABORTED")
    const second = await deploy(admin(), "AGAIN")
    expect((await rangeOf(admin(), "AGAIN")).rangeState).toBe("DEPLOYING")
    await follow(admin(), second, [], ({ type }) => type === "Waiting")
    await service.crash()
    service = await startService(data, environment)
    const seen: StreamEvent[] = []
    await follow(admin(), second, seen)
    await expectSuccess(admin(), second)
    expect(seen[0]).toMatchObject({ type: "Waiting", data: { behind: first } })
    expect((await rangeOf(admin(), "AGAIN")).rangeState).toBe("SUCCESS")
    await expectMachines(simulator, admin(), "AGAIN", ["router-debian11-x64", "m1", "m2"])
    expect(await admin().get("/range/logs/history?rangeID=AGAIN")).toMatchObject([
      { id: second, status: "success" },
      { id: first, status: "aborted" },
    ])
  },
)

/** The files that a first start creates, in order. */
const firstFiles = [
  "lock.db",
  "instance",
  "secret-key",
  "rangewright.db",
  "rangewright.db-wal",
  "root-api-key",
  "certificate.pem",
]

test.concurrent("a service killed at any moment of its first start starts anew", { timeout: 300_000 }, async () => {
  const data = join(temporaryFolder(), "data")
  for (const file of firstFiles) {
    const program = launch(data)
    await new Promise<void>((resolve) => {
      const look = () => (existsSync(join(data, file)) ? resolve() : void setTimeout(look, 1))
      look()
    })
    program.signal("SIGKILL")
    await program.ended
  }
  const service = await startService(data)
  expect(await service.root.get("/user/all")).toEqual([])
})

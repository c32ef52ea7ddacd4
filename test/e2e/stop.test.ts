import { connect } from "node:net"
import { afterAll, expect, onTestFinished, test } from "vitest"
import type { StreamEvent } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { adLab, adLabMachines, addLab, addUser, deploy, expectMachines, expectSuccess, smallLab } from "./support/lab.ts"
import { expectWholeStream, follow } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { openRelay } from "./support/relay.ts"
import { onSimulator, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

/** Milliseconds within which a stop ends, whatever hangs. */
const stopWithin = 10_000

const refused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resolve(false)
    })
    socket.on("error", () => resolve(true))
  })

test.concurrent(
  "SIGTERM during a deploy ends the service in time with status 0, and the next start continues it",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "120"])
    const data = temporaryFolder()
    const environment = onSimulator(simulator, { RANGEWRIGHT_SIMULATOR_ROLES: "any" })
    const first = await startService(data, environment)
    const key = await addUser(first.root, "ADA", true)
    await addLab(first, "STOP", adLab)
    const runId = await deploy(first.as(key), "STOP")
    const seen: StreamEvent[] = []
    let clones = 0
    await follow(first.as(key), runId, seen, ({ type, data: { key: step } }) => {
      if (type === "StepDispatched" && /clone/u.test(String(step))) clones += 1
      return clones === 4
    })
    // an open event stream must not keep the service from ending
    const watching = follow(first.as(key), runId, seen)
    // npm forwards the signal that the terminal has already sent, so it arrives twice
    first.program.signal("SIGTERM")
    first.program.signal("SIGTERM")
    await first.program.says(/"msg":"stopping"/u)
    first.program.signal("SIGTERM")
    expect(await watching).toBe(false)
    expect(await first.program.ended).toEqual({ code: 0, signal: null })
    expect(await refused(first.port)).toBe(true)
    // a service that is cut off after 9.5 s does not write this line
    expect(first.program.stderr()).toContain('"msg":"stopped"')

    const second = await startService(data, environment)
    const admin = second.as(key)
    await follow(admin, runId, seen)
    await expectSuccess(admin, runId)
    await expectWholeStream(admin, runId, seen)
    await expectMachines(simulator, admin, "STOP", adLabMachines)
  },
)

test.concurrent(
  "SIGTERM ends the service in time with status 0 even when the hypervisor hangs",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "120"])
    const relay = await openRelay(simulator.port)
    onTestFinished(relay.close)
    const data = temporaryFolder()
    const environment = onSimulator({ ...simulator, url: `https://127.0.0.1:${relay.port}` })
    const first = await startService(data, environment)
    const key = await addUser(first.root, "ADA", true)
    await addLab(first, "HANG", smallLab(2))
    const runId = await deploy(first.as(key), "HANG")
    const seen: StreamEvent[] = []
    expect(await follow(first.as(key), runId, seen, ({ type }) => type === "StepDispatched")).toBe(true)
    relay.stall()
    first.program.signal("SIGTERM")
    const told = performance.now()
    expect(await first.program.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - told).toBeLessThan(stopWithin)

    relay.restore()
    const admin = (await startService(data, environment)).as(key)
    await follow(admin, runId, seen)
    await expectSuccess(admin, runId)
    await expectMachines(simulator, admin, "HANG", ["router-debian11-x64", "m1", "m2"])
  },
)

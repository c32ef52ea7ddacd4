import { connect } from "node:net"
import { afterEach, expect, test } from "vitest"
import type { StreamEvent } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { adLab, adLabMachines, addLab, addUser, deploy, expectMachines, expectSuccess } from "./support/lab.ts"
import { expectWholeStream, follow } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterEach(async () => {
  await endAll()
  removeFolders()
})

const refused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => {
      socket.destroy()
      resolve(false)
    })
    socket.on("error", () => resolve(true))
  })

test(
  "SIGTERM in the midst of a deploy ends the service in time with status 0, and a start goes on",
  { timeout: 120_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "120"])
    const data = temporaryFolder()
    const environment = onSimulator(simulator)
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
    // somebody watches, and must not keep the service from ending
    const watching = follow(first.as(key), runId, seen)
    first.program.signal("SIGTERM")
    await first.program.says(/"msg":"stopping"/u)
    expect(await watching).toBe(false)
    expect(await first.program.ended).toEqual({ code: 0, signal: null })
    expect(await refused(first.port)).toBe(true)
    // what is not at rest after 9.5 s is cut off without this line
    expect(first.program.stderr()).toContain('"msg":"stopped"')

    const second = await startService(data, environment)
    const admin = second.as(key)
    await follow(admin, runId, seen)
    await expectSuccess(admin, runId)
    await expectWholeStream(admin, runId, seen)
    await expectMachines(simulator, admin, "STOP", adLabMachines)
  },
)

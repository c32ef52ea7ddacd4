import { type ChildProcess, spawn } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { obstacle, patience, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import type { ApiClient } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, follow, rangeOf } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { openRealLab, type RealLab, run } from "./support/real-lab.ts"
import type { ServiceProcess } from "./support/service.ts"
import { machine } from "./support/shop-lab.ts"

const rangeId = "LAB"
/** A server on the internet, as far as there is one behind the service's host. */
const far = { address: "198.18.0.9", port: 8000 }
const config = `ludus:
${machine("web", 10)}defaults:
  snapshot_with_RAM: false
`

describe.skipIf(obstacle !== undefined)(`testing mode on real hosts${skipNote(obstacle)}`, { timeout: 2 * patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string
  let second: number
  let server: ChildProcess
  const user = (): ApiClient => service.as(key)
  const web = (line: string) => lab.on(`10.${second}.10.11`, line)
  const reaches = async (): Promise<boolean> =>
    (await web(`python3 -c 'import socket; socket.create_connection(("${far.address}", ${far.port}), 5)'`)).code === 0
  const act = (what: "start" | "stop") => user().send("PUT", `/testing/${what}?rangeID=${rangeId}`)
  const testing = async () => {
    const { testingEnabled, testingState } = await user().get<{
      readonly testingEnabled: boolean
      readonly testingState: string
    }>(`/range?rangeID=${rangeId}`)
    return [testingEnabled, testingState]
  }
  const isUp = () =>
    eventually(
      "the machine",
      () => web("true"),
      ({ code }) => code === 0,
    )

  beforeAll(async () => {
    lab = await openRealLab(30)
    const outside = `${lab.id}-outside`
    await run("ip", "-n", outside, "address", "add", `${far.address}/32`, "dev", "lo")
    const serve = ["python3", "-m", "http.server", String(far.port), "--bind", far.address, "--directory", "/var/empty"]
    const [program = "", ...before] = lab.place.launcher
    server = spawn(program, [...before, ...serve], { stdio: "ignore" })
    service = await lab.start()
    key = await addUser(service.root, rangeId)
    second = (await rangeOf(user(), rangeId)).rangeNumber
    const answer = await user().upload(`/range/config?rangeID=${rangeId}`, config)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const runId = await deploy(user(), rangeId)
    await follow(user(), runId, [])
    await expectSuccess(user(), runId)
  }, 2 * patience)
  afterAll(async () => {
    server?.kill("SIGTERM")
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  it("rolls back what happened in a machine, also when the service is killed meanwhile, and opens the range only then", async () => {
    await eventually("the server", reaches, (does) => does)
    await act("start")
    expect(await testing()).toEqual([true, "on"])
    expect(await reaches()).toBe(false)
    expect((await web("touch infected")).code).toBe(0)
    const stopping = act("stop").catch(() => undefined)
    await eventually("the rollback", testing, ([, state]) => state === "leaving")
    await service.crash()
    await stopping
    expect(await reaches()).toBe(false)
    service = await lab.start()
    await eventually("the end of testing", testing, ([, state]) => state === "off")
    await isUp()
    expect((await web("ls infected")).code).not.toBe(0)
    expect(await reaches()).toBe(true)
  })
})

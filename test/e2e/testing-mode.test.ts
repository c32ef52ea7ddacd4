import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Internet, openInternet } from "../../packages/adapter-ansible/test/playbook/support/internet.ts"
import { obstacle, patience, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { flows } from "../../packages/adapter-ansible/test/playbook/support/probes.ts"
import type { ApiClient } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, follow, rangeOf } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { openRealLab, type RealLab } from "./support/real-lab.ts"
import type { ServiceProcess } from "./support/service.ts"
import { machine } from "./support/shop-lab.ts"

const rangeId = "TEST"
const [good, bad] = ["198.18.0.1", "198.18.0.2"]
const config = `ludus:
${machine("web", 10)}${machine("free", 20, "    testing: {snapshot: false, block_internet: false}\n")}`

describe.skipIf(obstacle !== undefined)(`testing mode on real hosts${skipNote(obstacle)}`, { timeout: 2 * patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string
  let user: ApiClient
  let internet: Internet
  let second: number
  const at = (vlan: number): string => `10.${second}.${vlan}.11`
  const python = (code: string): string => `python3 -c '${code}'`
  const send = (vlan: number, mark: string) =>
    lab.on(
      at(vlan),
      python(
        `import socket; [socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"rw:${mark};", (a, 80)) for a in ("${good}", "${bad}")]`,
      ),
    )
  /** Which addresses a machine reaches; the one that keeps its way out says when all that will arrive has arrived. */
  const reached = async (mark: string): Promise<readonly string[]> => {
    expect(await send(10, mark)).toMatchObject({ code: 0 })
    await eventually(
      "a packet of the machine that keeps its way out",
      async () => (await send(20, `${mark}-after`), internet.seen()),
      (seen) => `${mark}-after ${bad}` in seen,
    )
    const seen = await internet.take()
    return [good, bad].filter((to) => `${mark} ${to}` in seen || `flow-busy-udp ${to}` in seen || `flow-busy-tcp ${to}` in seen)
  }
  const change = (what: string, body: unknown = {}) =>
    user.ask(what.startsWith("st") ? "PUT" : "POST", `/testing/${what}?rangeID=${rangeId}`, body)

  const state = async () => (await user.get<{ readonly testingState: string }>(`/range?rangeID=${rangeId}`)).testingState

  beforeAll(async () => {
    lab = await openRealLab(30)
    service = await lab.start()
    key = await addUser(service.root, rangeId)
    user = service.as(key)
    second = (await rangeOf(user, rangeId)).rangeNumber
    expect(await user.upload(`/range/config?rangeID=${rangeId}`, config)).toMatchObject({ status: 200 })
    internet = await openInternet(lab.place.launcher, [good, bad])
    const run = await deploy(user, rangeId)
    await follow(user, run, [])
    await expectSuccess(user, run)
  }, 2 * patience)
  afterAll(async () => {
    internet?.close()
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  it("blocks when it is started, lets pass what is allowed until it is denied, and opens after a stop that a crash interrupts", async () => {
    expect(await reached("before")).toEqual([good, bad])
    const busy = `setsid nohup ${python(flows)} busy - ${good} ${bad} >/dev/null 2>&1 &`
    expect(await lab.on(at(10), busy)).toMatchObject({ code: 0 })
    await eventually("a busy connection", internet.seen, (seen) => `flow-busy-tcp ${bad}` in seen)

    expect(await change("start")).toMatchObject({ status: 200 })
    await internet.take()
    expect(await reached("started")).toEqual([])
    expect(await user.get(`/testing/blocked?rangeID=${rangeId}&refresh=true`)).toMatchObject({
      testingState: "on",
      rules: "as-loaded",
      blocked: expect.arrayContaining([
        expect.objectContaining({ machine: `${rangeId}-web`, destination: bad, protocol: "udp", port: 80 }),
      ]),
    })
    expect(await change("allow", { ips: [good] })).toMatchObject({ status: 200, body: { allowed: [good] } })
    expect(await reached("allowed")).toEqual([good])
    expect(await change("deny", { ips: [good] })).toMatchObject({ status: 200, body: { denied: [good] } })
    await internet.take()
    expect(await reached("denied")).toEqual([])

    expect(await lab.on(at(10), "touch infected")).toMatchObject({ code: 0 })
    const stopping = change("stop").catch(() => undefined)
    await eventually("a stop under way", state, (is) => is === "leaving")
    await service.crash()
    await stopping
    service = await lab.start()
    user = service.as(key)
    await eventually("the end of testing mode", state, (is) => is === "off")
    // the machine was started, and boots
    await eventually(
      "the machine that was rolled back",
      () => lab.on(at(10), "true"),
      ({ code }) => code === 0,
    )
    expect(await lab.on(at(10), "ls infected")).not.toMatchObject({ code: 0 })
    // the state is noted before the router opens
    await eventually(
      "an open router",
      () => reached("stopped"),
      ({ length }) => length === 2,
    )
  })
})

import { createSimulator, qemuObstacle, qemuScreens } from "@rangewright/pve-simulator"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { answerOf } from "../src/screen/rfb.ts"

let sim: ReturnType<typeof createSimulator>
beforeEach(() => void (sim = createSimulator({ speed: 100 })))
afterEach(() => sim.close())

const headers = () => ({ authorization: `PVEAPIToken=${sim.rootToken}` })
const vmid = 100

interface Proxy {
  readonly port: string
  readonly ticket: string
  readonly password: string
}
const proxy = async (): Promise<Proxy> => {
  const path = `/api2/json/nodes/pve/qemu/${vmid}/vncproxy`
  const { body } = await sim.handle({ method: "POST", path, headers: headers(), body: "websocket=1" })
  return (JSON.parse(body) as { data: Proxy }).data
}

/** A viewer over the connection that needs no network: what it says, and what it gets, by numbers of bytes. */
const viewer = async ({ port, ticket }: Proxy) => {
  const url = `ws://in-process/api2/json/nodes/pve/qemu/${vmid}/vncwebsocket?port=${port}&vncticket=${encodeURIComponent(ticket)}`
  const socket = new WebSocket(url, ["binary"], { headers: headers(), createConnection: () => sim.connect() } as never)
  let held = Buffer.alloc(0)
  let wake = () => {}
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()))
  socket.on("message", (data: Buffer) => {
    held = Buffer.concat([held, data])
    wake()
  })
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject))
  const take = async (count: number): Promise<Buffer> => {
    while (held.length < count) await new Promise<void>((resolve) => (wake = resolve))
    const taken = held.subarray(0, count)
    held = held.subarray(count)
    return taken
  }
  return { take, closed, say: (bytes: Buffer) => socket.send(bytes), end: () => socket.terminate() }
}

const loggedIn = async (password?: string) => {
  const opened = await proxy()
  const { take, say, ...rest } = await viewer(opened)
  expect((await take(12)).toString()).toBe("RFB 003.008\n")
  say(Buffer.from("RFB 003.008\n"))
  expect([...(await take(2))]).toEqual([1, 2])
  say(Buffer.from([2]))
  say(answerOf(password ?? opened.password, await take(16)))
  return { take, say, ...rest, result: (await take(4)).readUInt32BE(0) }
}

const key = (keysym: number) => {
  const bytes = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0])
  bytes.writeUInt32BE(keysym, 4)
  return bytes
}
const ask = (isIncremental: boolean) => Buffer.from([3, isIncremental ? 1 : 0, 0, 0, 0, 0, 1, 64, 0, 200])

const obstacle = qemuObstacle()

describe.skipIf(obstacle !== undefined)(`QEMU's own screen of a guest (skipped when ${obstacle ?? "there is no QEMU"})`, () => {
  beforeEach(async () => {
    await sim.close()
    sim = createSimulator({ speed: 100, screens: qemuScreens() })
    sim.guest(vmid)!.status = "running"
  })

  test("is shown to several viewers with the password, until the guest is turned off", async () => {
    const wrong = await loggedIn("wrong")
    expect(wrong.result).toBe(1)
    const one = await loggedIn()
    const other = await loggedIn()
    for (const { say, take, result } of [one, other]) {
      expect(result).toBe(0)
      say(Buffer.from([1]))
      const init = await take(24)
      expect([init.readUInt16BE(0) >= 640, init.readUInt16BE(2) >= 400]).toEqual([true, true])
      expect((await take(init.readUInt32BE(20))).toString()).toBe(`QEMU (VM ${vmid})`)
    }
    one.say(Buffer.from([3, 0, 0, 0, 0, 0, 0, 64, 0, 64]))
    expect((await one.take(16)).readInt32BE(12)).toBe(0)
    await sim.handle({ method: "POST", path: `/api2/json/nodes/pve/qemu/${vmid}/status/stop`, headers: headers() })
    await Promise.all([one.closed, other.closed])
  })
})

describe("the screen of a guest", () => {
  test("shows a picture, and another one when a key was pressed", async () => {
    sim.guest(vmid)!.status = "running"
    const { take, say, result, end } = await loggedIn()
    expect(result).toBe(0)
    say(Buffer.from([1]))
    const init = await take(24)
    expect([init.readUInt16BE(0), init.readUInt16BE(2)]).toEqual([320, 200])
    expect((await take(init.readUInt32BE(20))).toString()).toMatch(/^QEMU \(100 /u)
    const picture = async (isIncremental: boolean) => {
      say(ask(isIncremental))
      const head = await take(16)
      expect([head[0], head.readUInt16BE(2), head.readInt32BE(12)]).toEqual([0, 1, 0])
      return take(320 * 200 * 4)
    }
    const first = await picture(false)
    expect([...first.subarray(0, 3)]).toEqual([0x1f, 0x7b, 0xe0])
    expect(new Set(Array.from({ length: 320 * 200 }, (_, i) => first.readUInt32LE(4 * i))).size).toBe(3)
    say(key("A".charCodeAt(0)))
    const second = await picture(true)
    expect(second.equals(first)).toBe(false)
    expect(sim.typed(vmid)).toBe("A")
    end()
  })

  test("lets nobody in without the password", async () => {
    sim.guest(vmid)!.status = "running"
    const { result, take, closed } = await loggedIn("wrong")
    expect(result).toBe(1)
    expect((await take(25)).subarray(4).toString()).toBe("Authentication failed")
    await closed
  })

  test("closes for everybody when the guest is turned off, and forgets what was typed", async () => {
    sim.guest(vmid)!.status = "running"
    const { say, closed, take } = await loggedIn()
    say(Buffer.from([1]))
    await take(24)
    say(key(66))
    const path = `/api2/json/nodes/pve/qemu/${vmid}/status/stop`
    await sim.handle({ method: "POST", path, headers: headers() })
    await closed
    expect(sim.typed(vmid)).toBe("")
  })
})

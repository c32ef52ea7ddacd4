import { qemuObstacle } from "@rangewright/pve-simulator"
import { randomBytes } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { connect, logIn, screenName, type Viewer } from "../consoles/support/viewer.ts"
import { createDatabase, noServer, testServer } from "../contracts/storage/postgres-server.ts"
import { noBrowser, openPage, servePackage } from "./support/browser.ts"
import type { ApiClient } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { type Environment, onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"

const drops: (() => Promise<void>)[] = []
afterAll(async () => {
  await endAll()
  for (const drop of drops) await drop()
  removeFolders()
})

interface Lab {
  readonly simulator: SimulatorProcess
  readonly service: ServiceProcess
  readonly folder: string
  readonly environment: Environment
  readonly key: string
  readonly user: ApiClient
  readonly vmid: number
}

/** A range with a running machine, on a service with a simulator. */
const lab = async (environment: Environment = {}, ...options: readonly string[]): Promise<Lab> => {
  const simulator = await startSimulator(["--speed", "60", ...options])
  const own = onSimulator(simulator, environment)
  const folder = temporaryFolder()
  const service = await startService(folder, own)
  const key = await addUser(service.root, "ADA", true)
  const user = await addLab(service, "LAB", smallLab(1), service.as(key))
  await expectSuccess(user, await deploy(user, "LAB"))
  const machine = (await rangeOf(user, "LAB")).VMs.find(({ name }) => name === "LAB-m1")
  return { simulator, service, folder, environment: own, key, user, vmid: machine?.proxmoxID ?? 0 }
}

interface Ticket {
  readonly ticket: string
  readonly password: string
}

const viewOf = (service: ServiceProcess, ticket: string) => `${service.url}/api/v2/vm/console/view?ticket=${ticket}`

/** A viewer that is logged in, with a ticket of this client, at this service. */
const look = async (client: ApiClient, service: ServiceProcess, vmid: number): Promise<Viewer> => {
  const { ticket, password } = await client.get<Ticket>(`/vm/console/ticket?VMID=${vmid}`)
  const viewer = await connect(viewOf(service, ticket))
  expect(await logIn(viewer, password)).toBe(0)
  expect(await screenName(viewer)).toContain(`${vmid}`)
  return viewer
}

const viewers = async (simulator: SimulatorProcess, vmid: number): Promise<number> =>
  (await simulator.screens()).find((screen) => screen.vmid === vmid)?.viewers ?? 0

const noViewers = ({ simulator, vmid }: Pick<Lab, "simulator" | "vmid">) =>
  eventually(
    "the end of the last connection to the screen",
    () => viewers(simulator, vmid),
    (count) => count === 0,
  )

/** A client's page: it requests a ticket with a key, and shows the console with noVNC as published. */
const page = `<!doctype html><title>console</title><div id="screen" style="width:640px;height:400px"></div>
<script type="module">
import RFB from "/core/rfb.js"
window.show = async (service, key, vmid) => {
  const answer = await fetch(service + "/api/v2/vm/console/ticket?VMID=" + vmid, { headers: { "x-api-key": key } })
  const { ticket, password } = await answer.json()
  const url = service.replace(/^http/, "ws") + "/api/v2/vm/console/view?ticket=" + ticket
  const rfb = new RFB(document.getElementById("screen"), url, { credentials: { password } })
  rfb.addEventListener("desktopname", ({ detail }) => (window.title = detail.name))
  await new Promise((resolve, reject) => {
    rfb.addEventListener("connect", resolve)
    rfb.addEventListener("securityfailure", ({ detail }) => reject(new Error(detail.reason)))
    rfb.addEventListener("disconnect", () => reject(new Error("disconnected")))
  })
  rfb.focus()
}
window.dot = (x, y) => {
  const canvas = document.querySelector("canvas")
  return canvas === null ? "" : canvas.getContext("2d").getImageData(x, y, 1, 1).data.slice(0, 3).join(" ")
}
window.lit = () => {
  const canvas = document.querySelector("canvas")
  const { data } = canvas.getContext("2d").getImageData(0, 60, canvas.width, 20)
  let count = 0
  for (let i = 0; i < data.length; i += 4) if (data[i] === 0xf0) count++
  return count
}
window.colours = () => {
  const canvas = document.querySelector("canvas")
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
  return new Set(new Uint32Array(data.buffer)).size
}
window.isReady = true
</script>`

/** Options for polling the page: by timer, since an invisible page draws no frames while its host is busy. */
const looks = { polling: 50, timeout: 300_000 } as const

/** The functions of the page above. */
interface Shown {
  readonly show: (service: string, key: string, vmid: number) => Promise<void>
  readonly dot: (x: number, y: number) => string
  readonly lit: () => number
  readonly colours: () => number
  readonly title: string
  readonly isReady: boolean
}

/** Inside the page this is the page's own window; here it only provides the type. */
const window = globalThis as unknown as Shown

describe("consoles", { timeout: 300_000 }, () => {
  let shared: Lab
  beforeAll(async () => {
    shared = await lab({ RANGEWRIGHT_CONSOLES_PER_USER: "250" })
  }, 180_000)

  test.skipIf(noBrowser !== undefined)(
    `noVNC as published draws the screen in a browser and sends key presses (skipped when ${noBrowser ?? "there is no browser"})`,
    async () => {
      const { simulator, service, key, vmid } = shared
      const site = await servePackage(import.meta.resolve("@novnc/novnc"), page)
      const browser = await openPage(site.url)
      await browser.page.waitForFunction(() => window.isReady, undefined, looks)
      await browser.page.evaluate(([url, apiKey, id]) => window.show(url, apiKey, id), [service.url, key, vmid] as const)
      // the bar at the top of the simulator's screen
      await browser.page.waitForFunction(() => window.dot(5, 5) === "224 123 31", undefined, looks)
      expect(await browser.page.evaluate(() => window.dot(300, 190))).toBe("30 42 74")
      expect(await browser.page.evaluate(() => window.lit())).toBe(0)
      await browser.page.keyboard.type("Hello 42")
      await eventually(
        "what was typed",
        async () => (await simulator.screens()).find((screen) => screen.vmid === vmid)?.typed,
        (typed) => typed === "Hello 42",
      )
      await browser.page.waitForFunction(() => window.lit() > 50, undefined, looks)
      await browser.close()
      await site.close()
      await noViewers(shared)
    },
  )

  test("two hundred at once show their screens, and leave nothing open", async () => {
    const { user, service, simulator, vmid } = shared
    const open: Viewer[] = []
    for (let i = 0; i < 20; i++) open.push(...(await Promise.all(Array.from({ length: 10 }, () => look(user, service, vmid)))))
    expect(await viewers(simulator, vmid)).toBe(200)
    expect(await (await fetch(`${service.url}/metrics`)).text()).toContain("rangewright_consoles_open 200")
    for (const { socket } of open) socket.send(Buffer.from([3, 0, 0, 0, 0, 0, 1, 64, 0, 200]))
    for (const { take } of open) expect((await take(16 + 320 * 200 * 4)).subarray(0, 4)).toEqual(Buffer.from([0, 0, 0, 1]))
    for (const { socket } of open) socket.terminate()
    await noViewers(shared)
  })

  test("close when the machine is powered off, and are refused until it runs again", async () => {
    const { user, service, vmid } = shared
    const viewer = await look(user, service, vmid)
    const off = user.send("PUT", "/range/poweroff?rangeID=LAB", { machines: ["LAB-m1"] })
    expect(await viewer.ended).toEqual({ code: 1000, reason: "the machine closed its console" })
    await off
    const refused = await user.ask("GET", `/vm/console/ticket?VMID=${vmid}`)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([500, expect.stringContaining("does not run")])
    await user.send("PUT", "/range/poweron?rangeID=LAB", { machines: ["LAB-m1"] })
    ;(await look(user, service, vmid)).socket.close()
  })

  test("of templates and of machines that belong to no range are refused", async () => {
    const { user, simulator } = shared
    const all =
      await simulator.read<readonly { readonly vmid: number; readonly template?: number }[]>("/cluster/resources?type=vm")
    const template = all.find((guest) => guest.template === 1)?.vmid ?? 0
    expect((await user.ask("GET", `/vm/console/ticket?VMID=${template}`)).status).toBe(404)
  })

  test("and their connections to the hypervisor end when the service is killed; the next one opens new ones", async () => {
    const { user, service, simulator, folder, environment, vmid, key } = shared
    const viewer = await look(user, service, vmid)
    expect(await viewers(simulator, vmid)).toBe(1)
    await service.crash()
    expect((await viewer.ended).code).toBe(1006)
    await noViewers(shared)
    const next = await startService(folder, environment)
    const again = await look(next.as(key), next, vmid)
    next.program.signal("SIGTERM")
    expect(await again.ended).toEqual({ code: 1001, reason: "the service is stopping" })
    await next.program.ended
    await noViewers(shared)
  })
})

const noScreen = noBrowser ?? qemuObstacle()

describe.skipIf(noScreen !== undefined)(
  `consoles with QEMU's own screens (skipped when ${noScreen ?? "there is no QEMU"})`,
  { timeout: 300_000 },
  () => {
    test("noVNC draws what QEMU shows", async () => {
      const { service, key, vmid } = await lab({}, "--screens")
      const site = await servePackage(import.meta.resolve("@novnc/novnc"), page)
      const browser = await openPage(site.url)
      await browser.page.waitForFunction(() => window.isReady, undefined, looks)
      await browser.page.evaluate(([url, apiKey, id]) => window.show(url, apiKey, id), [service.url, key, vmid] as const)
      expect(await browser.page.evaluate(() => window.title)).toBe(`QEMU (VM ${vmid})`)
      // the firmware reports that it found no boot device
      await browser.page.waitForFunction(() => window.colours() > 1, undefined, looks)
      await browser.close()
      await site.close()
    })
  },
)

describe.skipIf(testServer === undefined)(
  `consoles at two services over one PostgreSQL (${testServer === undefined ? noServer : "given"})`,
  { timeout: 300_000 },
  () => {
    test("a ticket from one opens the console at the other, once; revoked rights close it there", async () => {
      const database = await createDatabase(testServer ?? "")
      drops.push(database.drop)
      const first = await lab({
        RANGEWRIGHT_DATABASE_URL: database.url,
        RANGEWRIGHT_SECRET_KEY: randomBytes(32).toString("hex"),
      })
      const second = await startService(temporaryFolder(), first.environment)
      const bob = await addUser(first.service.as(first.key), "BOB")
      await first.service.as(first.key).send("POST", "/ranges/assign/BOB/LAB", {})
      const { ticket, password } = await first.service.as(bob).get<Ticket>(`/vm/console/ticket?VMID=${first.vmid}`)
      const viewer = await connect(viewOf(second, ticket))
      expect(await logIn(viewer, password)).toBe(0)
      await expect(connect(viewOf(first.service, ticket))).rejects.toThrow("403")
      await first.service.as(first.key).send("DELETE", "/ranges/revoke/BOB/LAB", {})
      expect((await viewer.ended).code).toBe(1008)
      await noViewers(first)
    })
  },
)

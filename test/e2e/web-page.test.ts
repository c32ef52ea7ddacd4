import { execFileSync } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { readFileSync } from "node:fs"
import type { BrowserContext, Page, Route } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Look, noBrowser, openBrowser } from "./support/browser.ts"
import type { ApiClient } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { noFirefox, openFirefox, shows, signInWithPuppeteer } from "./support/firefox.ts"
import { openLighthouse } from "./support/lighthouse.ts"
import { addLab, addUser, deploy, expectSuccess, rangeOf, runEnd, smallLab } from "./support/lab.ts"
import { endAll, repository } from "./support/program.ts"
import { sourceRepository } from "./support/source-repository.ts"
import { onSimulator, type ServiceProcess, startService, type Environment } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"
import {
  buildPage,
  countShifts,
  fillIn,
  formPost,
  hostileLines,
  inspector,
  longLog,
  manyRanges,
  pendingRequests,
  password,
  rowCounter,
  settled,
  shiftsSoFar,
  signIn,
  soaker,
  tabTo,
  watch,
} from "./support/web-page.ts"

const cause = "no memory is left on the node"
const hostileText = `"><img src=x onerror=alert(1)><script>alert(2)</script>`
const hostileName = hostileText.replace("<script>", "\u202e<script>")

const pathsOfAll = [
  "ranges",
  "ranges/UMA",
  "ranges/EVIL",
  "ranges/UMA/plan",
  "ranges/UMA/config",
  "ranges/UMA/snapshots",
  "ranges/UMA/testing",
  "runs",
  "templates",
  "templates/debian-12-x64-server-template",
  "roles",
  "blueprints",
  "catalog",
  "sources",
  "me",
  "ranges/NOBODY",
  "nothing",
  "invite?user=UMA#nothing",
]

const pathsOfAdministrators = [
  "admin/overview",
  "admin/nodes",
  "admin/migration",
  "catalog",
  "sources/lessons",
  "blueprints?id=shown",
  "admin/users",
  "admin/users/UMA",
  "admin/groups",
  "admin/quotas",
  "admin/audit",
  "admin/doctor",
  "ranges/UMA/access",
  "classes",
  "classes/course",
  "classes/course?view=people",
]

describe.skipIf(noBrowser !== undefined)(
  `the web page (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 300_000 },
  () => {
    let service: ServiceProcess
    let simulator: SimulatorProcess
    /** The key of ADA, who is an administrator. */
    let admin: string
    let user: ApiClient
    /** Whose deploy failed. */
    let bo: ApiClient
    let runId: string
    /** The folder of a repository that ships a blueprint and a role. */
    let sources: string
    let failedRunId: string
    let environment: Environment
    const data = temporaryFolder()
    const closes: (() => Promise<void>)[] = []
    const browser = async (look?: Look): Promise<BrowserContext> => {
      const { context, close } = await openBrowser(look)
      closes.push(close)
      return context
    }

    beforeAll(async () => {
      simulator = await startSimulator(["--speed", "60"])
      sources = sourceRepository(hostileText)
      environment = onSimulator(simulator, {
        RANGEWRIGHT_WEB_FOLDER: buildPage(),
        RANGEWRIGHT_SOURCE_SCHEMES: "file",
        RANGEWRIGHT_SOURCE_FOLDERS: sources,
      })
      service = await startService(data, environment)
      admin = await addUser(service.root, "ADA", true)
      const ada = service.as(admin)
      await ada.send("POST", "/user/credentials", { proxmoxPassword: password })
      user = await addLab(service, "UMA", smallLab(3), ada)
      await user.send("POST", "/user/credentials", { proxmoxPassword: password })
      runId = await deploy(user, "UMA")
      await expectSuccess(user, runId)
      const repair = await simulator.fault({ kind: "fail-task", type: "qmstart", text: cause, when: "before", times: "always" })
      bo = await addLab(service, "BO", smallLab(1), ada)
      await bo.send("POST", "/user/credentials", { proxmoxPassword: password })
      failedRunId = await deploy(bo, "BO")
      expect((await runEnd(bo, failedRunId)).status).toBe("failure")
      await repair()
      await user.send("POST", "/ranges/create", { rangeID: "EVIL", name: hostileName, description: "[x](javascript:alert(3))" })
      await ada.send("POST", "/sources", { type: "git", url: `file://${sources}`, id: "lessons" })
      await ada.send("POST", "/blueprints/from-range", { blueprintID: "shown", name: hostileText, rangeID: "UMA" })
      await ada.send("POST", "/groups", { name: "course", description: hostileName })
      await ada.send("POST", "/groups/course/ranges", { rangeIDs: ["UMA", "EVIL"] })
    }, 120_000)
    afterAll(async () => {
      for (const close of closes) await close()
      await endAll()
      removeFolders()
    })

    test("shows a range to who signs in, starts and stops its machines, and opens a console, all without an error", async () => {
      const context = await browser({ viewport: { width: 1280, height: 800 } })
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "uma@lab.example")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await page.getByText("Running: all 4 machines are on.").waitFor()
      await page.getByRole("link", { name: /^UMA-m1, on, 10\.\d+\.10\.11$/u }).waitFor()
      const [logins] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Logins of machines" }).click(),
      ])
      expect(readFileSync(await logins.path()).toString("latin1")).toMatch(/^PK/u)
      // what would be refused is not offered: there is no VPN here, and no Windows
      expect(await page.getByRole("button", { name: /VPN file|Remote desktop/u }).count()).toBe(0)

      await page.getByLabel("Actions for m1").click()
      await page.getByRole("button", { name: "Power off" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Power off" }).click()
      await page.getByText("3 of 4 machines are on; m1 is off.").waitFor()
      expect((await rangeOf(user, "UMA")).VMs.filter(({ poweredOn }) => !poweredOn).map(({ name }) => name)).toEqual(["UMA-m1"])
      await page.getByRole("button", { name: "Start", exact: true }).click()
      await page.getByText("Running: all 4 machines are on.").waitFor()

      await page.getByRole("link", { name: "Console of m1" }).click()
      await page.getByText("Connected", { exact: true }).waitFor()
      await page.locator(".screen canvas").waitFor()

      await page.goto(`${service.url}/ui/runs/${runId}?view=log`)
      await page.getByText("The run succeeded.").waitFor()
      expect(wrong).toEqual([])
    })

    test("shows what is done to machines at the hypervisor, by itself, and that the range is not as configured any more", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "uma@lab.example")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await page.getByText("Running: all 4 machines are on.").waitFor()
      const { node, vmid } = (await simulator.guests()).find(({ name }) => name === "UMA-m1") ?? {}
      const power = (what: string) => simulator.post(`/nodes/${node}/qemu/${vmid}/status/${what}`, {})
      const badge = page.getByText("The range is not as its configuration says", { exact: false })
      for (const cores of ["3", "1"]) {
        await power("stop")
        await page.getByText("3 of 4 machines are on; m1 is off.").waitFor()
        await simulator.change("PUT", `/nodes/${node}/qemu/${vmid}/config`, { cores })
        await power("start")
        await page.getByText("Running: all 4 machines are on.").waitFor()
        await badge.waitFor({ state: cores === "1" ? "hidden" : "visible" })
      }
      await page.goto(`${service.url}/ui/ranges/UMA/plan`)
      await page.getByText("Nothing to do", { exact: false }).waitFor()
      expect(await page.getByRole("button", { name: "Deploy this" }).isDisabled()).toBe(true)
    })

    test("shows what a run failed of before all else, and goes on from there", async () => {
      const context = await browser({ viewport: { width: 1280, height: 720 } })
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "BO")
      await page.goto(`${service.url}/ui/runs?status=failure&range=BO`)
      await page.getByRole("link", { name: "Deploy", exact: true }).click()
      const told = page.locator(".note.bad", { hasText: cause })
      await told.getByText("Start BO-").waitFor()
      const { y = 0, height = 0 } = (await told.boundingBox()) ?? {}
      expect(y + height).toBeLessThan(720)

      await told.getByRole("link", { name: "Show it in the log" }).click()
      await page.getByText("The run failed.").waitFor()
      await page.keyboard.press("e")
      await page.locator(".line.match", { hasText: cause }).waitFor()
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download" }).click()])
      expect(readFileSync(await file.path(), "utf8")).toBe(await bo.get(`/runs/${failedRunId}/log?download=true`))

      await page.getByRole("button", { name: "Continue from here" }).click()
      await page.waitForURL((url) => url.pathname.startsWith("/ui/runs/") && !url.pathname.endsWith(failedRunId))
      await page.getByText(/^Succeeded\./u).waitFor()
      expect(wrong).toEqual([])
    })

    test("shows a log of 200,000 lines from its end, finds in it and opens any line of it, and does nothing that a line says", async () => {
      const context = await browser()
      const wrong = watch(context, service.url)
      await context.grantPermissions(["clipboard-read", "clipboard-write"])
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      const body = longLog(200_000)
      await page.route("**/api/v2/runs/*/events", (route) => route.fulfill({ body, contentType: "text/event-stream" }))
      await page.goto(`${service.url}/ui/runs/${runId}?view=log`)
      await page.evaluate("navigator.clipboard.writeText('mine')")
      await page.getByText("The run succeeded.").waitFor()
      const [script = "", ...rest] = hostileLines
      await page.locator(".line", { hasText: script }).waitFor()
      for (const shown of ["a link", "copied", "named", "cleared", "left turned", "bare"])
        expect(await page.locator(".line", { hasText: shown }).count(), shown).toBe(1)
      expect(rest.length).toBe(7)
      expect(await page.locator(".line a[href^=javascript], .line img, .line script").count()).toBe(0)
      expect(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")).toBe(true)
      expect(await page.title()).not.toContain("stolen")
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("mine")
      await page.keyboard.press("e")
      await page.locator(".line.match", { hasText: "fatal: [m1]" }).waitFor()
      await page.getByLabel("Find in the log").fill("NEEDLE")
      await page.getByText("0 of 1").waitFor()
      await page.keyboard.press("Enter")
      await page.locator(".line.match", { hasText: "needle in line 7" }).waitFor()
      expect(await page.locator(".line").count()).toBeLessThanOrEqual(150)
      await page.goto(`${service.url}/ui/runs/${runId}?view=log#L150000`)
      await page.reload()
      await page.locator(".line.match .number", { hasText: "150000" }).waitFor()
      expect(wrong).toEqual([])
    })

    test("shows names that others chose as text", async () => {
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges?q=evil`)
      const shown = hostileName.replace("\u202e", "\\u202e")
      await page.getByText(shown, { exact: true }).waitFor()
      await settled(page, `${service.url}/ui/ranges/EVIL`)
      await page.getByText(shown, { exact: true }).waitFor()
      expect(await page.locator("main img, main script, main a[href^=javascript]").count()).toBe(0)
      expect(wrong).toEqual([])
    })

    test("shows three screens at once, types a long text whole, and shows a screen again when its machine was off", async () => {
      const context = await browser()
      const first = await context.newPage()
      await signIn(first, service.url, "UMA")
      const machines = (await rangeOf(user, "UMA")).VMs.filter(({ name }) => /-m\d$/u.test(name))
      const screens: Page[] = []
      for (const { proxmoxID } of machines) {
        const page = await context.newPage()
        await page.goto(`${service.url}/ui/ranges/UMA/console/${proxmoxID}`)
        screens.push(page)
      }
      const connected = (page: Page) => page.getByText("Connected", { exact: true }).waitFor()
      for (const screen of screens) await connected(screen)
      expect(screens.length).toBe(3)
      const [screen, machine] = [screens[0], machines[0]]
      if (screen === undefined || machine === undefined) throw new Error("there is no machine")
      await screen.bringToFront()
      const text = "Every key of it arrives: a_B-c 0123456789! ".repeat(5).slice(0, 200)
      await screen.getByRole("button", { name: "Type text" }).click()
      await screen.getByLabel("Text to type into the machine").fill(text)
      await screen.getByRole("button", { name: "Type it" }).click()
      const typed = async () => (await simulator.screens()).find(({ vmid }) => vmid === machine.proxmoxID)?.typed
      await expect.poll(typed, { timeout: 20_000 }).toBe(text)

      await screen.locator(".screen canvas").focus()
      await screen.keyboard.press("Tab")
      await screen.locator("canvas:focus").waitFor()
      await screen.keyboard.press("Control+Alt")
      await screen.locator("a:focus", { hasText: "Back" }).waitFor()

      const power = (verb: string) => user.send("PUT", `/range/${verb}?rangeID=UMA`, { machines: [machine.name] })
      await power("poweroff")
      await screen.getByText("The machine is off", { exact: true }).waitFor()
      await power("poweron")
      await connected(screen)
      for (const page of screens) await page.close()
    })

    test("leaves every tab when one signs out, and shows nothing of it when somebody goes back or signs in as another", async () => {
      const context = await browser()
      const one = await context.newPage()
      await signIn(one, service.url, "UMA")
      const other = await context.newPage()
      await settled(other, `${service.url}/ui/ranges/UMA`)
      await one.getByRole("button", { name: "Sign out" }).click()
      await other.waitForURL("**/ui/login**")
      await one.waitForURL("**/ui/login**")
      await other.goBack()
      expect(await other.getByText("UMA").count()).toBe(0)
      await fillIn(one, "BO")
      await settled(one, `${service.url}/ui/ranges`)
      await one.getByRole("link", { name: "BO", exact: true }).first().waitFor()
      expect(await one.getByText("UMA").count()).toBe(0)
      expect(await one.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).not.toMatch(/UMA|Uma/u)
    })

    test("lets somebody stay with what is not saved when another tab signs out, and leads away at the next sign", async () => {
      const context = await browser()
      const [one, other] = [await context.newPage(), await context.newPage()]
      await signIn(one, service.url, "UMA")
      await settled(other, `${service.url}/ui/ranges/UMA/config`)
      await other.locator(".cm-content").click()
      await other.keyboard.type("# mine\n")
      let asked = 0
      other.on("dialog", (dialog) => void ((asked += 1) === 1 ? dialog.dismiss() : dialog.accept()))
      await one.getByRole("button", { name: "Sign out" }).click()
      await other.getByLabel("Password").waitFor()
      expect(asked).toBeGreaterThan(1)
    })

    test("tells twelve tabs of a change over one connection, and goes on when the tab that has it is closed", async () => {
      const context = await browser()
      const first = await context.newPage()
      let streams = 0
      context.on("request", (request) => {
        if (request.url().startsWith(`${service.url}/api/v2/events`)) streams += 1
      })
      await signIn(first, service.url, "UMA")
      const tabs: Page[] = [first]
      for (let i = 1; i < 12; i++) tabs.push(await context.newPage())
      for (const tab of tabs) await settled(tab, `${service.url}/ui/ranges/UMA`)
      const before = streams
      const show = (text: string) => Promise.all(tabs.map((tab) => tab.getByText(text).waitFor()))
      await show("Running: all 4 machines are on.")
      await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m2"] })
      await show("3 of 4 machines are on; m2 is off.")
      expect(streams).toBe(before)
      await tabs.shift()?.close()
      await user.send("PUT", "/range/poweron?rangeID=UMA", { machines: ["UMA-m2"] })
      await show("Running: all 4 machines are on.")
      for (const tab of tabs) await tab.close()
    })

    test.skipIf(noFirefox !== undefined)(
      `shows the same in Firefox, and tells twelve of its tabs of a change over one connection${noFirefox === undefined ? "" : ` (skipped: ${noFirefox})`}`,
      async () => {
        const { browser: firefox, tab, wrong, asked } = await openFirefox(service.url)
        closes.push(() => firefox.close())
        const first = await tab()
        await signInWithPuppeteer(first, service.url, "uma@lab.example")
        const tabs = [first]
        for (let i = 1; i < 12; i++) tabs.push(await tab())
        for (const one of tabs) await one.goto(`${service.url}/ui/ranges/UMA`)
        const all = (text: string) => Promise.all(tabs.map((one) => shows(one, text)))
        await all("Running: all 4 machines are on.")
        const streams = asked(`${service.url}/api/v2/events`)
        await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m3"] })
        await all("3 of 4 machines are on; m3 is off.")
        expect(asked(`${service.url}/api/v2/events`)).toBe(streams)
        await tabs.shift()?.close()
        await user.send("PUT", "/range/poweron?rangeID=UMA", { machines: ["UMA-m3"] })
        await all("Running: all 4 machines are on.")
        const screen = await tab()
        await screen.goto(`${service.url}/ui/ranges/UMA`)
        await screen.locator('a[aria-label="Console of m3"]').click()
        await shows(screen, "Connected")
        expect(wrong).toEqual([])
      },
    )

    test("completes and checks a configuration as it is typed, and overwrites nothing of somebody else's", async () => {
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges/UMA/config`)
      const content = page.locator(".cm-content")
      await page.getByText("The configuration is valid.").waitFor()
      await content.click()
      await page.keyboard.press("Control+End")
      await page.keyboard.type("netw")
      await page.keyboard.press("Control+Space")
      await page.getByText("The firewall between VLANs, the VPN and the outside").waitFor()
      await page.getByRole("option", { name: "network" }).click()
      await page.keyboard.type("inter_vlan_default: ")
      await page.keyboard.press("Control+Space")
      await page.getByRole("option", { name: "REJECT" }).click()
      await page.getByText("The configuration is valid.").waitFor()
      await page.keyboard.type("\nwrong: 1")
      await page.getByText('the key "wrong" is not known here').first().waitFor()
      for (let i = 0; i < "\nwrong: 1".length; i++) await page.keyboard.press("Backspace")

      const theirs = `# theirs\n${smallLab(3)}`
      expect((await user.upload("/range/config?rangeID=UMA", theirs)).status).toBe(200)
      await page.getByText("The configuration is valid.").waitFor()
      await page.getByRole("button", { name: "Save", exact: true }).click()
      const dialog = page.getByRole("dialog", { name: "The configuration was changed meanwhile" })
      await dialog.getByText("+ # theirs").waitFor()
      expect((await user.get<{ result: string }>("/range/config?rangeID=UMA")).result).toBe(theirs)
      await dialog.getByRole("button", { name: "Keep mine" }).click()
      await page.getByRole("button", { name: "Save", exact: true }).click()
      await page.getByText("Saved.", { exact: true }).waitFor()
      const mine = `${smallLab(3)}network:\n  inter_vlan_default: REJECT\n`
      expect((await user.get<{ result: string }>("/range/config?rangeID=UMA")).result).toBe(mine)
      await user.upload("/range/config?rangeID=UMA", smallLab(3))
      expect(wrong).toEqual([])
    })

    test("acts on the ranges of a class at once, says what became of each, and adds people to it", async () => {
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      await signIn(page, service.url, "ADA")
      await settled(page, `${service.url}/ui/admin/users`)
      await page.getByRole("button", { name: "Add several" }).click()
      await page.getByLabel("Users to add").fill("KIT,Kit Moe,kit@lab.example\nUMA,Uma,uma@lab.example\n")
      await page.getByLabel("Put them in the group").selectOption("course")
      await page.getByRole("dialog").getByRole("button", { name: "Add several users" }).click()
      await page.getByText("1 of 2 done, 1 failed").waitFor()
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download invitations" }).click(),
      ])
      const link = /^KIT,kit@lab\.example,(?<link>\S+)$/mu.exec(readFileSync(await download.path(), "utf8"))?.groups?.["link"]
      const guest = await (await browser()).newPage()
      await guest.goto(link ?? "")
      await guest.getByLabel("New password").fill("a tidy harbour at dusk")
      await guest.getByRole("button", { name: "Set the password and sign in" }).click()
      await guest.getByRole("link", { name: "KIT" }).first().waitFor()
      expect(guest.url()).not.toContain("#")
      await settled(page, `${service.url}/ui/classes/course?view=people`)
      await page.getByRole("rowheader", { name: "KIT" }).waitFor()
      await page.getByLabel("Add ranges").fill("KIT")
      await page.getByRole("button", { name: "Add", exact: true }).last().click()
      await page.getByText("Added: KIT").waitFor()

      await page.getByRole("link", { name: "Ranges" }).last().click()
      await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m1"] })
      await simulator.fault({ kind: "fail-task", type: "qmstart", text: "no memory is left", when: "before" })
      await page.getByLabel("Select all that are shown").check()
      await page.getByRole("button", { name: "Start", exact: true }).click()
      await page.getByRole("dialog", { name: "Start 3 ranges?" }).getByRole("button", { name: "Start" }).click()
      await page.getByText("2 of 3 done, 1 failed").waitFor()
      await page.getByText("no memory is left").waitFor()
      await page.getByRole("button", { name: "Retry that one" }).click()
      await page.getByText("3 of 3 done").waitFor()
      await page.getByRole("button", { name: "Deploy", exact: true }).click()
      const deploy = page.getByRole("dialog", { name: "Deploy 3 ranges?" })
      const planOf = (range: string) => deploy.getByRole("listitem").filter({ hasText: range })
      await planOf("UMA").getByText("Nothing to do").waitFor()
      await planOf("KIT").getByText("A deploy would create").waitFor()
      await deploy.getByRole("button", { name: "Cancel" }).click()

      await settled(page, `${service.url}/ui/classes/course`)
      await page.getByRole("button", { name: "Tell the class…" }).click()
      const tell = page.getByRole("dialog", { name: "Tell the class course" })
      await tell.getByLabel("Text").fill("Save your work <b>now</b>")
      await tell.getByRole("button", { name: "Tell them" }).click()
      await guest.getByText("Save your work <b>now</b>").waitFor()
      await page.getByRole("button", { name: "Take down" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Take down" }).click()
      await guest.getByText("Save your work").waitFor({ state: "detached" })

      await settled(page, `${service.url}/ui/ranges`)
      await page.getByLabel("Owner's user ID").fill("KIT")
      await page.keyboard.press("Enter")
      await page.getByText(/^1 of \d+ ranges$/u).waitFor()
      await page.getByRole("rowheader", { name: "KIT" }).waitFor()

      await settled(page, `${service.url}/ui/ranges?q=uma`)
      await page.getByLabel("Select several").check()
      await page.getByLabel("Select UMA").check()
      await page.getByRole("button", { name: "Take a snapshot" }).click()
      await page.getByRole("dialog", { name: "Take a snapshot of 1 range?" }).getByLabel("Name of the snapshot").fill("before")
      await page.getByRole("dialog").getByRole("button", { name: "Take a snapshot" }).click()
      await page.getByText("1 of 1 done").waitFor()
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([])
    })

    test("lets pages of other origins change and read nothing", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      const site = createServer(
        (_, response) => void response.setHeader("content-type", "text/html").end("<!doctype html><title>other</title>"),
      )
      await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve))
      const port = (site.address() as AddressInfo).port
      for (const host of ["127.0.0.1", "localhost"]) {
        await page.goto(`http://${host}:${port}/`)
        const posted = page.waitForResponse((response) => response.request().method() === "POST")
        await page.evaluate(formPost(`${service.url}/api/v2/range/abort?rangeID=UMA`))
        expect((await posted).status()).toBeGreaterThanOrEqual(400)
        const outcomes = await page.evaluate(async (target) => {
          const ask = async (path: string, init: RequestInit): Promise<string> => {
            try {
              const answer = await fetch(`${target}${path}`, { ...init, credentials: "include" })
              return `${answer.status} ${await answer.text()}`
            } catch {
              return "blocked"
            }
          }
          const json = {
            method: "PUT",
            headers: { "content-type": "application/json", "x-rangewright": "1" },
            body: `{"machines":["all"]}`,
          }
          const heard = (source: EventSource | WebSocket): Promise<string> =>
            new Promise((resolve) => {
              source.addEventListener("open", () => resolve("200 opened"))
              source.addEventListener("message", () => resolve("200 heard"))
              source.addEventListener("error", () => resolve("blocked"))
            })
          return [
            await heard(new EventSource(`${target}/api/v2/events`, { withCredentials: true })),
            await heard(new WebSocket(`${target.replace("http", "ws")}/api/v2/vm/console/view?ticket=x`)),
            await ask("/api/v2/range?rangeID=UMA", {}),
            await ask("/api/v2/range/poweroff?rangeID=UMA", json),
            await ask("/ui/session", {}),
            await ask("/api/v2/range/abort?rangeID=UMA", { method: "POST", mode: "no-cors" }),
          ]
        }, service.url)
        expect(outcomes.filter((outcome) => outcome.includes("UMA-m1") || outcome.startsWith("200"))).toEqual([])
      }
      expect((await rangeOf(user, "UMA")).VMs.every(({ poweredOn }) => poweredOn)).toBe(true)
      site.closeAllConnections()
      await new Promise((resolve) => site.close(resolve))
    })

    test("loses no point at Lighthouse as a phone: what else Lighthouse judges is the bench's", async () => {
      const { page, judge, close } = await openLighthouse()
      closes.push(close)
      const lost: string[] = []
      const walk = async (...paths: readonly string[]): Promise<void> => {
        for (const path of paths)
          for (const { category, score, faults } of await judge(`${service.url}/ui/${path}`, "phone", [
            "accessibility",
            "best-practices",
          ]))
            if (score !== 100) lost.push(`${path}: ${category} ${score}: ${faults.join(", ")}`)
      }
      await walk("login")
      await signInWithPuppeteer(page, service.url, "UMA")
      await walk("ranges", "ranges/UMA", `runs/${runId}`)
      expect(lost).toEqual([])
    })

    test("has no fault that axe finds, and no text beside its window: light and dark, narrow and wide", async () => {
      const context = await browser()
      const page = await context.newPage()
      const faults: string[] = []
      context.on("response", (response) => {
        if (response.status() === 403) faults.push(`403 for ${response.url()}`)
      })
      const look = await inspector(context, page)
      const check = async (name: string): Promise<void> => void faults.push(...(await look(name)))
      const walk = async (list: readonly string[]): Promise<void> => {
        for (const path of list) {
          await settled(page, `${service.url}/ui/${path}`)
          await check(path)
        }
      }
      await page.goto(`${service.url}/ui/login`)
      await page.locator("h1").waitFor()
      await check("sign-in")
      await signIn(page, service.url, "UMA")
      const [machine] = (await rangeOf(user, "UMA")).VMs
      const ofMachine = [`ranges/UMA/machines/${machine?.proxmoxID}`, `ranges/UMA/console/${machine?.proxmoxID}`]
      await walk([...pathsOfAll, ...ofMachine, `runs/${runId}`, `runs/${runId}?view=steps`, `runs/${runId}?view=log`])
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.waitForURL("**/ui/login**")
      await signIn(page, service.url, "ADA")
      await walk([...pathsOfAdministrators, `runs/${failedRunId}`])
      expect(faults).toEqual([])
    })

    test("moves little of what it shows while it loads, on a phone and on a wide screen", async () => {
      for (const viewport of [
        { width: 412, height: 823 },
        { width: 1350, height: 940 },
      ]) {
        const context = await browser({ viewport })
        await context.addInitScript(countShifts)
        const page = await context.newPage()
        await signIn(page, service.url, "UMA")
        const shifts: Record<string, number> = {}
        for (const path of ["ranges", "ranges/UMA", "runs", `runs/${runId}`, "templates", "me"]) {
          await settled(page, `${service.url}/ui/${path}`)
          await page.waitForLoadState("load")
          shifts[path] = await page.evaluate<number>(shiftsSoFar)
        }
        // with a run that changes the range, whose answers come last
        const late = async (route: Route): Promise<void> => {
          const response = await route.fetch()
          const body = (await response.text()).replace(/"status":"[a-z]+"/u, '"status":"running"')
          await page.locator("main .tabs").waitFor()
          await route.fulfill({ response, body })
        }
        await page.route("**/api/v2/runs?*", late)
        await page.route("**/api/v2/runs/*", late)
        await page.goto(`${service.url}/ui/ranges/UMA`)
        await page.getByRole("progressbar").waitFor()
        await page.locator("main tbody tr").first().waitFor()
        shifts["ranges/UMA, a run is going"] = await page.evaluate<number>(shiftsSoFar)
        // its answers come through here: none is asked for while the service is away
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await page.close()
        // what is above counts as poor with those who measure pages
        expect(Object.entries(shifts).filter(([, sum]) => sum > 0.1)).toEqual([])
      }
    })

    test("installs what a source ships once somebody has seen what that is, says what became of each, and takes it away again", async () => {
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      await signIn(page, service.url, "ADA")
      await page.goto(`${service.url}/ui/sources`)
      await page.getByRole("link", { name: "Lessons" }).click()
      await page.getByText(hostileText).waitFor()
      expect(await page.getByText("Not installed", { exact: true }).count()).toBe(2)
      await page.getByRole("button", { name: "Install everything…" }).click()
      const plan = page.getByRole("dialog", { name: "What would be installed" })
      await plan.getByText("greeting").waitFor()
      await plan.getByRole("button", { name: "Install" }).click()
      await page.getByText("Done: ").waitFor()
      await page.getByRole("button", { name: "Uninstall Lesson" }).waitFor()
      expect(await page.getByText("Installed", { exact: true }).count()).toBe(2)

      // the blueprint still needs it
      await page.getByRole("button", { name: "Uninstall greeting" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Uninstall" }).click()
      await page.getByRole("alert").getByText("greeting").waitFor()

      await page.goto(`${service.url}/ui/roles?q=greet`)
      await page.getByRole("rowheader", { name: "greeting" }).waitFor()
      await page.goto(`${service.url}/ui/catalog?kind=blueprint`)
      await page.getByRole("button", { name: "Uninstall Lesson" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Uninstall" }).click()
      await page.getByRole("button", { name: "Install Lesson" }).waitFor()
      expect(wrong).toEqual([])
    })

    test("adds a source from an archive, says what of it nobody can use, takes another archive and deletes the source again", async () => {
      const buffer = execFileSync("git", ["archive", "--format=tar.gz", "HEAD"], { cwd: sources })
      const archive = { name: "mine.tar.gz", mimeType: "application/gzip", buffer }
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/sources`)
      await page.getByRole("button", { name: "Add a source" }).click()
      const dialog = page.getByRole("dialog", { name: "Add a source" })
      expect(await dialog.getByLabel("Kind").locator("option").allTextContents()).toEqual(["A git repository", "An archive"])
      await dialog.getByLabel("Access").selectOption("With an SSH key")
      await dialog.getByLabel("Private key").fill("is not sent with another kind")
      await dialog.getByLabel("Kind").selectOption("An archive")
      await dialog.getByLabel("Archive", { exact: true }).setInputFiles(archive)
      await dialog.getByRole("button", { name: "Add a source" }).click()
      await dialog.waitFor({ state: "hidden" })
      await page.getByText("The source was added", { exact: false }).filter({ hasText: "templates/empty" }).waitFor()

      await page.getByRole("link", { name: "Lessons" }).click()
      await page.getByRole("button", { name: "Change…" }).click()
      const change = page.getByRole("dialog", { name: "Change the source" })
      await change.getByLabel("Archive").setInputFiles({ ...archive, name: "mine.zip" })
      await change.getByRole("button", { name: "Save" }).click()
      await change.getByRole("alert").waitFor()
      await change.getByLabel("Archive").setInputFiles(archive)
      await change.getByRole("button", { name: "Save" }).click()
      await change.waitFor({ state: "hidden" })
      await page.getByText("Nothing had to be done.").waitFor()
      await page.getByRole("button", { name: "Delete the source" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete the source" }).click()
      await page.getByText("There are no sources.").waitFor()
      expect(wrong.filter((one) => !one.includes("400"))).toEqual([])
    })

    test("takes a role and a template as archives, and says what is wrong with one", async () => {
      const pack = (name: string, parent: string, folder: string) => ({
        name,
        mimeType: "application/x-tar",
        buffer: execFileSync("tar", ["-c", "-C", parent, folder]),
      })
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      const upload = async (what: string, file: ReturnType<typeof pack>): Promise<void> => {
        await page.getByRole("button", { name: "Upload…" }).click()
        const dialog = page.getByRole("dialog", { name: `Upload a ${what}` })
        await dialog.getByLabel("File").setInputFiles({ ...file, buffer: Buffer.from("no archive") })
        await dialog.getByRole("button", { name: "Upload" }).click()
        await dialog.getByRole("alert").waitFor()
        await dialog.getByLabel("File").setInputFiles(file)
        await dialog.getByRole("button", { name: "Upload" }).click()
        await dialog.waitFor({ state: "hidden" })
      }
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/roles`)
      await upload("role", pack("greeting.tar", `${sources}/ansible/roles`, "greeting"))
      await page.getByText("Successfully installed role").waitFor()
      await page.getByRole("rowheader", { name: "greeting" }).waitFor()
      await page.getByRole("button", { name: "Remove greeting" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
      await page.getByRole("rowheader", { name: "greeting" }).waitFor({ state: "detached" })
      await page.goto(`${service.url}/ui/templates`)
      await upload("template", pack("small.tar", `${repository}test/e2e/templates`, "small-clone"))
      await page.getByText("Successfully added template", { exact: false }).waitFor()
      await page.getByRole("link", { name: "small-clone" }).waitFor()
      expect(wrong.filter((one) => !one.includes("400"))).toEqual([])
    })

    test("makes a blueprint of a range, shares and copies it, takes the copy out and in, and deletes it again", async () => {
      const context = await browser()
      const page = await context.newPage()
      const wrong = watch(context, service.url)
      await signIn(page, service.url, "ADA")
      await page.goto(`${service.url}/ui/blueprints`)
      await page.getByRole("button", { name: "New from a range…" }).click()
      const dialog = page.getByRole("dialog", { name: "New blueprint" })
      await dialog.getByLabel("Range").selectOption("UMA")
      await dialog.getByLabel("ID").fill("ada/lab")
      await dialog.getByLabel("Name").fill("A lab")
      await dialog.getByRole("button", { name: "New blueprint" }).click()
      await page.getByRole("heading", { name: "A lab" }).waitFor()
      await page.getByText("debian-12-x64-server-template").first().waitFor()
      const card = page.getByRole("region", { name: "Shared with" })
      await card.getByLabel("Share with a group").selectOption("course")
      await card.getByRole("button", { name: "Share", exact: true }).first().click()
      await card.getByRole("button", { name: "Stop sharing course" }).click()
      await card.getByLabel("Share with a user").fill("UMA")
      await card.getByRole("button", { name: "Share", exact: true }).last().click()
      await card.getByRole("button", { name: "Stop sharing UMA" }).click()
      await card.getByText("Nobody.").waitFor()

      await page.getByRole("button", { name: "Copy…" }).click()
      const copy = page.getByRole("dialog", { name: "Copy A lab" })
      await copy.getByLabel("ID").fill("ada/copy")
      await copy.getByRole("button", { name: "Copy" }).click()
      await page.getByText("ada/copy", { exact: true }).waitFor()
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()])
      expect(download.suggestedFilename()).toBe("ada-copy.tar.gz")
      const pending = pendingRequests(context)
      await page.getByRole("button", { name: "Delete" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
      await page.waitForURL("**/ui/blueprints")
      await page.getByRole("button", { name: "New from a range…" }).waitFor()
      await expect.poll(pending, { timeout: 20_000 }).toBe(0)
      expect(await page.getByText("ada/copy").count()).toBe(0)
      await page.getByRole("button", { name: "Import…" }).click()
      await page.getByLabel("File").setInputFiles(await download.path())
      await page.getByRole("button", { name: "Import", exact: true }).click()
      await page.getByRole("dialog").waitFor({ state: "hidden" })
      await page.getByText("ada/copy").waitFor()
      expect(wrong).toEqual([])
    })

    test("sees that a range differs when somebody comes back to it, though nothing told it so", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await page.goto(`${service.url}/ui/ranges/UMA`)
      await page.locator("main tbody tr").first().waitFor()
      const note = page.getByText("The range is not as its configuration says: m1.")
      expect(await note.count()).toBe(0)
      const drift = { inSync: false, differences: [{ object: "UMA-m1", kind: "update" }], machines: [] }
      await page.route("**/api/v2/range/drift?*", (route) => route.fulfill({ json: drift }))
      await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`)
      await note.waitFor()
    })

    test("is used by keyboard alone: sign in, find a range, start a machine, look at its screen, read a run, and out again", async () => {
      const context = await browser()
      const page = await context.newPage()
      await page.goto(`${service.url}/ui/login`)
      await page.getByLabel("Email or user ID").waitFor()
      await page.keyboard.press("Tab")
      await page.keyboard.type("UMA")
      await page.keyboard.press("Tab")
      await page.keyboard.type(password)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Ranges" }).waitFor()
      await page.getByRole("searchbox").waitFor()
      await page.keyboard.press("/")
      await page.keyboard.type("m1")
      await page.waitForURL("**q=m1**")
      await page.keyboard.press("Escape")
      await page.keyboard.press("g")
      await page.keyboard.press("u")
      await page.waitForURL("**/ui/runs")
      await page.keyboard.press("Control+k")
      const palette = page.getByRole("dialog", { name: "Go to" })
      await palette.locator("input:focus").waitFor()
      await page.keyboard.type("machine m1")
      await palette.getByRole("option", { selected: true }).filter({ hasText: "m1" }).waitFor()
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/ranges/*/machines/*")
      await palette.waitFor({ state: "hidden" })
      await page.keyboard.press("?")
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor()
      await page.keyboard.press("Escape")
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "hidden" })

      await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m2"] })
      await settled(page, `${service.url}/ui/ranges/UMA`)
      await page.getByText("3 of 4 machines are on; m2 is off.").waitFor()
      await tabTo(page, page.getByLabel("Actions for m2"))
      await page.keyboard.press("Enter")
      await tabTo(page, page.locator("details[open]").getByRole("button", { name: "Start" }))
      await page.keyboard.press("Enter")
      await page.getByText("Running: all 4 machines are on.").waitFor()
      await tabTo(page, page.getByLabel("Actions for m2"))
      await page.keyboard.press("Enter")
      await tabTo(page, page.locator("details[open]").getByRole("button", { name: "Power off" }))
      await page.keyboard.press("Enter")
      await page.locator("dialog[open] :focus").waitFor()
      await page.keyboard.press("Escape")
      await page.locator("dialog[open]").waitFor({ state: "detached" })
      await page.locator("main :focus").waitFor()
      await tabTo(page, page.getByRole("link", { name: "Console of m2" }))
      await page.keyboard.press("Enter")
      await page.getByText("Connected", { exact: true }).waitFor()
      await page.locator("canvas:focus").waitFor()
      await page.keyboard.press("Control+Alt")
      await page.locator("a:focus", { hasText: "Back" }).waitFor()
      await page.keyboard.press("Enter")
      await tabTo(page, page.getByRole("region", { name: "Last runs" }).getByRole("link", { name: "Power", exact: true }).first())
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/runs/*")
      await tabTo(page, page.getByRole("link", { name: "Log", exact: true }))
      await page.keyboard.press("Enter")
      await page.getByText("The run succeeded.").waitFor()
      await tabTo(page, page.getByRole("button", { name: "Sign out" }))
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/login**")
    })

    test("changes one row of a hundred when one machine is switched, and does not ask for the list again", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "ADA")
      let asked = 0
      await page.route("**/api/v2/range/all", async (route) => {
        asked += 1
        const response = await route.fetch()
        await route.fulfill({ response, json: [...((await response.json()) as readonly object[]), ...manyRanges(100, 10)] })
      })
      await settled(page, `${service.url}/ui/me`)
      // what was read for the palette is the list of the page, and kept up to date as that
      await page.keyboard.press("Control+k")
      await page.keyboard.type("ranges")
      await page.getByRole("option", { selected: true }).filter({ hasText: "Ranges" }).waitFor()
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: "R99", exact: true }).waitFor()
      // when the stream begins, all is read again: what changed before would be missed. It has begun once it shows a change
      for (const [verb, on] of [
        ["poweroff", 3],
        ["poweron", 4],
      ] as const) {
        await user.send("PUT", `/range/${verb}?rangeID=UMA`, { machines: ["UMA-m1"] })
        await page.getByText(`${on} of 4 on`, { exact: true }).waitFor()
      }
      const changedRows = await rowCounter(context, page)
      const askedBefore = asked
      await user.send("PUT", "/range/poweroff?rangeID=UMA", { machines: ["UMA-m1"] })
      await page.getByText("3 of 4 on", { exact: true }).waitFor()
      expect(await changedRows()).toBe(1)
      expect(asked).toBe(askedBefore)
      await page.getByLabel("Filter by name, machine or address").fill("r42-m7")
      await page.getByText(/^1 of \d+ ranges$/u).waitFor()
      expect(await page.getByRole("row").count()).toBe(2)
      await user.send("PUT", "/range/poweron?rangeID=UMA", { machines: ["UMA-m1"] })
      // its answers come through here: none is asked for while the service is away
      await page.unrouteAll({ behavior: "ignoreErrors" })
      await page.close()
    })

    test("holds no more after 50,000 power changes than after the first thousands, and asks for none of them", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "ADA")
      let asked = 0
      await context.route("**/api/v2/range/all", async (route) => {
        asked += 1
        await route.fulfill({ json: manyRanges(100, 10) })
      })
      await settled(page, `${service.url}/ui/ranges`)
      await page.getByRole("link", { name: "R99", exact: true }).waitFor()
      const soak = await soaker(context, page, 100, 10)
      const before = await soak(4_000)
      const askedBefore = asked
      const after = await soak(50_000)
      expect(asked).toBe(askedBefore)
      expect(after.mebibytes - before.mebibytes).toBeLessThan(10)
      expect(Math.abs(after.nodes / before.nodes - 1)).toBeLessThan(0.05)
      await context.unrouteAll({ behavior: "ignoreErrors" })
      for (const tab of context.pages()) await tab.close()
    })

    test("deletes a machine, plans a part of a deploy, and deletes all machines and the range once that is confirmed", async () => {
      const eve = await addLab(service, "EVE", smallLab(2), service.as(admin))
      await eve.send("POST", "/user/credentials", { proxmoxPassword: password })
      await expectSuccess(eve, await deploy(eve, "EVE"))
      const context = await browser()
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      const agree = (action: string) => page.getByRole("dialog").getByRole("button", { name: action, exact: true }).click()
      await signIn(page, service.url, "EVE")
      await page.goto(`${service.url}/ui/ranges/EVE`)
      await page.getByRole("link", { name: "m2", exact: true }).click()
      await page.getByLabel("Actions for m2").click()
      await page.getByRole("button", { name: "Delete", exact: true }).click()
      await agree("Delete")
      await page.waitForURL("**/ui/ranges/EVE")
      await page.getByRole("link", { name: "m1", exact: true }).waitFor()
      expect(await page.getByRole("link", { name: "m2", exact: true }).count()).toBe(0)

      await page.getByRole("link", { name: "Plan", exact: true }).click()
      await page.getByText("create 1", { exact: false }).waitFor()
      await page.getByText("Only a part…").click()
      await page.getByLabel("Only these machines").fill("EVE-m1")
      await page.getByLabel("Only these machines").press("Enter")
      await page.getByText("Nothing to do", { exact: false }).waitFor()
      await page.getByLabel("Only these machines").fill("")
      await page.getByLabel("Only these machines").press("Enter")
      await page.getByText("create 1", { exact: false }).waitFor()
      await page.getByRole("link", { name: "Overview", exact: true }).click()

      await page.getByRole("button", { name: "Delete the machines…" }).click()
      await page.getByRole("dialog").getByText("2 machines will be deleted").waitFor()
      await agree("Delete the machines")
      await page.getByText("All VMs of range EVE deleted").waitFor()
      await page.getByText("There are no machines yet.").waitFor()

      await page.getByRole("button", { name: "Delete the range…" }).click()
      const field = page.getByLabel("Type EVE to delete it")
      await field.fill("UMA")
      await agree("Delete the range")
      expect(await field.evaluate((element) => element.matches(":invalid"))).toBe(true)
      await field.fill("EVE")
      await agree("Delete the range")
      await page.waitForURL("**/ui/ranges")
      await page.getByText("You have no range yet.").waitFor()
      expect(await eve.get("/ranges/accessible")).toEqual([])
      // what was asked for as the range went
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([])
    })

    test("says when the service is away, and goes on with a run by itself when it is back", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "BO")
      await bo.upload("/range/config?rangeID=BO", smallLab(4))
      const id = await deploy(bo, "BO")
      await page.goto(`${service.url}/ui/runs/${id}?view=log`)
      await page.locator(".line").first().waitFor()
      await service.crash()
      await page.getByText("Live updates are interrupted.", { exact: false }).waitFor()
      service = await startService(data, { ...environment, RANGEWRIGHT_PORT: String(service.port) })
      await page.getByText("The run succeeded.").waitFor()
      await page.getByText(/^Succeeded\./u).waitFor()
      await page.getByText("Live updates are interrupted.", { exact: false }).waitFor({ state: "hidden" })
      // as who reads it all at once: no line twice, and none lost
      const lines = () => page.getByText(/^\d+ lines$/u).textContent()
      const followed = await lines()
      await page.reload()
      await page.getByText("The run succeeded.").waitFor()
      expect(followed).toBe(await lines())
      const { steps } = await bo.get<{ readonly steps: readonly { readonly title: string }[] }>(`/runs/${id}`)
      await settled(page, `${service.url}/ui/runs/${id}?view=steps`)
      const rows = page.locator("main tbody tr")
      await expect.poll(() => rows.count()).toBe(steps.length)
      for (const [at, { title }] of steps.entries()) {
        expect(await rows.nth(at).locator("th").innerText()).toContain(title)
        expect(await rows.nth(at).innerText()).toContain("Done")
      }
    })
  },
)

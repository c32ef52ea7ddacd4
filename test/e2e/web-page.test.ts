import { execFileSync } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Look, noBrowser, openBrowser } from "./support/browser.ts"
import type { ApiClient } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, rangeOf, runEnd, smallLab } from "./support/lab.ts"
import { endAll, repository } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")
const password = "correct-horse-battery-7"
const cause = "no memory is left on the node"
const hostileName = `"><img src=x onerror=alert(1)>\u202e<script>alert(2)</script>`

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** What a page did that it must not: errors, violations of its policy, requests to others. */
const watch = (context: BrowserContext, origin: string): readonly string[] => {
  const seen: string[] = []
  context.on("console", (message) => {
    if (message.type() === "error") seen.push(message.text())
  })
  context.on("weberror", (error) => seen.push(error.error().message))
  context.on("dialog", (dialog) => {
    seen.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(?:blob|data):/u.test(request.url())) seen.push(`request: ${request.url()}`)
  })
  return seen
}

const signIn = async (page: Page, url: string, user: string): Promise<void> => {
  await page.goto(`${url}/`)
  await page.waitForURL("**/ui/login**")
  await fillIn(page, user)
}

const fillIn = async (page: Page, user: string): Promise<void> => {
  await page.getByLabel("Email or user ID").fill(user)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { level: 1, name: /^(?:Ranges|UMA|Overview)/u }).waitFor()
}

/** Waits until the page is there and has what it shows. */
const settled = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await page.locator("main h1").first().waitFor()
  await page.waitForFunction(
    () =>
      !/(?:^|\n)Loading…(?:$|\n)/u.test(
        (globalThis as unknown as { document: { body: { innerText: string } } }).document.body.innerText,
      ),
  )
}

/** The events of a run that wrote so many lines: one of them a needle, one an error. */
const longLog = (lines: number): string => {
  const at = "2026-01-01T00:00:00.000Z"
  const event = (seq: number, type: string, more: object) =>
    `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, at, type, ...more })}\n\n`
  const texts: Readonly<Record<number, string>> = { 7: "needle in line 7", 1000: "fatal: [m1]: FAILED!" }
  const output = (line: number) =>
    event(line + 1, "Output", { key: "s", text: `${texts[line] ?? `\u001b[32mok\u001b[0m: [m1] => (item=package-${line})`}\n` })
  return [
    event(1, "Planned", { plan: { steps: [{ key: "s", title: "Run role" }], notes: [] } }),
    ...Array.from({ length: lines }, (_, line) => output(line + 1)),
    event(lines + 2, "Ended", { status: "success", message: "" }),
  ].join("")
}

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
  "blueprints",
  "sources",
  "me",
  "ranges/NOBODY",
  "nothing",
]

const pathsOfAdministrators = [
  "admin/overview",
  "admin/users",
  "admin/users/UMA",
  "admin/groups",
  "admin/quotas",
  "admin/audit",
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
    let user: ApiClient
    /** Whose deploy failed. */
    let bo: ApiClient
    let runId: string
    let failedRunId: string
    const closes: (() => Promise<void>)[] = []
    const browser = async (look?: Look): Promise<BrowserContext> => {
      const { context, close } = await openBrowser(look)
      closes.push(close)
      return context
    }

    beforeAll(async () => {
      const built = temporaryFolder()
      execFileSync(process.execPath, ["node_modules/vite/bin/vite.js", "build", "--outDir", built, "--logLevel", "warn"], {
        cwd: `${repository}packages/web`,
      })
      simulator = await startSimulator(["--speed", "60"])
      service = await startService(temporaryFolder(), onSimulator(simulator, { RANGEWRIGHT_WEB_FOLDER: built }))
      const admin = service.as(await addUser(service.root, "ADA", true))
      await admin.send("POST", "/user/credentials", { proxmoxPassword: password })
      user = await addLab(service, "UMA", smallLab(3), admin)
      await user.send("POST", "/user/credentials", { proxmoxPassword: password })
      runId = await deploy(user, "UMA")
      await expectSuccess(user, runId)
      const repair = await simulator.fault({ kind: "fail-task", type: "qmstart", text: cause, when: "before", times: "always" })
      bo = await addLab(service, "BO", smallLab(1), admin)
      await bo.send("POST", "/user/credentials", { proxmoxPassword: password })
      failedRunId = await deploy(bo, "BO")
      expect((await runEnd(bo, failedRunId)).status).toBe("failure")
      await repair()
      await user.send("POST", "/ranges/create", { rangeID: "EVIL", name: hostileName, description: "[x](javascript:alert(3))" })
      await admin.send("POST", "/groups", { name: "course", description: hostileName })
      await admin.send("POST", "/groups/course/ranges", { rangeIDs: ["UMA", "EVIL"] })
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

    test("shows a log of 200,000 lines from its end, finds in it and opens any line of it", async () => {
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      const body = longLog(200_000)
      await page.route("**/api/v2/runs/*/events", (route) => route.fulfill({ body, contentType: "text/event-stream" }))
      await page.goto(`${service.url}/ui/runs/${runId}?view=log`)
      await page.getByText("The run succeeded.").waitFor()
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

    test("leaves every tab when one signs out, and shows nothing when somebody goes back", async () => {
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
          return [
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

    test("has no fault that axe finds, and no text beside its window: light and dark, narrow and wide", async () => {
      const context = await browser()
      const page = await context.newPage()
      const devtools = await context.newCDPSession(page)
      const faults: string[] = []
      // by the tools of the browser: the policy of the page lets no other script in
      const evaluate = async (expression: string): Promise<unknown> =>
        (await devtools.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value
      const check = async (name: string): Promise<void> => {
        await evaluate(axe)
        for (const width of [1280, 375])
          for (const colorScheme of ["light", "dark"] as const) {
            await page.setViewportSize({ width, height: 800 })
            await page.emulateMedia({ colorScheme })
            const what = `${name}, ${colorScheme}, ${width} pixels`
            const found = await evaluate(
              `axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"] }).then((r) => JSON.stringify({ violations: r.violations.map((v) => ({ id: v.id, nodes: v.nodes.map((n) => ({ html: n.html.slice(0, 200) })) })) }))`,
            )
            const { violations } = JSON.parse(String(found)) as AxeResult
            faults.push(...violations.map(({ id, nodes }) => `${what}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`))
            const isWide = await evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
            if (isWide === true) faults.push(`${what}: is wider than its window`)
          }
        await page.setViewportSize({ width: 1280, height: 800 })
      }
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

    test("is used by keyboard alone: sign in, find a range, move to the runs, to a machine by its name, and out again", async () => {
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
      await page.getByRole("button", { name: "Sign out" }).focus()
      await page.keyboard.press("Enter")
      await page.waitForURL("**/ui/login**")
    })
  },
)

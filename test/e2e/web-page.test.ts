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
import { addLab, addUser, deploy, expectSuccess, rangeOf, smallLab } from "./support/lab.ts"
import { endAll, repository } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")
const password = "correct-horse-battery-7"
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
  await page.getByLabel("Email or user ID").fill(user)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { level: 1, name: /^(?:Ranges|UMA)/u }).waitFor()
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

describe.skipIf(noBrowser !== undefined)(
  `the web page (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 120_000 },
  () => {
    let service: ServiceProcess
    let user: ApiClient
    let runId: string
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
      const simulator = await startSimulator(["--speed", "60"])
      service = await startService(temporaryFolder(), onSimulator(simulator, { RANGEWRIGHT_WEB_FOLDER: built }))
      const admin = service.as(await addUser(service.root, "ADA", true))
      user = await addLab(service, "UMA", smallLab(3), admin)
      await user.send("POST", "/user/credentials", { proxmoxPassword: password })
      runId = await deploy(user, "UMA")
      await expectSuccess(user, runId)
      await user.send("POST", "/ranges/create", { rangeID: "EVIL", name: hostileName, description: "[x](javascript:alert(3))" })
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
      await page.getByText("The run did everything.").waitFor()
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

    test.each([
      ["light", 1280],
      ["dark", 1280],
      ["light", 375],
      ["dark", 375],
    ] as const)("has no fault that axe finds, and no text beside its window: %s, %i pixels", async (colorScheme, width) => {
      const context = await browser({ colorScheme, viewport: { width, height: 800 } })
      const page = await context.newPage()
      const faults: string[] = []
      const check = async (name: string): Promise<void> => {
        const devtools = await context.newCDPSession(page)
        // by the tools of the browser: the policy of the page lets no other script in
        const { result } = await devtools.send("Runtime.evaluate", {
          expression: `${axe};axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }).then((r) => JSON.stringify({ violations: r.violations.map((v) => ({ id: v.id, nodes: v.nodes.map((n) => ({ html: n.html.slice(0, 200) })) })) }))`,
          awaitPromise: true,
        })
        const { violations } = JSON.parse(String(result.value)) as AxeResult
        faults.push(...violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`))
        const wide = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = (
            globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
          ).document.documentElement
          return scrollWidth > clientWidth
        })
        if (wide) faults.push(`${name}: is wider than its window`)
      }
      await page.goto(`${service.url}/ui/login`)
      await page.locator("h1").waitFor()
      await check("sign-in")
      await signIn(page, service.url, "UMA")
      const paths = [
        "ranges",
        "ranges/UMA",
        "ranges/EVIL",
        "ranges/UMA/plan",
        "ranges/UMA/config",
        "ranges/UMA/snapshots",
        "ranges/UMA/testing",
      ]
      const others = [
        `runs`,
        `runs/${runId}`,
        `runs/${runId}?view=steps`,
        `runs/${runId}?view=log`,
        "templates",
        "blueprints",
        "sources",
        "me",
        "ranges/NOBODY",
        "nothing",
      ]
      for (const path of [...paths, ...others]) {
        await settled(page, `${service.url}/ui/${path}`)
        await check(path)
      }
      expect(faults).toEqual([])
    })

    test("is used by keyboard alone: sign in, find a range, move to the runs and out again", async () => {
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

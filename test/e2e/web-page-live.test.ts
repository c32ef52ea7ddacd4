import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { noBrowser } from "./support/browser.ts"
import { noFirefox, openFirefox, shows, signInWithPuppeteer } from "./support/firefox.ts"
import { deploy, rangeOf, smallLab } from "./support/lab.ts"
import { openPageLab, type PageLab } from "./support/page-lab.ts"
import { fillIn, formPost, manyRanges, rowCounter, settled, signIn, soaker } from "./support/web-page.ts"

describe.skipIf(noBrowser !== undefined)(
  `tabs, sessions and live changes of the web page (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 300_000 },
  () => {
    let lab: PageLab

    beforeAll(async () => {
      lab = await openPageLab()
      return lab.close
    }, 120_000)

    test("signing out in one tab signs out all, and nothing of the session shows when somebody goes back or signs in as another user", async () => {
      const { service, browser } = lab
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

    test("signing in in one tab leads the others, which wait for it too, to where they were going", async () => {
      const { service, browser, runId } = lab
      const context = await browser()
      const [one, other] = [await context.newPage(), await context.newPage()]
      await other.goto(`${service.url}/ui/runs/${runId}?view=log#L2`)
      await other.waitForURL("**/ui/login**")
      await signIn(one, service.url, "UMA")
      await other.locator(".line.match .number", { hasText: "2" }).waitFor()
      expect(other.url()).toContain(`/ui/runs/${runId}?view=log#L2`)
    })

    test("offers the pages of administrators as soon as the user is one", async () => {
      const { service, ada, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "BO")
      const stream = page.waitForResponse("**/api/v2/events")
      await settled(page, `${service.url}/ui/runs`)
      const administration = page.getByRole("link", { name: "Administration" })
      expect(await administration.count()).toBe(0)
      await stream
      await ada.send("PUT", "/user/BO/admin", { isAdmin: true })
      await administration.waitFor()
      await ada.send("PUT", "/user/BO/admin", { isAdmin: false })
      await page.getByLabel("Password").waitFor()
    })

    test("says so when signing out fails, since the session is still open, and signs out at the next try", async () => {
      const { service, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges/UMA`)
      await page.route("**/ui/session", (route) => route.abort(), { times: 1 })
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByText("You are still signed in", { exact: false }).waitFor()
      expect((await context.request.get(`${service.url}/api/v2/whoami`)).status()).toBe(200)
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.waitForURL("**/ui/login**")
      expect((await context.request.get(`${service.url}/api/v2/whoami`)).status()).toBe(401)
    })

    test("asks a user once whether to leave unsaved changes when another tab signs out, and saves them after signing in there", async () => {
      const { service, user, browser } = lab
      const context = await browser()
      const [one, other] = [await context.newPage(), await context.newPage()]
      await signIn(one, service.url, "UMA")
      await settled(other, `${service.url}/ui/ranges/UMA/config`)
      await other.locator(".cm-content").click()
      await other.keyboard.press("Control+Home")
      await other.keyboard.type("# mine\n")
      let asked = 0
      other.on("dialog", (dialog) => void ((asked += 1), dialog.dismiss()))
      await one.getByRole("button", { name: "Sign out" }).click()
      await one.waitForURL("**/ui/login**")
      const over = other.getByText("You are signed out.", { exact: false })
      await over.waitFor()
      // refused, and so is what the page asks by itself
      await other.getByRole("button", { name: "Save", exact: true }).click()
      await other.getByRole("alert").first().waitFor()
      await other.waitForResponse((response) => response.url().endsWith("/events") && response.status() === 401)
      await fillIn(one, "UMA")
      await over.waitFor({ state: "detached" })
      await other.getByRole("button", { name: "Save", exact: true }).click()
      await other.getByText("Not saved").first().waitFor({ state: "detached" })
      expect(await user.get("/range/config?rangeID=UMA")).toMatchObject({ result: expect.stringMatching(/^# mine\n/u) })
      expect(asked).toBe(1)

      // of another user nothing is kept, but the browser asks first
      await other.locator(".cm-content").click()
      await other.keyboard.type("# more\n")
      await one.getByRole("button", { name: "Sign out" }).click()
      await over.waitFor()
      other.removeAllListeners("dialog")
      other.on("dialog", (dialog) => void ((asked += 1), dialog.accept()))
      await fillIn(one, "BO")
      await other.getByText("# mine").waitFor({ state: "detached" })
      expect(asked).toBe(3)
    })

    test("leads back to where a long list was left, and begins a page opened from it at the top", async () => {
      const { service, browser } = lab
      const page = await (await browser({ viewport: { width: 1280, height: 700 } })).newPage()
      await signIn(page, service.url, "UMA")
      await page.route("**/api/v2/range/all", (route) => route.fulfill({ json: manyRanges(60, 2) }))
      await page.route("**/api/v2/blueprints", (route) =>
        route.fulfill({
          json: Array.from({ length: 60 }, (_, n) => ({ blueprintID: `b${n}`, name: `Plan ${n}`, ownerUserID: "UMA", tags: [] })),
        }),
      )
      const scrolled = () => page.evaluate<number>("scrollY")
      const left = (what: string) => expect.poll(() => page.evaluate<number>(what), { timeout: 10_000 })
      for (const [list, link, title] of [
        ["ranges", "R50", "R50"],
        ["blueprints", "Plan 50", "b50"],
      ] as const) {
        await settled(page, `${service.url}/ui/${list}`)
        await page.getByRole("link", { name: link, exact: true }).scrollIntoViewIfNeeded()
        await left("history.state?.scrolled ?? 0").toBeGreaterThan(1_000)
        const before = await scrolled()
        await page.getByRole("link", { name: link, exact: true }).click()
        await page.getByRole("heading", { level: 1, name: title }).waitFor()
        await left("scrollY").toBe(0)
        await page.goBack()
        await left("Math.round(scrollY)").toBe(Math.round(before))
      }
    })

    test("updates twelve tabs over one connection, and continues when the tab that holds it is closed", async () => {
      const { service, user, browser } = lab
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
      `works the same in Firefox, and updates twelve of its tabs over one connection${noFirefox === undefined ? "" : ` (skipped: ${noFirefox})`}`,
      async () => {
        const { service, user, closes } = lab
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

    test("lets pages of other origins neither change nor read anything", async () => {
      const { service, user, browser } = lab
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

    test("updates one row of a hundred when one machine changes, and does not request the list again", async () => {
      const { service, user, browser } = lab
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
      // the list read for the palette is the page's list too, and is kept up to date
      await page.keyboard.press("Control+k")
      await page.keyboard.type("ranges")
      await page.getByRole("option", { selected: true }).filter({ hasText: "Ranges" }).waitFor()
      await page.keyboard.press("Enter")
      await page.getByRole("link", { name: "R99", exact: true }).waitFor()
      // everything is read again when the stream begins, since earlier changes are missed; a change that shows proves that it has begun
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
      // stop intercepting: requests still in here would fail once the service is gone
      await page.unrouteAll({ behavior: "ignoreErrors" })
      await page.close()
    })

    test("uses no more memory after 50,000 power changes than after the first thousands, and sends no requests for them", async () => {
      const { service, browser } = lab
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

    test("says when the service is unreachable, and continues with a run by itself when it is back", async () => {
      const { service, bo, browser } = lab
      const context = await browser()
      const page = await context.newPage()
      await signIn(page, service.url, "BO")
      await bo.upload("/range/config?rangeID=BO", smallLab(4))
      const id = await deploy(bo, "BO")
      await page.goto(`${service.url}/ui/runs/${id}?view=log`)
      await page.locator(".line").first().waitFor()
      await service.crash()
      await page.getByText("Live updates have been interrupted since", { exact: false }).waitFor()
      await lab.startAgain()
      await page.getByText("The run succeeded.").waitFor()
      await page.getByText(/^Succeeded\./u).waitFor()
      await page.getByText("Live updates have been interrupted since", { exact: false }).waitFor({ state: "hidden" })
      // the same lines as a client that reads everything at once: none twice, and none lost
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

import type { Route } from "playwright-core"
import { beforeAll, describe, expect, test } from "vitest"
import { noBrowser } from "./support/browser.ts"
import { signInWithPuppeteer } from "./support/firefox.ts"
import { rangeOf } from "./support/lab.ts"
import { openLighthouse } from "./support/lighthouse.ts"
import { openPageLab, type PageLab } from "./support/page-lab.ts"
import { countShifts, inspector, settled, shiftsSoFar, signIn } from "./support/web-page.ts"

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
  "ranges/NOBODY/testing",
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
  `appearance and accessibility of the web page (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 300_000 },
  () => {
    let lab: PageLab

    beforeAll(async () => {
      lab = await openPageLab()
      return lab.close
    }, 120_000)

    test("gets full points from Lighthouse on a phone; the bench covers Lighthouse's other categories", async () => {
      const { service, runId, closes } = lab
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

    test("has no issue that axe finds, and nothing outside its window: light and dark, narrow and wide", async () => {
      const { service, user, runId, failedRunId, browser } = lab
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

    test("shows which machine is the router on the line of its number, at every width", async () => {
      const { service, browser } = lab
      const page = await (await browser()).newPage()
      await signIn(page, service.url, "UMA")
      await settled(page, `${service.url}/ui/ranges/UMA`)
      const tag = page.locator("th .tag", { hasText: "Router" })
      for (const width of [375, 768, 900, 1024, 1280, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        const [at, number] = [await tag.boundingBox(), await page.locator("th:has(.tag) .mono").boundingBox()]
        const middle = (number?.y ?? 0) + (number?.height ?? 0) / 2
        expect([width, at !== null && at.y < middle && middle < at.y + at.height]).toEqual([width, true])
      }
    })

    test("shows on a phone which page of a range is open", async () => {
      const { service, browser } = lab
      const page = await (await browser({ viewport: { width: 375, height: 740 } })).newPage()
      await signIn(page, service.url, "ADA")
      for (const name of ["access", "testing", "plan"]) {
        await settled(page, `${service.url}/ui/ranges/UMA/${name}`)
        const { x = -1, width = 0 } = (await page.locator(".tabs [aria-current]").boundingBox()) ?? {}
        expect([name, x >= 0 && x + width <= 375]).toEqual([name, true])
      }
    })

    test("shifts its layout little while it loads, on a phone and on a wide screen", async () => {
      const { service, runId, browser } = lab
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
        // with a run that changes the range, whose responses come last
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
        // stop intercepting: requests still in here would fail once the service is gone
        await page.unrouteAll({ behavior: "ignoreErrors" })
        await page.close()
        // scores above this count as poor in Web Vitals
        expect(Object.entries(shifts).filter(([, sum]) => sum > 0.1)).toEqual([])
      }
    })
  },
)

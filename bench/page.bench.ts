/**
 * The web page in Chromium, with the service's process on SQLite and 100 ranges of 10 VMs: how soon its list is shown, the cost of a key
 * typed into the filter and of many power changes, a log of 200,000 lines, and Lighthouse's scores on a simulated desktop and phone. Needs
 * Chromium.
 */
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { type RangeId, topologyOf } from "@rangewright/domain"
import type { BrowserContext, Page } from "playwright-core"
import { noBrowser, openBrowser } from "../test/e2e/support/browser.ts"
import { openLighthouse } from "../test/e2e/support/lighthouse.ts"
import { apiClient, type ApiClient } from "../test/e2e/support/client.ts"
import { deploy, expectSuccess, smallLab } from "../test/e2e/support/lab.ts"
import { cellsThatSay, evaluator, hostileLines, longLog, manyRanges, shown, soaker } from "../test/e2e/support/web-page.ts"
import { keyOf } from "./stock.ts"
import { startService, withSimulator } from "./stocked-service.ts"
import { stockedSimulator } from "./stocked-simulator.ts"

const quick = process.argv.includes("--quick")
const times = quick ? 1 : 5
const lines = quick ? 20_000 : 200_000
const powerChanges = quick ? 2_000 : 4_000

const watched = quick ? 4 : 20
const scriptedLines = 10_000
const scriptedChanges = 2_000
const scriptedRounds = quick ? 1 : 15
const pictured = 60
const pictureChanges = quick ? 60 : 300

const viewport = { width: 1280, height: 800 }
const list = "**/api/v2/range/all"

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** A page that is signed in with a user's API key. */
const signedIn = async (context: BrowserContext, url: string, user: string): Promise<Page> => {
  const page = await context.newPage()
  await page.goto(`${url}/ui/login`)
  await page.getByRole("button", { name: "Use an API key instead" }).click()
  await page.getByLabel("API key").fill(keyOf(user))
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.waitForURL((address) => !address.pathname.startsWith("/ui/login"))
  return page
}

/** A run that has ended, as GET /runs/{runID} answers. */
const run = {
  id: "measured",
  kind: "deploy",
  subject: { type: "range", id: "R7" },
  rangeID: "R7",
  by: "ME",
  status: "success",
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: "2026-01-01T01:00:00.000Z",
  message: "",
  cancelRequested: false,
  lastEventID: lines + 2,
  progress: { total: 0, done: 0, running: 0, failed: 0, skipped: 0, percent: 100 },
  notes: [],
  steps: [],
}

/** Milliseconds from the start of the navigation until this many rows exist. */
const listReady = async (page: Page, url: string, rows: number): Promise<number> => {
  const taken: number[] = []
  for (let n = 0; n < times; n++) {
    await page.goto(`${url}/ui/ranges`)
    await page
      .locator("main tbody tr")
      .nth(rows - 1)
      .waitFor()
    taken.push(Number(await page.evaluate("performance.now()")))
  }
  return median(taken)
}

/** Milliseconds from a key typed into the filter until the remaining rows are drawn: the longest time for the letters of a word. */
const filterKey = async (page: Page): Promise<number> =>
  Number(
    await page.evaluate(`(async () => {
      const field = document.querySelector("main input[type=search]")
      let longest = 0
      for (const value of ["R", "R4", "R42", "R42-", "R42-m", "R4", ""]) {
        const begin = performance.now()
        field.value = value
        field.dispatchEvent(new InputEvent("input", { bubbles: true }))
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
        longest = Math.max(longest, performance.now() - begin)
      }
      return longest
    })()`),
  )

/** Machines of a range, all switched on, ten in each VLAN. */
const picturedMachines = Array.from({ length: pictured }, (_, m) => ({
  vmid: 100_000 + m,
  name: `R0-m${m}`,
  power: "running" as const,
  address: `10.99.${Math.floor(m / 10) + 1}.${(m % 10) + 11}`,
}))
const picturedRange = {
  ...manyRanges(1, 0)[0],
  numberOfVMs: pictured,
  VMs: picturedMachines.map(({ vmid, name, address }) => ({
    proxmoxID: vmid,
    name,
    poweredOn: true,
    ip: address,
    cpu: 2,
    ram: 4,
  })),
}
const picturedNetwork = { ...topologyOf(undefined, { id: "R0" as RangeId, number: 99 }, picturedMachines), rangeID: "R0" }

/** Milliseconds of the page's work, including drawing, for one power change that its picture shows. */
const pictureChange = async (context: BrowserContext, page: Page, url: string): Promise<number> => {
  await page.route("**/api/v2/range?*", (route) => route.fulfill({ json: picturedRange }))
  await page.route("**/api/v2/range/topology?*", (route) => route.fulfill({ json: picturedNetwork }))
  await page.goto(`${url}/ui/ranges/R0`)
  await page
    .locator("svg a.on")
    .nth(pictured - 1)
    .waitFor()
  const other = await context.newPage()
  await other.goto(`${url}/ui/me`)
  // pages in the background are not drawn
  await page.bringToFront()
  const devtools = await context.newCDPSession(page)
  await devtools.send("Performance.enable")
  const worked = async (): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics")
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1_000
  }
  const before = await worked()
  const evaluate = await evaluator(context, other)
  await evaluate(`(async () => {
    const channel = new BroadcastChannel("rangewright-live")
    const machines = ${JSON.stringify(picturedMachines)}
    for (let i = 0; i < ${pictureChanges}; i++) {
      const { vmid, name, address } = machines[i % machines.length]
      // each machine in turn is switched off, or on again
      const poweredOn = Math.floor(i / machines.length) % 2 === 1
      const data = { rangeID: "R0", proxmoxID: vmid, name, poweredOn, ip: address, isRouter: false, cpu: 2, ram: 4 }
      channel.postMessage({ events: [{ topic: "machine", rangeID: "R0", data }], since: undefined })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()`)
  await page
    .locator("svg a.off")
    .nth(pictured - 1)
    .waitFor()
  const each = ((await worked()) - before) / pictureChanges
  await other.close()
  return each
}

/** Frames per second of the log while it is scrolled without a pause. */
const scrolled = async (context: BrowserContext, page: Page): Promise<number> => {
  const evaluate = await evaluator(context, page)
  return Number(
    await evaluate(`(async () => {
      const log = document.querySelector("[role=log]")
      log.scrollTop = 0
      const begin = performance.now()
      let drawn = 0
      for (; performance.now() - begin < 2_000; drawn++) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
        log.scrollTop += 700
      }
      return (drawn * 1_000) / (performance.now() - begin)
    })()`),
  )
}

const referencePage = readFileSync(new URL("reference-page.html", import.meta.url), "utf8")

/** Milliseconds of script for 10,000 log lines and for 2,000 power changes, one by one: on our page, and on a hand-written one. */
const scripts = async (url: string): Promise<{ readonly ours: readonly number[]; readonly byHand: readonly number[] }> => {
  const { context, close } = await openBrowser({ viewport })
  const ranges = manyRanges(100, 10)
  const body = longLog(scriptedLines)
  await context.route(list, (route) => route.fulfill({ json: ranges }))
  await context.route(`**/api/v2/runs/${run.id}`, (route) => route.fulfill({ json: run }))
  // the service sends no events meanwhile, because they would make the page read the list again
  await context.route("**/api/v2/events", () => undefined)
  let written = Promise.withResolvers<void>()
  await context.route(`**/api/v2/runs/${run.id}/events`, async (route) => {
    await written.promise
    await route.fulfill({ body, contentType: "text/event-stream" })
  })
  await context.route(`${url}/reference`, (route) => route.fulfill({ body: referencePage, contentType: "text/html" }))
  const tell = await evaluator(context, await signedIn(context, url, "ME"))
  const changeAll = (poweredOn: boolean): string => `(async () => {
    globalThis.channel ??= new BroadcastChannel("rangewright-live")
    for (let i = 0; i < ${scriptedChanges / 2}; i++) {
      const [r, m] = [i % 100, Math.floor(i / 100)]
      const data = { rangeID: "R" + r, proxmoxID: 100000 + r * 10 + m, name: "R" + r + "-m" + m, poweredOn: ${poweredOn}, ip: "10.99." + r + "." + m, isRouter: false, cpu: 2, ram: 4 }
      channel.postMessage({ events: [{ topic: "machine", rangeID: "R" + r, data }], since: undefined })
      if (i % 10 === 9) await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()`
  const allSay = (text: string): string => shown(`${cellsThatSay(text)} === 100`)

  const of = async (path: string, openLog: string, openList: string): Promise<number> => {
    const page = await context.newPage()
    await page.goto(`${url}${path}`)
    const evaluate = await evaluator(context, page)
    const devtools = await context.newCDPSession(page)
    await devtools.send("Profiler.enable")
    await devtools.send("Profiler.setSamplingInterval", { interval: 200 })
    const scripted = async (act: () => Promise<unknown>): Promise<number> => {
      await devtools.send("HeapProfiler.collectGarbage")
      await devtools.send("Profiler.start")
      await act()
      const { profile } = await devtools.send("Profiler.stop")
      const others = new Set(
        profile.nodes.flatMap(({ id, callFrame }) =>
          ["(idle)", "(program)", "(root)"].includes(callFrame.functionName) ? [id] : [],
        ),
      )
      const { samples = [], timeDeltas = [] } = profile
      // a delta is the time before its sample, but a sample stands for the time until the next one
      return samples.reduce((sum, id, at) => sum + (others.has(id) ? 0 : (timeDeltas[at + 1] ?? 0)), 0) / 1_000
    }
    written = Promise.withResolvers()
    const asked = page.waitForRequest(`**/runs/${run.id}/events`)
    await evaluate(openLog)
    await asked
    const log = await scripted(async () => {
      written.resolve()
      await evaluate(shown(`Number(document.querySelector(".line:last-child a")?.textContent) >= ${scriptedLines}`))
    })
    await evaluate(openList)
    await evaluate(allSay("10 of 10 on"))
    const changes = await scripted(async () => {
      for (const poweredOn of [false, true]) {
        await tell(changeAll(poweredOn))
        await evaluate(allSay(poweredOn ? "10 of 10 on" : "0 of 10 on"))
      }
    })
    await page.close()
    return log + changes
  }
  const go = (path: string): string => `history.pushState(null, "", "${path}"); dispatchEvent(new PopStateEvent("popstate"))`
  const ours: number[] = []
  const byHand: number[] = []
  for (let n = 0; n < scriptedRounds; n++) {
    ours.push(await of("/ui/me", go(`/ui/runs/${run.id}?view=log`), go("/ui/ranges")))
    byHand.push(await of("/reference", `void readLog("/api/v2/runs/${run.id}/events")`, `showRanges(${JSON.stringify(ranges)})`))
  }
  await close()
  return { ours, byHand }
}

const millis = async (act: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await act()
  return performance.now() - began
}

const print = (name: string, value: number, bound: string, reached: boolean): void =>
  console.log(
    `${name.padEnd(48)}${value.toFixed(value < 10 ? 2 : 0).padStart(8)}${bound.padStart(10)}  ${reached ? "reached" : "MISSED"}`,
  )

const note = (name: string, value: number, atMost: number): void => print(name, value, `<= ${atMost}`, value <= atMost)

const measure = async (url: string): Promise<void> => {
  const few = await openBrowser({ viewport })
  const one = await signedIn(few.context, url, "ME")
  await one.route(list, (route) => route.fulfill({ json: manyRanges(1, 10) }))
  const oneReady = await listReady(one, url, 1)
  await one.unroute(list)
  const many = await openBrowser({ viewport })
  const page = await signedIn(many.context, url, "AD")
  const ready = await listReady(page, url, 100)
  note("list of 100 ranges: ms to its rows", ready, 1_000)
  note("the same over a list of one", ready / oneReady, 3)
  note("a key in its filter, ms", await filterKey(page), 100)

  await page.route(list, (route) => route.fulfill({ json: manyRanges(100, 10) }))
  await page.goto(`${url}/ui/ranges`)
  await page.getByRole("link", { name: "R99", exact: true }).waitFor()
  const evaluate = await evaluator(many.context, page)
  await evaluate(`globalThis.longest = 0
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
    }).observe({ type: "longtask" })`)
  const soak = await soaker(many.context, page, 100, 10)
  await soak(powerChanges)
  note(`${powerChanges} power changes: longest task, ms`, Number(await evaluate("longest")), 100)
  const { ours, byHand } = await scripts(url)
  note("log and changes: ms of script over by hand", median(ours) / median(byHand), 1.5)
  note(`a change in a picture of ${pictured} machines, ms`, await pictureChange(few.context, one, url), 16)

  const body = longLog(lines)
  await one.route(`**/api/v2/runs/${run.id}`, (route) => route.fulfill({ json: run }))
  await one.route(`**/api/v2/runs/${run.id}/events`, (route) => route.fulfill({ body, contentType: "text/event-stream" }))
  const last = one.locator(".line", { hasText: hostileLines[0] ?? "" })
  const opened = await millis(async () => {
    await one.goto(`${url}/ui/runs/${run.id}?view=log`)
    await last.waitFor()
  })
  note(`log of ${lines} lines: ms to its end`, opened, 5_000)
  const found = await millis(async () => {
    await one.getByLabel("Find in the log").fill("needle")
    await one.getByText("0 of 1").waitFor()
  })
  note("a word found in it, ms", found, 300)
  const drawn = await scrolled(few.context, one)
  print("it is scrolled: drawn a second", drawn, ">= 50", drawn >= 50)
  note("its rows in the document", await one.locator(".line").count(), 150)
  const devtools = await few.context.newCDPSession(one)
  await devtools.send("Performance.enable")
  await devtools.send("HeapProfiler.collectGarbage")
  const { metrics } = await devtools.send("Performance.getMetrics")
  note("its memory, MiB", (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN) / 2 ** 20, 120)
  await few.close()
  await many.close()
}

/** Milliseconds from the answer to a power change until the range's page shows it: the second longest of twenty. */
const shownAfter = async (url: string, member: ApiClient): Promise<number> => {
  const { context, close } = await openBrowser()
  const page = await signedIn(context, url, "ME")
  await page.goto(`${url}/ui/ranges/R7`)
  const evaluate = await evaluator(context, page)
  const taken: number[] = []
  for (let n = 0; n < watched; n++) {
    const [verb, look] = n % 2 === 0 ? ["poweroff", "off"] : ["poweron", "on"]
    // Playwright itself polls only twice a second
    const seen = evaluate(`new Promise((resolve) => {
      const isThere = () => document.querySelector('svg a.${look}[aria-label*="R7-m1,"]') !== null
      const observer = new MutationObserver(() => isThere() && resolve(observer.disconnect()))
      observer.observe(document.body, { subtree: true, childList: true, attributes: true })
      if (isThere()) resolve(observer.disconnect())
    })`).then(() => performance.now())
    await member.send("PUT", `/range/${verb}?rangeID=R7`, { machines: ["R7-m1"] })
    const answered = performance.now()
    taken.push(Math.max(0, (await seen) - answered))
  }
  await close()
  return taken.toSorted((one, other) => other - one)[1] ?? Number.NaN
}

/** A page of a run: a deploy of two machines in the member's range. */
const pageOfRun = async (member: ApiClient): Promise<string> => {
  const uploaded = await member.upload("/range/config?rangeID=R7&force=true", smallLab(2))
  if (uploaded.status !== 200) throw new Error(uploaded.body.error)
  const runId = await deploy(member, "R7")
  await expectSuccess(member, runId)
  return `runs/${runId}`
}

/** Lighthouse's scores for a page as the user who signed in last sees it. */
const judgements = async (url: string, runPage: string): Promise<void> => {
  const { page, judge, close } = await openLighthouse()
  const walk = async (pages: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, path] of Object.entries(pages))
      for (const device of ["desktop", "phone"] as const)
        for (const { category, score, faults } of await judge(`${url}/ui/${path}`, device, [
          "performance",
          "accessibility",
          "best-practices",
        ])) {
          const least = category === "performance" ? 95 : 100
          print(`Lighthouse, ${device}, ${name}: ${category}`, score, `>= ${least}`, score >= least)
          if (score < least) console.log(`  ${faults.join("\n  ")}`)
        }
  }
  await walk({ "sign-in": "login" })
  await page.evaluate(
    `fetch("/ui/session", {
      method: "POST",
      headers: { "content-type": "application/json", "x-rangewright": "1" },
      body: ${JSON.stringify(JSON.stringify({ apiKey: keyOf("ME") }))},
    }).then(() => localStorage.setItem("rangewright-signed-in", "yes"))`,
  )
  await walk({ ranges: "ranges", range: "ranges/R7", run: runPage })
  await close()
}

if (noBrowser !== undefined) console.log(`not measured: ${noBrowser}`)
else
  await withSimulator(await stockedSimulator(20), async (environment) => {
    const { process: child, url } = await startService({ ...environment, RANGEWRIGHT_GUEST_AUTOMATION: "guest-program" })
    try {
      await measure(url)
      const member = apiClient(url, keyOf("ME"))
      const runPage = await pageOfRun(member)
      note(`a power change: ms until it is shown, of ${watched}`, await shownAfter(url, member), 500)
      await judgements(url, runPage)
    } finally {
      child.kill("SIGTERM")
      await once(child, "exit")
    }
  })

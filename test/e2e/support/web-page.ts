import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { BrowserContext, Locator, Page, Request } from "playwright-core"

/** The password of every user that signs in. */
export const password = "correct-horse-battery-7"

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8")

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
}

/** Forbidden behavior of a page: errors, policy violations, requests to other hosts. */
export const watch = (context: BrowserContext, origin: string): readonly string[] => {
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

/** The number of a browser's unanswered requests, except the event stream, which ends with the page. */
export const pendingRequests = (context: BrowserContext): (() => number) => {
  const open = new Set<Request>()
  context.on("request", (request) => {
    if (!request.url().includes("/api/v2/events") && !/^(?:blob|data):/u.test(request.url())) open.add(request)
  })
  context.on("requestfinished", (request) => void open.delete(request))
  context.on("requestfailed", (request) => void open.delete(request))
  return () => open.size
}

/** In a page: the focused element, and whether it has a visible outline, or frame of a machine in the diagram. Null: no focus. */
const focusSeen = `(() => {
  if (document.activeElement === document.body) return null
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  const frame = document.activeElement.querySelector(":scope > .hit")
  const isFramed = frame !== null && getComputedStyle(frame).stroke !== "none"
  // a page that has just opened focuses its heading
  const isHeading = document.activeElement.localName === "h1"
  return [document.activeElement.outerHTML.slice(0, 120), isHeading || isFramed || (outlineStyle !== "none" && outlineWidth !== "0px")]
})()`

/** Presses Tab until this has the focus. Fails if a focus is invisible, skips it, or gets stuck. */
export const tabTo = async (page: Page, goal: Locator): Promise<void> => {
  const seen: string[] = []
  for (let n = 0; n < 120; n++) {
    await page.keyboard.press("Tab")
    const focus = await page.evaluate<readonly [string, boolean] | null>(focusSeen)
    if (focus === null) continue
    const [name, isShown] = focus
    if (!isShown) throw new Error(`the focus is not seen on ${name}`)
    seen.push(name)
    if (await goal.evaluate((element) => element === element.ownerDocument.activeElement)) return
  }
  throw new Error(`Tab does not lead to ${String(goal)}, but to ${seen.slice(-10).join(" ")}`)
}

export const signIn = async (page: Page, url: string, user: string): Promise<void> => {
  await page.goto(`${url}/`)
  await page.waitForURL("**/ui/login**")
  await fillIn(page, user)
}

/** On the page that requests it. */
export const fillIn = async (page: Page, user: string): Promise<void> => {
  await page.getByLabel("Email or user ID").fill(user)
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.waitForURL((url) => !url.pathname.startsWith("/ui/login"))
  await page.getByRole("heading", { level: 1 }).waitFor()
}

/** Waits until the page has loaded everything that it shows. */
export const settled = async (page: Page, url: string): Promise<void> => {
  await page.goto(url)
  await page.locator("main h1").first().waitFor()
  await page.waitForFunction(
    () =>
      !/(?:^|\n)Loading…(?:$|\n)/u.test(
        (globalThis as unknown as { document: { body: { innerText: string } } }).document.body.innerText,
      ),
  )
}

/** The last lines of a log, which try to be more than text. */
export const hostileLines: readonly string[] = [
  "<script>alert(1)</script><img src=x onerror=alert(2)>",
  "\u001b]8;;javascript:alert(3)\u0007a link\u001b]8;;\u0007",
  "\u001b]52;c;c3RvbGVu\u0007copied",
  "\u001b]0;stolen title\u0007named",
  "\u001b[2J\u001b[1;1Hcleared",
  "left \u202e turned",
  "covered\rbare",
  "x".repeat(2 ** 20),
]

/** The events of a run with this many log lines: one of them a needle, one an error, the last ones hostile. */
export const longLog = (lines: number): string => {
  const at = "2026-01-01T00:00:00.000Z"
  const event = (seq: number, type: string, more: object) =>
    `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, at, type, ...more })}\n\n`
  const first = lines - hostileLines.length + 1
  const texts: Readonly<Record<number, string>> = {
    7: "needle in line 7",
    1000: "fatal: [m1]: FAILED!",
    ...Object.fromEntries(hostileLines.map((line, n) => [first + n, line])),
  }
  const output = (line: number) =>
    event(line + 1, "Output", { key: "s", text: `${texts[line] ?? `\u001b[32mok\u001b[0m: [m1] => (item=package-${line})`}\n` })
  return [
    event(1, "Planned", { plan: { steps: [{ key: "s", title: "Run role" }], notes: [] } }),
    ...Array.from({ length: lines }, (_, line) => output(line + 1)),
    event(lines + 2, "Ended", { status: "success", message: "" }),
  ].join("")
}

type Evaluate = (expression: string) => Promise<unknown>

/** Evaluates in a page through the debugger: the page's policy allows no other script. */
export const evaluator = async (context: BrowserContext, page: Page): Promise<Evaluate> => {
  const devtools = await context.newCDPSession(page)
  return async (expression) =>
    (await devtools.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value
}

/** In a page: resolves when it shows this. Playwright's own polling would be work for the page, too. */
export const shown = (expression: string): string => `new Promise((resolve) => {
  const look = () => (${expression}) && resolve(observer.disconnect())
  const observer = new MutationObserver(look)
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
  look()
})`

/** In a page: the number of table cells with this text. */
export const cellsThatSay = (text: string): string =>
  `[...document.querySelectorAll("tbody td")].filter(({ textContent }) => textContent === "${text}").length`

/** Counts the rows of the page's table that change from now on. */
export const rowCounter = async (context: BrowserContext, page: Page): Promise<() => Promise<unknown>> => {
  const evaluate = await evaluator(context, page)
  await evaluate(`{
    globalThis.changedRows = new Set()
    const look = (changes) => {
      for (const { target } of changes) changedRows.add((target.parentElement ?? target).closest("tr"))
    }
    const what = { subtree: true, childList: true, characterData: true, attributes: true }
    new MutationObserver(look).observe(document.querySelector("main tbody"), what)
  }`)
  return () => evaluate("changedRows.size")
}

/** What a page holds after a garbage collection. */
export interface Held {
  readonly mebibytes: number
  readonly nodes: number
}

/** Sends a page power changes of each machine in turn, as another tab passes on the stream; returns what the page holds. */
export const soaker = async (
  context: BrowserContext,
  page: Page,
  ranges: number,
  machines: number,
): Promise<(events: number) => Promise<Held>> => {
  const other = await context.newPage()
  await other.goto(page.url())
  const evaluate = await evaluator(context, other)
  const look = await evaluator(context, page)
  const devtools = await context.newCDPSession(page)
  await devtools.send("Performance.enable")
  return async (events) => {
    await evaluate(`(async () => {
      const channel = new BroadcastChannel("rangewright-live")
      const event = (i, poweredOn) => {
        const [r, m] = [i % ${ranges}, Math.floor(i / ${ranges}) % ${machines}]
        const data = { rangeID: "R" + r, proxmoxID: 100000 + r * ${machines} + m, name: "R" + r + "-m" + m, poweredOn, ip: "10.99." + r + "." + m, isRouter: false, cpu: 2, ram: 4 }
        return { topic: "machine", rangeID: "R" + r, data }
      }
      for (let i = 0; i < ${events}; i += 100) {
        // each is switched off and on again in turn
        const poweredOn = Math.floor(i / ${ranges * machines}) % 2 === 1
        channel.postMessage({ events: Array.from({ length: 100 }, (_, k) => event(i + k, poweredOn)), since: undefined })
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      channel.postMessage({ events: [event(0, false)], since: undefined })
      channel.close()
    })()`)
    const one = cellsThatSay(`${machines - 1} of ${machines} on`)
    const others = cellsThatSay(`${machines} of ${machines} on`)
    await look(shown(`${one} === 1 && ${others} === ${ranges - 1}`))
    await devtools.send("HeapProfiler.collectGarbage")
    const { metrics } = await devtools.send("Performance.getMetrics")
    const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN
    return { mebibytes: of("JSHeapUsedSize") / 2 ** 20, nodes: of("Nodes") }
  }
}

/** Inspects a page in light and dark, wide and narrow: what axe finds, and anything outside the window. */
export const inspector = async (context: BrowserContext, page: Page): Promise<(name: string) => Promise<readonly string[]>> => {
  const evaluate = await evaluator(context, page)
  return async (name) => {
    const faults: string[] = []
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
    return faults
  }
}

/** Ranges as a list shows them, each with this many machines, all on. */
export const manyRanges = (ranges: number, machines: number): readonly object[] =>
  Array.from({ length: ranges }, (_, r) => ({
    rangeID: `R${r}`,
    name: `Range ${r}`,
    rangeNumber: 1000 + r,
    rangeState: "SUCCESS",
    lastDeployment: "2026-01-01T00:00:00.000Z",
    testingEnabled: false,
    testingState: "off",
    numberOfVMs: machines,
    allowedIPs: [],
    allowedDomains: [],
    VMs: Array.from({ length: machines }, (__, m) => ({
      ID: 0,
      proxmoxID: 100_000 + r * machines + m,
      rangeNumber: 1000 + r,
      name: `R${r}-m${m}`,
      poweredOn: true,
      ip: `10.99.${r}.${m}`,
      cpu: 2,
      ram: 4,
    })),
  }))

/** In a page: opens everything that is collapsed. */
export const openMenus = `for (const menu of document.querySelectorAll("main details")) {
  menu.removeAttribute("name")
  menu.open = true
}`

/** In a page: posts a form, as a page of another origin may. */
export const formPost = (action: string): string => `{
  const form = document.createElement("form")
  Object.assign(form, { action: ${JSON.stringify(action)}, method: "post", target: "frame" })
  document.body.append(form, Object.assign(document.createElement("iframe"), { name: "frame" }))
  form.submit()
}`

const sum = "shiftsOfPage"

/** In a page: sums up the layout shifts since its beginning, as a share of the window. */
export const countShifts = `globalThis.${sum} = 0
new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) globalThis.${sum} += value
}).observe({ type: "layout-shift", buffered: true })`
/** In a page: the sum, once everything is drawn. */
export const shiftsSoFar = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(globalThis.${sum}))))`

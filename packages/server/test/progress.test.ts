import { expect, test } from "vitest"
import { progressView } from "../src/demo/progress.ts"

const plan = {
  steps: [
    { key: "clone:a", title: "Clone a", machine: "a" },
    { key: "start:a", title: "Start a", machine: "a" },
    { key: "net", title: "Create network" },
  ],
}
let seq = 0
const event = (type: string, more: Record<string, unknown> = {}) => ({
  seq: (seq += 1),
  at: "2026-01-01T00:00:00Z",
  type,
  ...more,
})

test("where the output is no terminal, each step is a plain line", () => {
  const lines: string[] = []
  const view = progressView({ live: false, columns: 80, write: (t) => lines.push(t) }, () => 0)
  view.event(event("Planned", { plan }))
  view.event(event("StepStarted", { key: "clone:a", attempt: 1 }))
  view.event(event("StepSettled", { key: "clone:a" }))
  view.event(event("StepFailed", { key: "start:a", final: true, failure: { message: "no room" } }))
  view.end()
  expect(lines.join("")).toBe("  00:00 start  Clone a\n  00:00 done   Clone a\n  00:00 FAILED Start a: no room\n")
})

test("on a terminal each machine has a line with its activity, never wider than the screen", () => {
  const written: string[] = []
  let now = 0
  const view = progressView({ live: true, columns: 60, write: (t) => written.push(t) }, () => (now += 1000))
  view.event(event("Planned", { plan }))
  view.event(event("StepStarted", { key: "clone:a", attempt: 1 }))
  const running = written.at(-1) ?? ""
  expect(running).toContain("Clone a")
  view.event(event("StepSettled", { key: "clone:a" }))
  view.event(event("StepSettled", { key: "start:a" }))
  view.event(event("StepSettled", { key: "net" }))
  view.end()
  const last = written.at(-1) ?? ""
  expect(last).toMatch(/a\s+#+\s+2\/2\s+done/u)
  expect(last).toContain("3 of 3 steps")
  // oxlint-disable-next-line no-control-regex -- the codes that move the cursor are what is taken out
  for (const line of last.replace(/\u001b\[\w+/gu, "").split("\n")) expect(line.length).toBeLessThanOrEqual(60)
})

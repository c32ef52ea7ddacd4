import { openLog, renderLog, type RunEvent } from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { entriesOf, planOf, refTo, stepOf } from "./run-journals.ts"

const head = { kind: "deploy", subject: { type: "range", id: "LAB" } } as const as unknown as Parameters<typeof renderLog>[0]
const role = stepOf("role:web:docker", [], 10, {
  kind: "guest",
  machine: refTo("web", 200),
  os: "linux",
  stage: "role",
  input: { role: "docker" },
})
const plan = planOf(
  [
    { ...role, key: "role:web:docker", title: "Run role docker on LAB-web", machine: "LAB-web" },
    { ...stepOf("start:LAB-web", []), title: "Start LAB-web" },
  ],
  ["the stage office is left out\nfor now"],
)
const key = "role:web:docker"
const failure = { tag: "F", kind: "failed", message: 'Cannot do "it"', hint: "Try again" }
const log = (events: readonly RunEvent[]): string => renderLog(head, entriesOf([{ type: "Planned", plan }, ...events]))

describe("the log of a run", () => {
  it("has a play, a task and a line for each step, and a recap at the end", () => {
    const text = log([
      { type: "StepSettled", key: "start:LAB-web", facts: { changed: false } },
      { type: "Output", key, text: "installing\ndone" },
      { type: "StepSettled", key, facts: { warnings: ["slow mirror"] } },
      { type: "Ended", status: "success", message: "" },
    ])
    expect(text).toMatch(/^PLAY \[Start machines\] \*+$/mu)
    expect(text).toMatch(/^TASK \[Start LAB-web\] \*+\nok: \[LAB-web\]$/mu)
    expect(text).toMatch(
      /^PLAY \[Run roles\] \*+\n\nTASK \[Run role docker on LAB-web\] \*+\ninstalling\ndone\nchanged: \[LAB-web\]\n\[WARNING\]: slow mirror$/mu,
    )
    expect(text).toMatch(
      /^PLAY RECAP \*+\nLAB-web +: ok=2 +changed=1 +unreachable=0 +failed=0 +skipped=0 +rescued=0 +ignored=0$/mu,
    )
    expect(text).toContain("[WARNING]: the stage office is left out for now\n")
  })

  it("marks a failure so that clients find it, and one that is tried again so that none of them does", () => {
    const text = log([
      { type: "StepFailed", key, failure, final: false },
      { type: "StepFailed", key, failure, final: true },
      { type: "StepSkipped", key: "start:LAB-web", because: "a step before it failed" },
      { type: "Ended", status: "failure", message: "1 of 2 steps failed" },
    ])
    const lines = text.split("\n")
    const fatal = lines.filter((line) => line.includes("fatal:"))
    expect(fatal.map((line) => JSON.parse(line.split("FAILED! => ")[1] ?? "") as unknown)).toEqual([
      { changed: false, msg: 'Cannot do "it"\nTry again' },
    ])
    expect(lines.filter((line) => line.startsWith("FAILED - RETRYING: [LAB-web]:"))).toHaveLength(1)
    expect(text).toContain("skipping: [LAB-web]")
    expect(text).toMatch(/LAB-web +: ok=0 +changed=0 +unreachable=0 +failed=1 +skipped=1 +rescued=0 +ignored=0/u)
  })

  it("says that a run waits, was resumed, was aborted, and that a machine got another VMID", () => {
    const text = log([
      { type: "Waiting", reason: "Cannot clone: no route to host" },
      { type: "Continued", reason: "the hypervisor answers again" },
      { type: "Resumed", generation: 2 },
      { type: "Reallocated", machine: "LAB-web", from: 200 as never, to: 201 as never },
      { type: "CancelRequested", by: "JD" as never },
    ])
    for (const words of [
      "TASK [Wait until the run can continue]",
      "no route to host",
      "answers again",
      "continues where it stopped",
      "VMID 200 is taken; LAB-web gets 201",
      "JD aborted",
    ])
      expect(text).toContain(words)
  })

  it("says of waits that overlap when the first began and the last ended", () => {
    const text = log([
      { type: "Waiting", reason: "node1 is unreachable", key: "a" },
      { type: "Waiting", reason: "node2 is unreachable", key: "b" },
      { type: "Continued", reason: "node1 is back", key: "a" },
      { type: "Continued", reason: "node2 is back", key: "b" },
    ])
    expect(text.split("\n").filter((line) => /is unreachable|is back/u.test(line))).toEqual([
      "[WARNING]: the run waits: node1 is unreachable",
      'ok: [localhost] => {"msg":"node2 is back"}',
    ])
  })

  it("is the same text whether rendered whole or entry by entry, and every piece is whole lines", () => {
    const event = fc.constantFrom<RunEvent>(
      { type: "StepSettled", key, facts: {} },
      { type: "StepSettled", key: "unknown", facts: {} },
      { type: "Output", key, text: "line" },
      { type: "Output", key, text: "" },
      { type: "StepFailed", key, failure, final: false },
      { type: "Waiting", reason: "r" },
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const entries = entriesOf([{ type: "Planned", plan }, ...events])
        const follower = openLog(head)
        const pieces = entries.map((entry) => follower.push(entry))
        expect(pieces.join("")).toBe(renderLog(head, entries))
        for (const piece of pieces) expect(piece === "" || piece.endsWith("\n")).toBe(true)
      }),
    )
  })
})

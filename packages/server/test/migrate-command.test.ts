import { type JournalEntry, type RunEvent, type Step, workPlan } from "@rangewright/domain"
import { describe, expect, test } from "vitest"
import { UsageError } from "../src/command/arguments.ts"
import { migrationView } from "../src/command/migrate/progress.ts"
import { reportText } from "../src/command/migrate/report-text.ts"
import { readOptions } from "../src/command/migrate/words.ts"

describe("the arguments of migrate", () => {
  test("say what to do and how", () => {
    expect(readOptions(["sdn", "--dry-run", "--create-zone", "--json"])).toMatchObject({
      what: "sdn",
      dryRun: true,
      createZone: true,
      json: true,
      yes: false,
    })
    expect(readOptions(["--config", "x.yml", "rollback", "-y"])).toMatchObject({ what: "rollback", yes: true, config: "x.yml" })
  })
  test.each([["help"], ["sdn", "--help"]])("%s %s asks for help", (...argv) => {
    expect(readOptions(argv.filter((word) => word !== undefined))).toBeUndefined()
  })
  test("without arguments it says what it needs, and shows the help", () => {
    expect(() => readOptions([])).toThrow(
      expect.objectContaining({
        message: "migrate needs one of sdn, rollback, status, report, sqlite",
        more: expect.stringContaining("usage: npm start -- migrate WHAT"),
      }),
    )
  })
  test.each([
    ["bridges"],
    ["sdn", "now"],
    ["sdn", "--force"],
    ["rollback", "--create-zone"],
    ["status", "--yes"],
    ["report", "--dry-run"],
    ["sqlite", "--yes"],
  ])("%s %s is refused in one line", (...argv) => {
    expect(() => readOptions(argv)).toThrow(UsageError)
  })
})

const step = (key: string, title: string, input: object): Step => ({
  key,
  title,
  tag: undefined,
  machine: undefined,
  action: { kind: "work", work: "network-step", input: input as never },
  after: [],
  uses: [],
  estimate: 1,
})
const move = (vmid: number, range: string): Step =>
  step(`move:${vmid}`, `Move m${vmid} (VM ${vmid}) to r1`, {
    phase: "move",
    action: {
      kind: "move-nics",
      vmid,
      node: "pve1",
      name: `m${vmid}`,
      guard: { type: "pool", pool: range, name: `m${vmid}` },
      nics: [{ nic: "net0", from: "vmbr1001", to: "r1" }],
    },
  })
const plan = workPlan([
  step("save-record", "Save the current state", { phase: "prepare", action: { kind: "drop-record" } }),
  move(11, "LAB1"),
  move(12, "LAB1"),
  move(21, "LAB2"),
])

const shown = (live: boolean, columns: number, ...events: readonly RunEvent[]): string => {
  const written: string[] = []
  let now = 0
  const view = migrationView({ live, columns, write: (text) => written.push(text) }, () => (now += 1000))
  for (const [at, event] of events.entries()) view.entry({ seq: at + 1, at: new Date(0), event } satisfies JournalEntry)
  view.end()
  return live ? (written.at(-1) ?? "") : written.join("")
}
const started = (key: string): RunEvent => ({ type: "StepStarted", key, attempt: 1 })
const settled = (key: string): RunEvent => ({ type: "StepSettled", key, facts: {} })

describe("a running migration is shown", () => {
  test("as a line for each finished step, with the range's progress, when the output is not a terminal", () => {
    const text = shown(
      false,
      80,
      { type: "Planned", plan },
      settled("save-record"),
      started("move:11"),
      settled("move:11"),
      { type: "Waiting", reason: "the hypervisor is unreachable" },
      { type: "StepFailed", key: "move:12", final: true, failure: { tag: "Failed", message: "it is locked" } as never },
    )
    expect(text).toMatch(/0 of 4 steps, less than a minute left, a first guess/u)
    expect(text).toMatch(/1\/4 done {3}Save the current state\n/u)
    expect(text).toMatch(/2\/4 done {3}Move m11 \(VM 11\) to r1 \(LAB1: 1 of 2\)\n/u)
    expect(text).toContain("waiting: the hypervisor is unreachable\n")
    expect(text).toMatch(/3\/4 FAILED Move m12 .*: it is locked\n/u)
  })

  test("on a terminal as the ranges in progress, never wider than the screen", () => {
    const text = shown(
      true,
      60,
      { type: "Planned", plan },
      settled("save-record"),
      started("move:11"),
      settled("move:11"),
      started("move:12"),
    )
    expect(text).toMatch(/LAB1 #{8}\.{8} +1\/2 +m12\n/u)
    expect(text).not.toContain("LAB2 ")
    expect(text).toContain("0 of 2 ranges moved\n")
    expect(text).toMatch(/2 of 4 steps, less than/u)
    const narrow = shown(true, 20, { type: "Planned", plan }, started("move:11"))
    for (const line of narrow.split("\n").slice(1)) expect(line.length).toBeLessThanOrEqual(20)
  })
})

test("a report names every card before and now, and counts the machines that have moved", () => {
  const nic = (state: "moved" | "on-bridge", now: string) => ({
    nic: "net0",
    before: "virtio=AA,bridge=vmbr1001",
    now: `virtio=AA,bridge=${now}`,
    state,
  })
  const machine = (proxmoxID: number, one: ReturnType<typeof nic>) => ({
    proxmoxID,
    name: `m${proxmoxID}`,
    node: "pve1",
    rangeID: "LAB1",
    present: true,
    nics: [one],
  })
  expect(
    reportText({
      recorded: true,
      zone: "ludus",
      bridges: [],
      machines: [machine(11, nic("moved", "r1")), machine(12, nic("on-bridge", "vmbr1001"))],
    }),
  ).toBe(
    [
      "m11 (VM 11 on pve1) of LAB1",
      "    net0  vmbr1001 -> r1",
      "m12 (VM 12 on pve1) of LAB1",
      "    net0  vmbr1001 -> vmbr1001, still on its bridge",
      "1 of 2 recorded machines have all network cards in the zone ludus.",
    ].join("\n"),
  )
  expect(reportText({ recorded: false, zone: "", bridges: [], machines: [] })).toBe("No migration has recorded anything.")
})

import { type Plan, type Range, type User, type Vmid, wholeDeploy } from "@rangewright/domain"
import { type ServerSentEvent, type ServerSentEvents } from "@rangewright/application"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"
import { stepOf } from "./support/scripted-runs.ts"

let app: TestApp
let admin: User
let ada: User
let bob: User
let range: Range
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  range = await app.addRange("LAB", [ada])
})

const mark = { range: "LAB" as Range["id"], machine: "LAB-dc01" }
const work = stepOf("work", {
  kind: "guest",
  machine: { vmid: 141 as Vmid, node: "node1", mark },
  os: "windows",
  stage: "primary-dc",
  input: { password: "hunter2" },
})
const plan: Plan = {
  rangeId: "LAB" as Range["id"],
  steps: [work],
  changes: [
    { kind: "create", object: "VM LAB-dc01", reasons: ["it is not there"] },
    { kind: "none", object: "pool LAB", reasons: [] },
  ],
  placements: [],
  allocations: [],
  notes: ["a note"],
  criticalPathSeconds: 12,
}
const begin = async (body?: object) => (await app.call("deployRange", ada, { range, body })) as { result: string; runID: string }
/** To its end. */
const deploy = async (body?: object) => {
  const answer = await begin(body)
  await app.ended(answer.runID)
  return answer
}
const asked = () => app.runs.asked.map(({ request }) => request)

describe("deploying", () => {
  it("runs roles in the order that the query or the body asks for, and says what a plan would save", async () => {
    await deploy({ role_order: "graph" })
    const { runID } = (await app.call("deployRange", ada, { range, query: { role_order: "file" } })) as { runID: string }
    await app.ended(runID)
    await deploy()
    expect(asked().map((request) => request.kind === "deploy" && request.options.roleSequence)).toEqual([
      "graph",
      "file",
      undefined,
    ])
    app.runs.plan = () => ({ ...plan, roles: { sequence: "file", graphSavesSeconds: 480 } })
    expect(await app.call("planRange", ada, { range, query: { role_order: "file" } })).toMatchObject({
      roles: { role_order: "file", graphSavesSeconds: 480 },
      text: expect.stringContaining("(role_order: graph) it would take 8 min less"),
    })
  })

  it("starts a run and answers at once with its name", async () => {
    app.runs.ending = () => "running"
    const { result, runID } = await begin()
    expect(result).toContain(runID)
    expect((await app.range("LAB")).state).toBe("DEPLOYING")
    expect(asked()).toEqual([{ kind: "deploy", options: { ...wholeDeploy, verbose: false } }])
  })

  it.each([
    [{ tags: "network, dns-rewrites" }, { tags: ["network", "dns-rewrites"] }],
    [{ tags: ["network", "dcs"] }, { tags: ["network", "dcs"] }],
    [{ tags: "" }, { tags: [] }],
    [{ tags: [""] }, { tags: [] }],
    [{ tags: "all" }, { tags: [] }],
    [{ only_roles: [""] }, { onlyRoles: [] }],
    [{ only_roles: [" a.b ", "a.b"] }, { onlyRoles: ["a.b"] }],
    [{ prune: true }, { prune: true, replace: false }],
    [{ replace: true }, { prune: false, replace: true }],
    [
      { limit: "LAB-dc01:!x", force: true, verbose: true },
      { limit: "LAB-dc01:!x", force: true, verbose: true },
    ],
  ])("understands %j", async (body, options) => {
    await deploy(body)
    expect(asked()[0]).toMatchObject({ kind: "deploy", options })
  })

  it.each([["nonsense"], ["generate-rdp"], ["network,nonsense"]])("refuses the unknown tag in %s, naming it", async (tags) => {
    const fault = await app.fails("deployRange", ada, { range, body: { tags } })
    expect(fault).toMatchObject({ kind: "invalid" })
    expect(fault.message).toContain(tags.split(",").at(-1))
    expect(asked()).toEqual([])
  })

  it("is refused while a run changes the range, naming the run", async () => {
    app.runs.ending = () => "running"
    const { runID } = await begin()
    const fault = await app.fails("deployRange", ada, { range })
    expect(fault).toMatchObject({ kind: "conflict", message: expect.stringContaining(runID) })
  })

  it("only plans with dryRun, and tells no secret of a step", async () => {
    app.runs.plan = () => plan
    const dry = await app.call("deployRange", ada, { range, query: { dryRun: true } })
    expect(dry).toMatchObject({
      result: expect.stringContaining("1 to create"),
      plan: { steps: [{ action: "guest primary-dc" }] },
    })
    expect(JSON.stringify(dry)).not.toContain("hunter2")
    expect(asked()).toEqual([])
    expect(await app.call("planRange", ada, { range })).toEqual((dry as { plan: unknown }).plan)
  })

  it("also only plans when dryRun is in the body", async () => {
    app.runs.plan = () => plan
    const dry = await app.call("deployRange", ada, { range, body: { dryRun: true } })
    expect(dry).toMatchObject({
      result: expect.stringContaining("1 to create"),
      plan: { steps: [{ action: "guest primary-dc" }] },
    })
    expect(asked()).toEqual([])
  })

  it("shows drift as what a deploy would change, and as access that differs", async () => {
    const access = { kind: "change", object: "access to LAB", reasons: expect.arrayContaining(["Create pool LAB"]) as string[] }
    expect(await app.call("getRangeDrift", ada, { range })).toMatchObject({ inSync: false, differences: [access] })
    await app.inLine()
    expect(await app.call("getRangeDrift", ada, { range })).toMatchObject({ inSync: true, differences: [] })
    app.runs.plan = () => plan
    expect(await app.call("getRangeDrift", ada, { range })).toMatchObject({ inSync: false, differences: [{ kind: "create" }] })
  })
})

describe("aborting", () => {
  it("cancels the run under way, for administrators too, and the range shows it at once", async () => {
    app.runs.ending = () => "running"
    await begin()
    await app.call("abortRange", admin, { range })
    expect((await app.range("LAB")).state).toBe("ABORTED")
    const [entry] = (await app.call("getRangeLogHistory", ada, { range })) as { status: string; end: string }[]
    expect(entry?.status).toBe("aborted")
    expect(entry?.end).not.toBe("0001-01-01T00:00:00Z")
  })

  it("fails when nothing is running", async () => {
    await deploy()
    expect(await app.fails("abortRange", ada, { range })).toMatchObject({ kind: "failed" })
  })
})

describe("logs", () => {
  it("have Ansible's format, and a cursor to continue from", async () => {
    app.runs.plan = () => plan
    app.runs.ending = () => ({ status: "failure", message: "disk full" })
    await deploy()
    const page = (await app.call("getLogs", ada, { range, query: {} })) as { result: string; cursor: number }
    expect(page.result).toMatch(/^PLAY \[/mu)
    expect(page.result).toMatch(/^TASK \[Do work\]/mu)
    expect(page.result).toMatch(/^fatal: .*disk full/mu)
    expect(page.result).toMatch(/^PLAY RECAP/mu)
    expect(page.cursor).toBe(page.result.split("\n").length - 1)
    expect(await app.call("getLogs", ada, { range, query: { cursor: page.cursor } })).toEqual({ result: "", cursor: page.cursor })
    expect(await app.call("getLogs", ada, { range, query: { cursor: page.cursor + 1 } })).toEqual(page)
  })

  it("show an update of Windows that came after the deploy, and no power change", async () => {
    await app.addMachine(range, 141, "LAB-dc01")
    await deploy()
    app.runs.plan = () => ({ ...plan, notes: ["an update"] })
    const { runID } = (await app.call("update", ada, { range, body: { name: "LAB-dc01" } })) as { runID: string }
    await app.ended(runID)
    app.runs.plan = () => ({ ...plan, notes: ["a power change"] })
    await app.call("powerOffRange", ada, { range, body: { machines: ["all"] } })
    expect(await app.call("getLogs", ada, { range, query: {} })).toMatchObject({ result: expect.stringContaining("an update") })
  })

  it("are kept for each deploy, newest first, and not for other runs", async () => {
    await app.addMachine(range, 141, "LAB-dc01")
    await deploy()
    app.runs.ending = () => ({ status: "failure", message: "x" })
    await deploy()
    app.runs.ending = () => ({ status: "success" })
    await app.call("powerOffRange", ada, { range, body: { machines: ["all"] } })
    app.runs.ending = () => "running"
    await begin()
    const history = (await app.call("getRangeLogHistory", ada, { range })) as readonly {
      id: string
      status: string
      end: string
    }[]
    expect(new Set(history.map((entry) => entry.status))).toEqual(new Set(["running", "failure", "success"]))
    expect(history.find((entry) => entry.status === "running")?.end).toBe("0001-01-01T00:00:00Z")
    const logID = history.find((entry) => entry.status === "failure")?.id
    expect(await app.call("getRangeLogHistoryByID", ada, { range, path: { logID } })).toMatchObject({
      status: "failure",
      result: expect.stringContaining("PLAY RECAP"),
    })
  })

  it("distinguish entries of other ranges from unknown ones", async () => {
    const other = await app.addRange("OTHER", [ada])
    const { runID } = await deploy()
    expect(await app.fails("getRangeLogHistoryByID", ada, { range: other, path: { logID: runID } })).toMatchObject({
      kind: "forbidden",
    })
    for (const logID of ["nothing00000000", "../../etc/passwd", ""])
      expect(await app.fails("getRangeLogHistoryByID", ada, { range, path: { logID } })).toMatchObject({
        kind: "not-found",
        message: expect.stringContaining("Log entry not found"),
      })
  })
})

describe("power", () => {
  beforeEach(async () => {
    await app.addMachine(range, 141, "LAB-dc01")
    await app.addMachine(range, 142, "LAB-web", { power: "stopped" })
  })

  it.each([
    [["LAB-dc01"], [141], "LAB-dc01"],
    [[" LAB-dc01 ", "142", 141], [141, 142], "2 machines"],
    [["all"], [141, 142], "2 machines"],
  ])("switches the machines named by %j once each", async (machines, vmids, what) => {
    const { result } = (await app.call("powerOnRange", ada, { range, body: { machines } })) as { result: string }
    expect(asked()).toEqual([{ kind: "power", change: "on", vmids }])
    expect(result).toContain(what)
  })

  it("changes nothing when names match no machine of the range, and lists all of those", async () => {
    const elsewhere = await app.addRange("OTHER", [ada])
    await app.addMachine(elsewhere, 150, "OTHER-x")
    const fault = await app.fails("powerOffRange", ada, { range, body: { machines: ["LAB-dc01", "zeta", "150", "all"] } })
    expect(fault).toMatchObject({ kind: "conflict", message: expect.stringContaining("150, all, zeta") })
    expect(asked()).toEqual([])
  })

  it.each([[{ machines: [] }], [{}]])("asks for names when %j has none", async (body) => {
    expect(await app.fails("powerOffRange", ada, { range, body })).toMatchObject({ kind: "conflict" })
  })

  it("tells why machines could not be switched", async () => {
    app.runs.plan = () => plan
    app.runs.ending = () => ({ status: "failure", message: "VM 141 is locked" })
    expect(await app.fails("powerOffRange", ada, { range, body: { machines: ["all"] } })).toMatchObject({
      kind: "failed",
      message: expect.stringContaining("VM 141 is locked"),
    })
  })

  it("is refused at once while the hypervisor is known to be unreachable", async () => {
    await app.run(Effect.flatMap(Machines, (machines) => machines.away(new Date(0), "no route")))
    expect(await app.fails("powerOffRange", ada, { range, body: { machines: ["all"] } })).toMatchObject({
      kind: "unavailable",
      message: expect.stringContaining("no route"),
    })
    expect(asked()).toEqual([])
  })

  it("fails for its caller when the hypervisor becomes unreachable meanwhile, and the run continues", async () => {
    app.runs.ending = () => "waiting"
    const fault = await app.fails("powerOffRange", ada, { range, body: { machines: ["all"] } })
    expect(fault).toMatchObject({ kind: "unavailable", message: expect.stringContaining("node1 does not answer") })
    expect(await app.call("listRuns", ada)).toMatchObject([{ kind: "power", status: "running" }])
  })
})

describe("removing", () => {
  beforeEach(() => app.addMachine(range, 141, "LAB-dc01"))

  it("of a range with machines needs force", async () => {
    app.runs.ending = () => ({ status: "failure", message: "it has machines" })
    await app.fails("deleteRange", ada, { range })
    app.runs.ending = () => ({ status: "success" })
    await app.call("deleteRange", ada, { range, query: { force: true } })
    expect(asked()).toEqual([
      { kind: "delete-range", force: false },
      { kind: "delete-range", force: true },
    ])
  })

  it("is over when the range is gone with its journal", async () => {
    expect(await app.call("deleteRange", ada, { range })).toMatchObject({ result: expect.stringContaining("LAB") })
  })

  it("of all machines keeps the range, and names what is still in its pool", async () => {
    const left = (await app.call("deleteRangeVMs", ada, { range })) as { result: string }
    expect(asked()).toEqual([{ kind: "destroy" }])
    expect(left.result).toContain("(141)")
  })

  it("of one machine needs the range that holds it", async () => {
    expect(await app.fails("destroyVM", bob, { path: { vmID: 141 } })).toMatchObject({ kind: "forbidden" })
    expect(await app.fails("destroyVM", ada, { path: { vmID: 999 } })).toMatchObject({ kind: "not-found" })
    expect(await app.fails("destroyVM", ada, { path: { vmID: 7 } })).toMatchObject({ kind: "not-found" })
    await app.call("destroyVM", ada, { path: { vmID: 141 } })
    expect(asked()).toEqual([{ kind: "destroy-vm", vmid: 141 }])
  })

  it("never reaches templates or machines of no range", async () => {
    await app.addMachine(range, 100, "golden", { template: true })
    await app.addMachine(range, 200, "foreign", { pool: "THEIRS" })
    for (const vmID of [100, 200])
      expect(await app.fails("destroyVM", admin, { path: { vmID } })).toMatchObject({ kind: "not-found" })
  })
})

describe("runs", () => {
  const events = async (runID: string, lastEventId?: string) => {
    const sendTo = (await app.call("streamRunEvents", ada, {
      path: { runID },
      ...(lastEventId === undefined ? {} : { lastEventId }),
    })) as ServerSentEvents
    const sent: ServerSentEvent[] = []
    await app.run(sendTo({ send: (some) => void sent.push(...some), hasRoom: () => true, room: Effect.void }))
    return sent
  }

  it("are visible to those who may use the range, and to administrators", async () => {
    const { runID } = await deploy()
    expect(await app.call("getRun", ada, { path: { runID } })).toMatchObject({ id: runID, status: "success", by: "Ada" })
    expect(await app.call("listRuns", admin)).toMatchObject([{ id: runID }])
    expect(await app.call("listRuns", ada, { range })).toMatchObject([{ id: runID }])
    expect(await app.call("listRuns", bob)).toEqual([])
    for (const operation of ["getRun", "streamRunEvents", "cancelRun", "resumeRun"])
      expect(await app.fails(operation, bob, { path: { runID } })).toMatchObject({ kind: "forbidden" })
  })

  it.each([["nothing00000000"], ["x".repeat(5000)], ["../.."], [""]])("that do not exist are not found (%s)", async (runID) => {
    expect(await app.fails("getRun", ada, { path: { runID } })).toMatchObject({ kind: "not-found" })
  })

  it("show the state of their steps, without the steps' inputs", async () => {
    app.runs.plan = () => plan
    app.runs.ending = () => ({ status: "failure", message: "disk full" })
    const { runID } = await deploy()
    const run = await app.call("getRun", ada, { path: { runID } })
    expect(run).toMatchObject({
      status: "failure",
      estimateSeconds: 12,
      notes: ["a note"],
      progress: { total: 1, failed: 1 },
      steps: [{ key: "work", phase: "failed", failure: { message: "disk full" } }],
    })
    expect(JSON.stringify([run, await events(runID)])).not.toContain("hunter2")
  })

  it("stream their events by number, and go on after the last one seen", async () => {
    app.runs.ending = () => ({ status: "failure", message: "x" })
    const { runID } = await deploy()
    const whole = await events(runID)
    expect(whole.map(({ id, event }) => [id, event])).toEqual([
      ["1", "Planned"],
      ["2", "StepStarted"],
      ["3", "StepDispatched"],
      ["4", "StepFailed"],
      ["5", "Ended"],
    ])
    expect(await events(runID, "2")).toEqual(whole.slice(2))
    expect(await events(runID, "nonsense")).toEqual(whole)
  })

  it("are cancelled while they go on and not after", async () => {
    app.runs.ending = () => "running"
    const { runID } = await begin()
    await app.call("cancelRun", ada, { path: { runID } })
    expect((await app.range("LAB")).state).toBe("ABORTED")
    app.runs.ending = () => ({ status: "success" })
    const other = await app.addRange("OTHER", [ada])
    const { runID: over } = (await app.call("deployRange", ada, { range: other })) as { runID: string }
    await app.ended(over)
    expect(await app.fails("cancelRun", ada, { path: { runID: over } })).toMatchObject({ kind: "conflict" })
  })

  it("are resumed as a new run", async () => {
    app.runs.ending = () => ({ status: "failure", message: "x" })
    const { runID } = await deploy()
    app.runs.ending = () => ({ status: "success" })
    const resumed = (await app.call("resumeRun", ada, { path: { runID } })) as { readonly runID: string }
    expect(resumed.runID).not.toBe(runID)
    await app.ended(resumed.runID)
    expect(await app.call("getRun", ada, { path: { runID } })).toMatchObject({ status: "failure" })
    expect(await app.call("getRun", ada, { path: resumed })).toMatchObject({ status: "success" })
  })

  it("appear as log records to administrators", async () => {
    const { runID } = await deploy()
    expect(await app.call("recordListLogs", admin, { query: { filter: `id = "${runID}"` } })).toMatchObject({
      totalItems: 1,
      items: [{ id: runID, status: "success", user: ada.recordId, range: range.recordId }],
    })
  })
})

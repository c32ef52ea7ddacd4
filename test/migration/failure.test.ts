import { planNetworks } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import {
  type AccountId,
  groupOfAccount,
  installation,
  type RangeId,
  type RecordId,
  type RunId,
  type UserId,
} from "@rangewright/domain"
import { HypervisorAccess, RunJournal } from "@rangewright/ports"
import type { Fault, SimRequest } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { admin } from "../runs/support/lab.ts"
import { bootMigration, endOf, makeMigrationLab, migrate, type MigrationLab, unreachable } from "./support/lab.ts"

const threeRanges = (): MigrationLab => makeMigrationLab({ ranges: 3, nodes: ["pve1"], marked: true })

const within = async <A>(lab: MigrationLab, use: (process: ReturnType<typeof bootMigration>) => Promise<A>): Promise<A> => {
  const process = bootMigration(lab)
  try {
    return await use(process)
  } finally {
    await process.dispose()
  }
}

const migrated = async () => {
  const lab = threeRanges()
  const before = endOf(lab)
  await within(lab, migrate)
  const { byRoute } = lab.sim.calls.counts()
  const of = (method: string): number =>
    Object.entries(byRoute).reduce((sum, [route, n]) => (route.startsWith(`${method} `) ? sum + n : sum), 0)
  return { before, after: endOf(lab), calls: { POST: of("POST"), PUT: of("PUT"), DELETE: of("DELETE") } }
}

/** The error of a migration with this fault; undefined if it succeeds nevertheless. */
const failureOf = async (lab: MigrationLab, fault: Fault): Promise<string | undefined> => {
  lab.sim.faults.add(fault)
  const text = await within(lab, (process) =>
    migrate(process).then(
      () => undefined,
      (error: unknown) => String(error),
    ),
  )
  lab.sim.faults.clear()
  return text
}

/** The same lab, with a function that sees each request before the hypervisor does. */
const withHandle = (lab: MigrationLab, look: (request: SimRequest) => void): MigrationLab => {
  const { handle } = lab.sim
  return {
    ...lab,
    sim: {
      ...lab.sim,
      state: lab.sim.state,
      handle: (request) => {
        look(request)
        return handle(request)
      },
    },
  }
}

/** The ends of a migration's runs; the call itself returns early when a run begins to wait for the hypervisor. */
const endsOf = (lab: MigrationLab): Promise<readonly string[]> =>
  within(lab, async (process) => {
    await migrate(process).catch(() => undefined)
    const ends = Effect.forEach(lab.store.runs.keys(), (id) => RunEngine.use((engine) => engine.wait(id)))
    return (await process.runPromise(ends)).map(({ status }) => status)
  })

describe("a migration with a failing call", () => {
  it("is undone while no machine has moved, and otherwise continues when it is started again", { timeout: 300_000 }, async () => {
    const { before, after, calls } = await migrated()
    const seen = { undone: 0, forward: 0 }
    for (const [method, count] of Object.entries(calls))
      for (let nth = 1; nth <= count; nth++) {
        const lab = threeRanges()
        const match = { method, nth }
        const text = await failureOf(lab, { kind: "respond", match, when: "before", status: 500, message: "something broke" })
        expect([method, nth, text]).toEqual([method, nth, expect.stringContaining("something broke")])
        if (text?.includes("the preparations were undone")) {
          seen.undone += 1
          expect(endOf(lab)).toEqual(before)
          expect(unreachable(lab)).toEqual([])
        } else {
          seen.forward += 1
          expect(text).toContain("Machines have begun to move")
          expect(endOf(lab).recorded).toBe(true)
        }
        await within(lab, migrate)
        expect(endOf(lab)).toEqual(after)
        expect(unreachable(lab)).toEqual([])
      }
    expect(seen.undone).toBeGreaterThan(8)
    expect(seen.forward).toBeGreaterThan(10)
  })

  it("finishes by itself when answers are lost", { timeout: 300_000 }, async () => {
    const { after, calls } = await migrated()
    for (const [method, count] of Object.entries(calls))
      for (let nth = 1; nth <= count; nth++) {
        const lab = threeRanges()
        lab.sim.faults.add({ kind: "drop", match: { method, nth }, when: nth % 2 === 0 ? "before" : "after" })
        expect([method, nth, await endsOf(lab)]).toEqual([method, nth, ["success"]])
        expect(endOf(lab)).toEqual(after)
      }
  })

  it("says if its preparations could not be undone, and continues from them when it is started again", async () => {
    const { after } = await migrated()
    const lab = threeRanges()
    const broken = { when: "before", status: 500, message: "something broke" } as const
    lab.sim.faults.add({ kind: "respond", match: { method: "PUT", path: "/access/acl" }, ...broken })
    lab.sim.faults.add({ kind: "respond", match: { method: "DELETE" }, ...broken, times: "always" })
    await within(lab, (process) => expect(migrate(process)).rejects.toThrow("some of the preparations are still there"))
    expect(endOf(lab).vnets).not.toEqual([])
    lab.sim.faults.clear()
    await within(lab, migrate)
    expect(endOf(lab)).toEqual(after)
  })

  it("undoes its own changes when somebody takes a name that it needs, and leaves theirs", async () => {
    const lab = threeRanges()
    const before = endOf(lab)
    const theirs = { type: "vnet", vnet: "r2", zone: "ludus", tag: 4000, alias: "theirs" }
    const meddling = withHandle(lab, (request) => {
      const isMoment =
        request.method === "POST" && request.path.endsWith("/cluster/sdn/vnets") && String(request.body).includes("vnet=r2")
      if (isMoment) lab.sim.state.sdn.config.vnets.set("r2", theirs)
    })
    await within(meddling, (process) => expect(migrate(process)).rejects.toThrow("VNet r2 exists and is not ours"))
    expect(lab.sim.state.sdn.config.vnets.get("r2")).toEqual(theirs)
    lab.sim.state.sdn.config.vnets.delete("r2")
    expect({ ...endOf(lab), zones: [] }).toEqual(before)
  })

  it("is undone when a node cannot make the VNets, which is named", async () => {
    const lab = threeRanges()
    const before = endOf(lab)
    const broken = lab.sim.faults.add({ kind: "network-reload-fails", node: "pve3", text: "error: ludus: cannot create vxlan" })
    await within(lab, (process) =>
      expect(migrate(process)).rejects.toMatchObject({
        message: expect.stringMatching(/pve3 lacks ludusnat, r1, r2, r3.*undone/su),
        hint: expect.stringMatching(/^Check the network reload task.* GET \/runs\//u),
      }),
    )
    lab.sim.faults.remove(broken)
    expect({ ...endOf(lab), onNodes: before.onNodes }).toEqual(before)
  })

  it("waits while the cluster has no quorum, and continues when it has", async () => {
    const { after } = await migrated()
    for (const path of ["/cluster/sdn/vnets", "/access/acl", "/nodes/pve1/qemu/3011/config"]) {
      const lab = threeRanges()
      let lost = false
      const faulty = withHandle(lab, (request) => {
        if (lost || request.method === "GET" || !request.path.endsWith(path)) return
        lost = true
        const fault = lab.sim.faults.add({ kind: "quorum-lost" })
        lab.clock.schedule(120_000, () => void lab.sim.faults.remove(fault))
      })
      expect(await endsOf(faulty)).toEqual(["success"])
      expect(lost).toBe(true)
      expect(endOf(lab)).toEqual(after)
    }
  })
})

describe("a migration", () => {
  it("joined by a second call is one run, with one end for both", async () => {
    const lab = threeRanges()
    const texts = await within(lab, (process) => Promise.all([migrate(process), migrate(process)]))
    expect(texts[0]).toMatch(/finished successfully/u)
    expect(texts[1]).toBe(texts[0])
    expect(lab.store.runs.size).toBe(1)
    expect(lab.sim.calls.counts().byRoute["PUT /cluster/sdn"]).toBe(1)
  })

  it("gives rights to the groups of accounts that exist on the hypervisor, and is done without the others", async () => {
    const lab = threeRanges()
    for (const [number, id] of ["HERE", "GONE"].entries())
      lab.store.users.set(id as UserId, {
        user: {
          id: id as UserId,
          recordId: `user${id}0000000` as RecordId,
          number: number + 2,
          name: id,
          email: `${id}@lab.example`,
          isAdmin: false,
          hypervisorUsername: id.toLowerCase(),
          hypervisorRealm: "pve",
          defaultRangeId: undefined,
          hasCompletedOnboarding: true,
          createdAt: new Date(0),
          updatedAt: new Date(0),
          lastActiveAt: undefined,
        },
        secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "key" },
      })
    lab.store.grants.set("LAB1" as RangeId, new Set(["HERE" as UserId, "GONE" as UserId]))
    await within(lab, async (process) => {
      await process.runPromise(
        HypervisorAccess.use((access) => access.apply({ kind: "create-group", group: groupOfAccount("here@pve" as AccountId) })),
      )
      await migrate(process)
      expect([...(lab.sim.state.access.acl.get("/sdn/zones/ludus/r1")?.keys() ?? [])].toSorted()).toEqual([
        "@ludus_admins",
        `@${groupOfAccount("here@pve" as AccountId)}`,
      ])
      expect(await migrate(process)).toMatch(/^Nothing to migrate/u)
    })
  })

  it("is one run with a step for every machine", async () => {
    const lab = threeRanges()
    await within(lab, async (process) => {
      await migrate(process)
      const [id] = lab.store.runs.keys()
      const state = await process.runPromise(RunEngine.use((engine) => engine.state(id as RunId)))
      const machines = [...state.steps.values()].flatMap(({ step }) => step.machine ?? [])
      expect(machines).toHaveLength(9)
      expect([...state.steps.values()].every(({ phase }) => phase === "settled")).toBe(true)
      const record = await process.runPromise(RunJournal.use((journal) => journal.find(id as RunId)))
      expect(record?.subject).toEqual(installation)
    })
  })

  it("does not count a machine that somebody removes meanwhile", async () => {
    const lab = threeRanges()
    const meddling = withHandle(lab, (request) => {
      if (request.method === "PUT" && request.path.endsWith("/cluster/sdn")) lab.sim.state.guests.delete(3012)
    })
    await within(meddling, async (process) => expect(await migrate(process)).toContain("8 machines moved in"))
  })

  it("that is aborted before a machine moves restores everything", async () => {
    const lab = threeRanges()
    const before = endOf(lab)
    lab.sim.faults.add({ kind: "delay", match: { method: "POST", nth: 2 }, ms: 60_000 })
    await within(lab, async (process) => {
      const outcome = migrate(process).catch(String)
      await process.runPromise(
        Effect.gen(function* () {
          while (lab.sim.state.sdn.config.zones.size === 0) yield* Effect.sleep(1000)
          for (const id of lab.store.runs.keys()) yield* RunEngine.use((engine) => engine.cancel(id, admin))
        }),
      )
      expect(await outcome).toContain("the preparations were undone")
    })
    expect(endOf(lab)).toEqual(before)
  })

  it("does not start over leftovers of others, and lists everything that stands in the way", async () => {
    const lab = threeRanges()
    const before = endOf(lab)
    lab.sim.state.sdn.config.zones.set("theirs", { type: "simple", zone: "theirs" })
    lab.sim.guest(3011)!.config["lock"] = "backup"
    await within(lab, async (process) => {
      await expect(migrate(process)).rejects.toMatchObject({
        _tag: "MigrationBlocked",
        kind: "conflict",
        issues: [
          { path: "pending-sdn", message: expect.stringContaining("zone theirs is new") },
          { path: "machine-locked", message: expect.stringContaining("LAB1-dc (VM 3011 on pve1) is locked (backup)") },
        ],
      })
      const { blockers } = await process.runPromise(planNetworks("to-sdn", true))
      expect(blockers).toHaveLength(2)
    })
    expect(lab.store.runs.size).toBe(0)
    expect({ ...endOf(lab), zones: [] }).toEqual(before)
  })

  it("stops before any change if a range changed after it was planned", async () => {
    const lab = threeRanges()
    const before = endOf(lab)
    // somebody adds a network card between the first observation and the check
    let looks = 0
    const meddling = withHandle(lab, (request) => {
      if (request.path.includes("/cluster/status") && ++looks === 2)
        lab.sim.guest(3012)!.config["net1"] = "virtio=BC:24:11:99:99:99,bridge=vmbr1001,tag=30"
    })
    await within(meddling, (process) =>
      expect(migrate(process)).rejects.toMatchObject({
        kind: "conflict",
        message: expect.stringContaining("the installation has changed since the plan was made"),
        hint: "Nothing was changed. Start again.",
      }),
    )
    delete lab.sim.guest(3012)!.config["net1"]
    expect(endOf(lab)).toEqual(before)
  })
})

import type { RunState, StepPhase } from "@rangewright/domain"
import type { GuestAutomation, GuestTask } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { deathsIn, goOn } from "./support/crash.ts"
import { makeCrashGate } from "./support/crash-gate.ts"
import { boot, createRange, deploy, type Lab, makeCompany, startAndWait } from "./support/lab.ts"

const linux = (name: string, octet: number, roles: readonly unknown[]) => ({
  vm_name: `{{ range_id }}-${name}`,
  hostname: name,
  template: "debian-12-x64-server-template",
  vlan: 10,
  ip_last_octet: octet,
  ram_gb: 2,
  cpus: 2,
  linux: true,
  roles,
})
const controller = {
  ...linux("dc", 11, ["trust"]),
  template: "win2022-server-x64-template",
  linux: undefined,
  windows: { sysprep: true },
  domain: { fqdn: "corp.example", role: "primary-dc" },
}
const config = JSON.stringify({
  ludus: [
    linux("one", 12, ["first", "second"]),
    controller,
    linux("two", 13, [{ name: "needy", depends_on: [{ vm_name: "{{ range_id }}-one", role: "first" }] }, "own"]),
    linux("three", 14, ["last"]),
  ],
})
const makeLab = (): Lab => ({ ...makeCompany(), config })

/** Fails each step inside this machine. */
const failing = (lab: Lab, machine: string, stage: string, role?: string): void => {
  lab.world.fault = ({ action, method }) =>
    method === "settle" &&
    action !== undefined &&
    "machine" in action &&
    action.machine.mark.machine === machine &&
    (action.kind === "guest" ? action.stage : action.kind) === stage &&
    (role === undefined || (action.kind === "guest" && (action.input as { readonly role?: string }).role === role))
      ? { when: "before", reason: "failed" }
      : undefined
}

const deployed = async (lab: Lab): Promise<RunState> => {
  const range = await createRange(lab)
  const process = boot(lab)
  const { state } = await startAndWait(process, range)
  await process.dispose()
  return state
}
const rolesOf = (state: RunState): readonly string[] =>
  [...state.steps.values()]
    .filter(({ step, startedAt }) => step.key.startsWith("role:") && startedAt !== undefined)
    .toSorted((a, b) => a.startedAt!.getTime() - b.startedAt!.getTime())
    .map(({ step }) => step.key.replace("role:LAB-", ""))
const phase = (state: RunState, key: string): StepPhase | undefined => state.steps.get(key)?.phase
const endOf = (state: RunState, key: string): number => state.steps.get(key)!.endedAt!.getTime()
const beginOf = (state: RunState, key: string): number => state.steps.get(key)!.startedAt!.getTime()

describe("roles in the order of the file", () => {
  it("run one after another, when the last domain is made", async () => {
    const state = await deployed(makeLab())
    expect(state.status).toBe("success")
    expect(rolesOf(state)).toEqual(["one:first", "one:second", "dc:trust", "two:needy", "two:own", "three:last"])
    const roles = rolesOf(state).map((role) => `role:LAB-${role}`)
    expect(beginOf(state, roles[0]!)).toBeGreaterThanOrEqual(endOf(state, "primary-dc:LAB-dc"))
    roles.slice(1).forEach((key, i) => expect(beginOf(state, key)).toBeGreaterThanOrEqual(endOf(state, roles[i]!)))
  })

  it("continue when one fails on another machine; those on its own machine and those that depend on it are skipped", async () => {
    const lab = makeLab()
    failing(lab, "LAB-one", "role", "first")
    const state = await deployed(lab)
    expect(state.status).toBe("failure")
    expect(rolesOf(state)).toEqual(["one:first", "dc:trust", "three:last"])
    for (const role of ["one:second", "two:needy", "two:own"]) expect(phase(state, `role:LAB-${role}`)).toBe("skipped")
  })

  it("still wait for the domain if the machine of the first role is lost", async () => {
    const lab = makeLab()
    failing(lab, "LAB-one", "clone")
    const state = await deployed(lab)
    expect(rolesOf(state)).toEqual(["dc:trust", "three:last"])
    expect(beginOf(state, "role:LAB-dc:trust")).toBeGreaterThanOrEqual(endOf(state, "primary-dc:LAB-dc"))
  })

  it("of other machines run if the domain fails", async () => {
    const lab = makeLab()
    failing(lab, "LAB-dc", "primary-dc")
    const state = await deployed(lab)
    expect(rolesOf(state)).toEqual(["one:first", "one:second", "two:needy", "two:own", "three:last"])
    expect(beginOf(state, "role:LAB-one:first")).toBeGreaterThanOrEqual(endOf(state, "primary-dc:LAB-dc"))
  })

  it("keep their order, and wait for what fails, when the process dies at any moment from the first failure on", async () => {
    const whole = makeLab()
    failing(whole, "LAB-one", "clone")
    const range = await createRange(whole)
    const broken: unknown[] = []
    for (const { at, acknowledged, lab: copy } of (await deathsIn(whole, range, deploy)).deaths) {
      const lab = copy()
      await goOn(lab, range, deploy, acknowledged)
      const done = lab.world.calls.flatMap(({ method, action }) =>
        method === "settle" && action?.kind === "guest" && ["role", "primary-dc"].includes(action.stage)
          ? [action.machine.mark.machine]
          : [],
      )
      // steps in progress may be settled twice
      const order = done.filter((machine, i) => machine !== done[i - 1])
      if (order.join() !== "LAB-dc,LAB-three") broken.push({ at, order })
    }
    expect(broken).toEqual([])
  }, 120_000)
})

describe("roles in the order of their dependencies", () => {
  it("start as soon as their dependencies are met", async () => {
    const lab = makeLab()
    const range = await createRange(lab)
    const process = boot(lab)
    const { state } = await startAndWait(process, range, { ...deploy, options: { ...deploy.options, roleSequence: "graph" } })
    await process.dispose()
    expect(state.status).toBe("success")
    expect(beginOf(state, "role:LAB-three:last")).toBeLessThan(endOf(state, "primary-dc:LAB-dc"))
    expect(beginOf(state, "role:LAB-two:needy")).toBeGreaterThanOrEqual(endOf(state, "role:LAB-one:first"))
  })
})

describe("the information that stages get about their run", () => {
  it("has its id, its steps and the requested roles; and a range without VMs leaves nothing behind", async () => {
    const lab = makeLab()
    const range = await createRange(lab)
    const told: GuestTask[] = []
    const forgotten: (readonly [string, string | undefined])[] = []
    const gate = {
      ...makeCrashGate(),
      guard: <S extends object>(port: string, service: S): S =>
        port !== "GuestAutomation"
          ? service
          : {
              ...service,
              dispatch: (task: GuestTask) => {
                told.push(task)
                return (service as unknown as GuestAutomation["Service"]).dispatch(task)
              },
              forgetRange: (id: string, removed?: string) => Effect.sync(() => void forgotten.push([id, removed])),
            },
    }
    const process = boot(lab, gate)
    await startAndWait(process, range)
    told.length = 0
    const options = { ...deploy.options, onlyRoles: ["trust", "last"], verbose: true }
    const { head } = await startAndWait(process, range, { ...deploy, options })
    expect(told.map(({ run, onlyRoles, verbose }) => ({ run, onlyRoles, verbose }))).toEqual(
      Array.from({ length: 2 }, () => ({
        run: { id: head.id, steps: new Set(["role:LAB-dc:trust", "role:LAB-three:last"]) },
        onlyRoles: ["trust", "last"],
        verbose: true,
      })),
    )
    expect(forgotten).toEqual([])
    await startAndWait(process, range, { kind: "destroy" })
    expect(forgotten).toEqual([["LAB", undefined]])
    await startAndWait(process, range, { kind: "delete-range", force: false })
    expect(forgotten.slice(1)).toEqual([["LAB", range.recordId]])
    await process.dispose()
  })
})

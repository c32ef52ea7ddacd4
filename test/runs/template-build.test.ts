import type { MemoryScript } from "@rangewright/adapter-memory"
import { keepBuilds, templateBuild, templateRemoval } from "@rangewright/application"
import { openBuildLog, type RunId, SubjectBusy, type Vmid } from "@rangewright/domain"
import { ArtifactLibrary, Machines, RunJournal, Users } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { type CrashGate, makeCrashGate } from "./support/crash-gate.ts"
import { ada, boot, makeSite, newAda, type Process, type Site } from "./support/site.ts"

const template = "debian"
const subject = (name = template) => ({ type: "template", id: name }) as const
const asked = (name = template, { batch = "b", parallel = 1 } = {}) =>
  templateBuild.request(subject(name), { template: name, user: ada, userRecord: newAda.recordId, own: true, batch, parallel })

const filesOf = (name: string) => {
  const bytes = new TextEncoder().encode(`variable "vm_name" {\n  default = "${name}"\n}\n`)
  return [{ kind: "file", path: `${name}.pkr.hcl`, size: bytes.length, executable: false, read: Effect.succeed(bytes) }] as const
}

/** A site with one node up, on which Ada has these templates. */
const prepared = async (...names: readonly string[]): Promise<Site> => {
  const site = makeSite()
  const process = boot(site)
  await process.runPromise(
    Effect.gen(function* () {
      yield* (yield* Users).create(newAda)
      yield* (yield* Machines).replace({ at: new Date(0), nodes: [...site.world.nodes.values()], storages: [], machines: [] })
      const library = yield* ArtifactLibrary
      for (const name of names.length === 0 ? [template] : names)
        yield* library.place({ scope: { type: "user", userId: ada }, kind: "template", name }, filesOf(name), { replace: true })
    }),
  )
  await process.dispose()
  return site
}

const build = (process: Process, name = template) =>
  process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const { id } = yield* engine.start(asked(name), ada)
      return { id, state: yield* engine.wait(id) }
    }),
  )

const logOf = (site: Site, id: RunId) => {
  const log = openBuildLog(template)
  return (site.store.runs.get(id)?.entries ?? []).map((entry) => log.push(entry)).join("")
}

/** The builds' objects in the world: templates that everybody may clone, and everything that must not be left behind. */
const endOf = ({ world, builds }: Site) => ({
  shared: [...world.vms.values()].filter(({ pool }) => pool === "SHARED").map(({ name, template: is }) => `${name} ${is}`),
  left: [
    ...[...world.vms.values()].filter(({ pool }) => pool !== "SHARED").map(({ vmid }) => vmid),
    ...[...world.pools].filter((pool) => pool.startsWith("rw-build-")),
    ...[...world.accounts.keys()].filter((account) => account.startsWith("build-")),
    ...builds.processes,
    ...builds.files,
  ],
})
const whole = { shared: ["debian true"], left: [] }
const nothing = { shared: [], left: [] }

/** Lets a build run until its tool runs. */
const untilItRuns = (site: Site) =>
  Effect.repeat(Effect.sleep(100), { while: () => Effect.succeed(site.builds.processes.size === 0) })

describe("a build", () => {
  it("makes a template for everybody and leaves nothing else; its log is the tool's output, without secrets", async () => {
    const site = await prepared()
    site.builds.script = ({ account }) => ({
      prints: [
        "==> proxmox-iso.debian: Creating VM\n    half a li",
        `ne of ${String(account.username)}\r\n`,
        "secret-1-of-",
        "x\n",
      ],
      seconds: 60,
    })
    const process = boot(site)
    const { id, state } = await build(process)
    await process.dispose()
    expect([state.status, state.message]).toEqual(["success", ""])
    expect(endOf(site)).toEqual(whole)
    const log = logOf(site, id)
    expect(log).toContain("==> proxmox-iso.debian: Creating VM\n    half a line of")
    expect(log).toMatch(/\n=+\n=> Build complete!\n=+\n$/u)
    expect(site.builds.begun).toEqual([{ id, template, paths: [".rangewright-template.json", "debian.pkr.hcl"] }])
  })

  it("that takes long shows its duration, an estimate of the rest from earlier builds, and what it has made", async () => {
    const site = await prepared()
    site.builds.script = () => ({ prints: [], seconds: 700 })
    const process = boot(site)
    const first = await build(process)
    expect(logOf(site, first.id)).toMatch(/\n=> 5 min so far; no earlier build says how long it takes; it has VM \d+\n/u)
    site.world.vms.clear()
    const second = await build(process)
    expect(logOf(site, second.id)).toMatch(
      /\n=> 10 min so far; about 2 min left, from earlier builds, which took 12 min; it has VM \d+\n/u,
    )
    site.world.vms.clear()
    site.builds.script = () => ({ prints: [], seconds: 1000 })
    const third = await build(process)
    await process.dispose()
    expect(logOf(site, third.id)).toMatch(/\n=> 15 min so far; longer than usual: earlier builds took 12 min; it has VM \d+\n/u)
    expect(second.state.plan?.steps[0]?.estimate).toBeGreaterThanOrEqual(700)
  })

  it("keeps the secrets of its account out of journal and log", async () => {
    const site = await prepared()
    site.builds.script = ({ id }) => ({ prints: [`password secret-1-of-${id} and token tok`, `en-1-of-${id}!\n`], seconds: 1 })
    const process = boot(site)
    const { id } = await build(process)
    await process.dispose()
    expect(logOf(site, id)).toContain("password *** and token ***!\n")
    expect(JSON.stringify([...(site.store.runs.get(id)?.entries ?? [])])).not.toMatch(/secret-1|token-1/u)
  })

  const failing: readonly (readonly [string, Partial<MemoryScript>, RegExp])[] = [
    ["the tool failed", { fails: "Timeout waiting for SSH" }, /Timeout waiting for SSH/u],
    ["the tool made nothing in the pool", { makes: [] }, /there is no VM in the build's pool/u],
    ["the tool made something else", { makes: ["win11"] }, /made template "win11" instead/u],
    ["the tool made two", { makes: [template, template] }, /made template "debian", template "debian" instead/u],
  ]
  it.each(failing)("in which %s fails with the reason, and leaves nothing", async (_what, script, because) => {
    const site = await prepared()
    site.builds.script = () => ({ prints: [], seconds: 5, ...script })
    const process = boot(site)
    const { id, state } = await build(process)
    await process.dispose()
    expect(state.status).toBe("failure")
    expect(state.message).toMatch(because)
    expect(logOf(site, id)).toMatch(/\n=> Build failed: /u)
    expect(endOf(site)).toEqual(nothing)
  })

  it("never replaces a template of its name that was created meanwhile", async () => {
    const site = await prepared()
    site.builds.script = () => {
      const vm = { ...[...site.world.vms.values()][0], vmid: 900 as Vmid, name: template, template: true, pool: "SHARED" }
      return { prints: [], seconds: 5, makes: (site.world.vms.set(900 as Vmid, vm as never), [template]) }
    }
    const process = boot(site)
    const { state } = await build(process)
    await process.dispose()
    expect(state.message).toContain("there is another template with this name, VM 900")
    expect(endOf(site)).toEqual({ shared: ["debian true"], left: [] })
    expect(site.world.vms.has(900 as Vmid)).toBe(true)
  })

  it("runs once at a time for each template and up to the limit in total; the others wait for their turn", async () => {
    const names = ["a", "b", "c", "d"]
    const site = await prepared(...names)
    const process = boot(site)
    await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const runs = []
        for (const [n, name] of names.entries())
          runs.push(yield* engine.start(asked(name, { batch: `b${n % 2}`, parallel: 3 }), ada))
        expect(yield* Effect.flip(engine.start(asked("a"), ada))).toBeInstanceOf(SubjectBusy)
        for (const { id } of runs) expect((yield* engine.wait(id)).status).toBe("success")
      }),
    )
    await process.dispose()
    expect(site.builds.most).toBe(1)
    expect(endOf(site)).toEqual({ shared: ["a true", "b true", "c true", "d true"], left: [] })
  })

  it("that is aborted leaves nothing, even while it waits for its turn", async () => {
    const site = await prepared("debian", "kali")
    const process = boot(site)
    await process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const first = yield* engine.start(asked("debian"), ada)
        yield* untilItRuns(site)
        const second = yield* engine.start(asked("kali"), ada)
        yield* engine.cancel(second.id, ada)
        expect((yield* engine.wait(second.id)).status).toBe("aborted")
        expect(site.builds.begun.map(({ template: name }) => name)).toEqual(["debian"])
        yield* engine.cancel(first.id, ada)
        expect((yield* engine.wait(first.id)).status).toBe("aborted")
        expect(endOf(site)).toEqual(nothing)
        // at once, and not after a while
        const again = yield* engine.start(asked("debian"), ada)
        expect((yield* engine.wait(again.id)).status).toBe("success")
      }),
    )
    await process.dispose()
    expect(endOf(site)).toEqual(whole)
  })

  it("whose cleanup failed is cleaned up later, and nothing else is", async () => {
    const site = await prepared()
    const process = boot(site)
    let broken = true
    site.world.fault = ({ method }) =>
      broken && method === "close" && site.builds.begun.length > 0 ? { when: "before", reason: "failed" } : undefined
    site.builds.script = () => ({ prints: [], seconds: 5, fails: "no space" })
    await build(process)
    expect(endOf(site).left).not.toEqual([])
    broken = false
    // a build of another service, whose journal is unknown here
    site.world.pools.add("rw-build-other0000000001" as never)
    const running = process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        site.builds.script = () => ({ prints: [], seconds: 60 })
        const { id } = yield* engine.start(asked(), ada)
        yield* untilItRuns(site)
        // running builds are left alone
        yield* keepBuilds
        return yield* engine.wait(id)
      }),
    )
    expect((await running).status).toBe("success")
    expect(endOf(site)).toEqual({ ...whole, left: ["rw-build-other0000000001"] })
    await process.dispose()
  })
})

describe("the removal of a template", () => {
  const remove = (process: Process, vmid: number) =>
    process.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        const { id } = yield* engine.start(templateRemoval.request(subject(), { template, vmid: vmid as Vmid }), ada)
        return yield* engine.wait(id)
      }),
    )
  const made = async () => {
    const site = await prepared()
    const process = boot(site)
    await build(process)
    const [vm] = [...site.world.vms.values()]
    if (vm === undefined) throw new Error("nothing was built")
    return { site, process, vm }
  }

  it("deletes the VM, but only if it is still that template", async () => {
    const { site, process, vm } = await made()
    site.world.vms.set(vm.vmid, { ...vm, name: "other" })
    expect((await remove(process, vm.vmid)).status).toBe("failure")
    site.world.vms.set(vm.vmid, vm)
    expect((await remove(process, vm.vmid)).status).toBe("success")
    expect(endOf(site)).toEqual(nothing)
    await process.dispose()
  })

  it("is refused with the names of the machines whose disks need it", async () => {
    const { site, process, vm } = await made()
    site.world.vms.set(300 as Vmid, {
      ...vm,
      vmid: 300 as Vmid,
      name: "LAB-web",
      template: false,
      pool: "LAB",
      clonedFrom: vm.vmid,
    })
    await expect(remove(process, vm.vmid)).rejects.toMatchObject({
      message: "Cannot delete template debian: the disks of a machine are linked to it: LAB-web (VM 300)",
    })
    expect(site.world.vms.has(vm.vmid)).toBe(true)
    await process.dispose()
  })
})

describe("a service that is killed while it builds", () => {
  /** Runs a build on a process that dies at the gate's moment, and continues it in another one. */
  const killed = async (gate: CrashGate) => {
    const site = await prepared()
    site.builds.killed = true
    const dying = boot(site, gate)
    let acknowledged: RunId | undefined
    await dying
      .runPromise(
        Effect.gen(function* () {
          const engine = yield* RunEngine
          const { id } = yield* engine.start(asked(), ada)
          acknowledged = id
          yield* Effect.raceFirst(engine.wait(id), gate.died)
        }),
      )
      .catch(() => undefined)
    await dying.dispose().catch(() => undefined)
    site.builds.killed = false
    const next = boot(site)
    const status = await next.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        yield* engine.recover
        const [run] = yield* (yield* RunJournal).list({ subject: subject(), limit: 1 })
        const id = acknowledged ?? run?.id
        // the client got no answer, and asks again
        const known = id === undefined ? (yield* engine.start(asked(), ada)).id : id
        const state = yield* engine.wait(known)
        yield* keepBuilds
        return state.status
      }),
    )
    await next.dispose()
    return { site, status }
  }

  /** What is wrong with the history: it has one run, which reports every attempt and one end. */
  const historyOf = ({ store, builds }: Site): string | undefined => {
    const [run, ...more] = [...store.runs.values()]
    const events = run?.entries.map(({ event }) => event) ?? []
    const told = events.filter((event) => event.type === "Output" && event.text.startsWith("=> Attempt")).length
    const ends = events.filter(({ type }) => type === "Ended").length
    return more.length === 0 && ends === 1 && told >= builds.begun.length
      ? undefined
      : `${more.length + 1} runs, ${told} of ${builds.begun.length} attempts told, ${ends} ends`
  }

  it("ends with one template, nothing else and a true history, wherever it dies", async () => {
    const gate = makeCrashGate()
    expect((await killed(gate)).status).toBe("success")
    const moments = gate.points()
    expect(moments).toBeGreaterThan(40)
    const wrong: string[] = []
    for (let at = 1; at <= moments; at++) {
      const crash = makeCrashGate(at)
      const { site, status } = await killed(crash)
      const end = endOf(site)
      const history = historyOf(site)
      if (status !== "success" || JSON.stringify(end) !== JSON.stringify(whole) || history !== undefined)
        wrong.push(`${at} ${crash.trace.at(-1)}: ${status} ${JSON.stringify(end)} ${history ?? ""}`)
    }
    expect(wrong).toEqual([])
  }, 120_000)
})

describe("a build that is interrupted every time", () => {
  it("is attempted three times at most; its log counts the attempts, and nothing is left", async () => {
    const site = await prepared()
    site.builds.script = () => ({ prints: ["on\n"], seconds: 100_000 })
    site.builds.killed = true
    for (const begun of [1, 2, 3]) {
      const process = boot(site)
      await process.runPromise(
        Effect.gen(function* () {
          const engine = yield* RunEngine
          yield* begun === 1 ? engine.start(asked(), ada) : engine.recover
          yield* Effect.repeat(Effect.sleep(100), { while: () => Effect.succeed(site.builds.begun.length < begun) })
        }),
      )
      await process.dispose()
    }
    site.builds.killed = false
    const last = boot(site)
    const { id, state } = await last.runPromise(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        yield* engine.recover
        const [run] = yield* (yield* RunJournal).list({ subject: subject(), limit: 1 })
        if (run === undefined) throw new Error("the run is gone")
        return { id: run.id, state: yield* engine.wait(run.id) }
      }),
    )
    await last.dispose()
    expect([state.status, site.builds.begun.length]).toEqual(["failure", 3])
    expect(logOf(site, id)).toMatch(
      /Attempt 1 of 3\n[^]*Attempt 3 of 3\n[^]*started 3 times and interrupted each time, and template_build_attempts/u,
    )
    expect(endOf(site)).toEqual(nothing)
  })
})

import type { MemoryPackages } from "@rangewright/adapter-memory"
import { packagesRun } from "@rangewright/application"
import { installation, type PackageSet } from "@rangewright/domain"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { makeCrashGate } from "./support/crash-gate.ts"
import { ada, boot, makeSite, type Process, type Site } from "./support/site.ts"

const set: PackageSet = {
  for: "10.0.2-4",
  packages: [{ name: "pve-qemu-kvm", version: "10.0.2-4+lab1", architecture: "amd64", bytes: 10, sha256: "0".repeat(64) }],
}

type Target = "custom" | "standard"

/** Two nodes, with the packages that the run is to remove. */
const prepared = (to: Target): Site => {
  const site = makeSite()
  site.packages.sets = [set]
  for (const name of ["pve1", "pve2"])
    site.packages.nodes.set(name, {
      architecture: "amd64",
      packages: [
        {
          name: "pve-qemu-kvm",
          version: to === "custom" ? "10.0.2-4" : "10.0.2-4+lab1",
          held: to === "standard",
          settled: true,
          offered: ["10.0.2-4"],
        },
      ],
      reachable: true,
      broken: undefined,
    })
  return site
}

const stateOf = ({ nodes }: MemoryPackages) =>
  [...nodes.values()].map((node) => node.packages.map(({ version, held }) => [version, held]))

const start = (process: Process, to: Target) =>
  process.runPromise(
    RunEngine.use((engine) =>
      Effect.flatMap(engine.start(packagesRun.request(installation, { to }), ada), ({ id }) => engine.wait(id)),
    ),
  )

const untilDeath = async (site: Site, to: Target, at: number) => {
  const gate = makeCrashGate(at)
  const process = boot(site, gate)
  const dead = Effect.repeat(Effect.sleep(100), { while: () => Effect.succeed(!gate.dead()) })
  await process
    .runPromise(
      Effect.raceFirst(
        Effect.promise(() => start(process, to)),
        dead,
      ),
    )
    .catch(() => undefined)
  await process.dispose().catch(() => undefined)
  return gate
}

const goOn = async (site: Site) => {
  const process = boot(site)
  await process.runPromise(
    RunEngine.use((engine) =>
      Effect.andThen(
        engine.recover,
        Effect.forEach(site.store.runs.keys(), (id) => engine.wait(id)),
      ),
    ),
  )
  await process.dispose()
}

it.each(["custom", "standard"] as const)(
  "a process that dies before or after any journal write or change of a node resumes until all have the %s packages",
  { timeout: 120_000 },
  async (to) => {
    const undisturbed = prepared(to)
    const before = stateOf(undisturbed.packages)
    const gate = makeCrashGate(undefined, () => [undisturbed.store, undisturbed.packages, undisturbed.clock.now()])
    const process = boot(undisturbed, gate)
    expect((await start(process, to)).status).toBe("success")
    await process.dispose()
    const after = stateOf(undisturbed.packages)
    expect(after).not.toEqual(before)
    const broken: unknown[] = []
    for (const at of gate.distinct()) {
      const site = prepared(to)
      const dying = await untilDeath(site, to, at)
      const isKnown = site.store.runs.size > 0
      await goOn(site)
      const changes = site.packages.changes.map((change) => change.split(" ")[1])
      // a run that was never acknowledged has changed nothing; no node changes after a later one
      const isRight =
        JSON.stringify(stateOf(site.packages)) === JSON.stringify(isKnown ? after : before) &&
        changes.every((node, i) => i === 0 || String(changes[i - 1]) <= String(node)) &&
        [...site.store.runs.values()].every(({ record }) => record.status === "success")
      if (!dying.dead() || !isRight) broken.push({ at, moment: dying.trace.at(-1), changes, state: stateOf(site.packages) })
    }
    expect(gate.distinct().length).toBeGreaterThan(15)
    expect(broken).toEqual([])
  },
)

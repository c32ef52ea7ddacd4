import type { RunId, Vmid } from "@rangewright/domain"
import { BuildFault, type BuilderAvailability, type TemplateBuild, TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { addTemplate, changeVm, type MemoryWorld } from "./hypervisor/memory-world.ts"

/** A scripted build. */
export interface MemoryScript {
  /** Texts that it prints, one after another. */
  readonly prints: readonly string[]
  readonly seconds: number
  /** Why it fails in the end; absent when it succeeds. */
  readonly fails?: string
  /** Names of the templates that it makes; when absent, the requested one. */
  readonly makes?: readonly string[]
}

/** A tool that builds templates, and its state. */
export interface MemoryBuilds {
  available: BuilderAvailability
  script: (build: TemplateBuild) => MemoryScript
  /** Builds with a running process, and builds with temporary files. */
  readonly processes: Set<RunId>
  readonly files: Set<RunId>
  /** Every build that was started, and the most processes that ran at once. */
  readonly begun: { readonly id: RunId; readonly template: string; readonly paths: readonly string[] }[]
  most: number
  /** When true, an interruption leaves process and files behind, as killing the service does. */
  killed: boolean
}

export const makeMemoryBuilds = (): MemoryBuilds => ({
  available: { available: true, version: "1.9.4" },
  script: ({ template }) => ({ prints: [`==> proxmox.${template}: Creating VM\n`], seconds: 60 }),
  processes: new Set(),
  files: new Set(),
  begun: [],
  most: 0,
  killed: false,
})

/** A build tool in memory. Wherever it ends, it leaves the VM that it was making: the service cleans up a build's pool. */
export const memoryBuilderLayer = (world: MemoryWorld, builds: MemoryBuilds): Layer.Layer<TemplateBuilder> => {
  const clear = (id: RunId) =>
    Effect.sync(() => {
      builds.processes.delete(id)
      builds.files.delete(id)
    })
  const make = (build: TemplateBuild, name: string): Vmid => {
    const vmid = (Math.max(100, ...world.vms.keys()) + 1) as Vmid
    addTemplate(world, vmid, name, build.node)
    changeVm(world, vmid, { pool: build.account.pool, template: false, power: "running" })
    return vmid
  }
  return Layer.succeed(TemplateBuilder, {
    available: Effect.sync(() => builds.available),
    clear,
    build: (build) =>
      Effect.gen(function* () {
        const { prints, seconds, fails, makes = [build.template] } = builds.script(build)
        builds.processes.add(build.id)
        builds.files.add(build.id)
        builds.most = Math.max(builds.most, builds.processes.size)
        builds.begun.push({ id: build.id, template: build.template, paths: build.files.map(({ path }) => path) })
        const vmids = makes.map((name) => make(build, name))
        for (const text of prints) yield* build.output(text)
        yield* Effect.sleep(seconds * 1000)
        if (fails !== undefined)
          return yield* new BuildFault({ doing: `build ${build.template}`, reason: "failed", detail: fails })
        for (const vmid of vmids) changeVm(world, vmid, { template: true, power: "stopped" })
      }).pipe(Effect.ensuring(Effect.suspend(() => (builds.killed ? Effect.void : clear(build.id))))),
  })
}

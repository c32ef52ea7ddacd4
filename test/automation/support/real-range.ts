import { libraryLayer, playbookLayer } from "@rangewright/adapter-ansible"
import {
  addTemplate,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
} from "@rangewright/adapter-memory"
import { RunEngine, runEngineLayer, runPlannerLayer, type RunRequest, Settings } from "@rangewright/application"
import { type Range, type RangeId, type RecordId, type RunHead, type RunState, type UserId, type Vmid } from "@rangewright/domain"
import { Hypervisor, Ranges, RunJournal, Users } from "@rangewright/ports"
import { makeRealHosts, type RealHost } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { labSettings } from "../../runs/support/lab.ts"

export const userId = "alice" as UserId
const rangeId = "LAB" as RangeId
const rangeNumber = 7
const password = "debian-lab"

/**
 * A range whose machines are real hosts: the hypervisor is the one in memory, but a VM that starts becomes a host with the VM's network
 * cards, and its addresses are the host's. Engine, planner and automation are those of the service.
 */
export const openRealRange = async (config: string, collections: readonly string[]) => {
  const folder = await mkdtemp(join(tmpdir(), "rw-range-"))
  const outside = `192.0.2.${100 + rangeNumber}`
  const hosts = await makeRealHosts({
    password,
    outer: { vlan: 1, address: "192.0.2.254/24" },
    routes: [{ to: `10.${rangeNumber}.0.0/16`, via: outside }],
  })
  const world = makeMemoryWorld()
  world.durations = { clone: 0, boot: 0, stop: 0, delete: 0, network: 0, stage: 0 }
  for (const [i, name] of ["debian-11-x64-server-template", "debian-12-x64-server-template"].entries())
    addTemplate(world, 9001 + i, name)
  const store = makeMemoryStore()
  const running = new Map<Vmid, Promise<RealHost>>()

  const boot = (vmid: Vmid): Promise<RealHost> => {
    const known = running.get(vmid)
    if (known !== undefined) return known
    const nics = world.vms.get(vmid)?.nics ?? []
    const host = hosts.add({
      // as the template calls itself
      name: "debian",
      nics: nics.map(({ index, mac, tag = 1 }) => {
        if (index > 0) return { vlan: tag, mac }
        return tag === 1
          ? { vlan: tag, mac, address: "192.0.2.60/24", gateway: "192.0.2.254" }
          : {
              vlan: tag,
              mac,
              address: `10.${rangeNumber}.${tag}.${100 + (vmid % 100)}/24`,
              gateway: `10.${rangeNumber}.${tag}.254`,
            }
      }),
    })
    running.set(vmid, host)
    return host
  }

  const inMemory = memoryHypervisorLayer(world)
  const onHosts = Layer.effect(
    Hypervisor,
    Effect.map(Hypervisor, (memory) =>
      Hypervisor.of({
        ...memory,
        settle: (action, token) =>
          memory
            .settle(action, token)
            .pipe(Effect.tap(() => (action.kind === "start" ? Effect.promise(() => boot(action.machine.vmid)) : Effect.void))),
        addresses: (_node, vmid) => Effect.promise(async () => (await running.get(vmid))?.addresses() ?? []),
      }),
    ),
  ).pipe(Layer.provide(inMemory))

  const process = () => {
    const ports = Layer.mergeAll(
      Layer.merge(inMemory, onHosts),
      memoryStorageLayer(store),
      libraryLayer({ folder: join(folder, "library") }),
    )
    const automation = playbookLayer({
      folder: join(folder, "automation"),
      library: join(folder, "library"),
      collections,
      launcher: hosts.outside,
      logins: new Map([["debian", { connection: "ssh", user: "root", password }]]),
    })
    const base = Layer.mergeAll(Layer.succeed(Settings, labSettings), Layer.succeed(References.MinimumLogLevel, "None"))
    return ManagedRuntime.make(
      runEngineLayer({ owner: "service", leaseSeconds: 5 }).pipe(
        Layer.provideMerge(runPlannerLayer),
        Layer.provideMerge(automation),
        Layer.provideMerge(ports),
        Layer.provideMerge(base),
      ),
    )
  }
  type Service = ReturnType<typeof process>

  const first = process()
  const range: Range = await first.runPromise(
    Effect.gen(function* () {
      yield* (yield* Users).create({
        id: userId,
        recordId: "alice0000000000" as RecordId,
        name: "Alice",
        email: "alice@example.test",
        isAdmin: false,
        hypervisorUsername: "alice",
        hypervisorRealm: "pve",
        secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "k" },
        createdAt: new Date(0),
      })
      return yield* (yield* Ranges).create({
        id: rangeId,
        recordId: "lab000000000000" as RecordId,
        number: rangeNumber,
        reservedNumbers: [],
        name: "Lab",
        description: "",
        purpose: "",
        config,
        createdBy: userId,
        owners: [userId],
        createdAt: new Date(0),
      })
    }),
  )
  await first.dispose()

  return {
    range,
    process,
    host: async (name: string): Promise<RealHost> => {
      const vm = [...world.vms.values()].find((each) => each.name === name)
      const host = vm === undefined ? undefined : running.get(vm.vmid)
      if (host === undefined) throw new Error(`no host runs as ${name}`)
      return host
    },
    addRole: async (name: string, files: Readonly<Record<string, string>>): Promise<void> => {
      for (const [path, text] of Object.entries({ "meta/main.yml": "galaxy_info: {author: lab}\n", ...files })) {
        const file = join(folder, "library", "users", userId, "roles", name, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, text)
      }
    },
    start: (service: Service, request: RunRequest): Promise<RunHead> =>
      service.runPromise(RunEngine.use((engine) => engine.start(range, request, userId))),
    wait: (service: Service, head: RunHead): Promise<RunState> =>
      service.runPromise(RunEngine.use((engine) => engine.wait(head.id))),
    /** What the journal of a run holds so far, in words. */
    log: (service: Service, head: RunHead): Promise<string> =>
      service.runPromise(
        Effect.map(
          RunJournal.use((journal) => journal.read(head.id, 0)),
          (entries) =>
            entries
              .map(({ event }) =>
                event.type === "Output" ? event.text : `${event.type} ${JSON.stringify(event).slice(0, 300)}\n`,
              )
              .join(""),
        ),
      ),
    close: async (): Promise<void> => {
      await hosts.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type RealRange = Awaited<ReturnType<typeof openRealRange>>

import { libraryLayer, playbookLayer } from "@rangewright/adapter-ansible"
import { licenseLayer, makeMemoryStore, memoryStorageLayer, openLicense } from "@rangewright/adapter-memory"
import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { RunEngine, runEngineLayer, runPlannerLayer, type RunRequest, Settings } from "@rangewright/application"
import type { Range, RangeId, RecordId, RunHead, RunState, UserId } from "@rangewright/domain"
import { HypervisorAccess, Ranges, RunJournal, Users } from "@rangewright/ports"
import { createSimulator, makeRealHosts, realGuests, type RealHost } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { labSettings } from "../../runs/support/lab.ts"

export const userId = "alice" as UserId
const rangeId = "LAB" as RangeId
const rangeNumber = 7
const password = "debian-lab"

/** How many times as fast as real machines the simulated ones are cloned and booted. */
const speed = 30

/**
 * A range whose machines are real hosts: VMs of the simulator, over its wire, each with a host behind it. Engine, planner, adapter and
 * automation are those of the service.
 */
export const openRealRange = async (config: string, collections: readonly string[]) => {
  const folder = await mkdtemp(join(tmpdir(), "rw-range-"))
  const hosts = await makeRealHosts({
    password,
    outer: { vlan: 1, address: "192.0.2.254/24" },
    routes: [{ to: `10.${rangeNumber}.0.0/16`, via: `192.0.2.${100 + rangeNumber}` }],
  })
  const guests = realGuests(hosts, 1)
  const simulator = createSimulator({ speed, backing: guests })
  const store = makeMemoryStore()
  const [tokenId = "", secret = ""] = simulator.rootToken.split("=")

  const process = () => {
    const hypervisor = proxmoxLayer({
      urls: [],
      transport: handlerTransport(simulator.handle),
      auth: { type: "token", id: tokenId, secret: Redacted.make(secret) },
      timeScale: speed,
      fastestPollSeconds: speed * 0.02,
    })
    const ports = Layer.mergeAll(
      hypervisor,
      memoryStorageLayer(store),
      licenseLayer(openLicense),
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
      const account = { username: "alice", realm: "pve" }
      yield* (yield* HypervisorAccess).ensureUser(account, "password-of-alice", { admin: false })
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
      const guest = [...simulator.state.guests.values()].find(({ config: { name: own } }) => own === name)
      if (guest === undefined) throw new Error(`no VM is called ${name}`)
      return guests.host(guest.vmid)
    },
    addRole: async (name: string, files: Readonly<Record<string, string>>): Promise<void> => {
      for (const [path, text] of Object.entries({ "meta/main.yml": "galaxy_info: {author: lab}\n", ...files })) {
        const file = join(folder, "library", "users", userId, "roles", name, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, text)
      }
    },
    setConfig: (service: Service, text: string): Promise<void> =>
      service.runPromise(Effect.orDie(Ranges.use((ranges) => ranges.setConfig(rangeId, text)))),
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
      await simulator.close()
      await guests.settled()
      await hosts.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type RealRange = Awaited<ReturnType<typeof openRealRange>>

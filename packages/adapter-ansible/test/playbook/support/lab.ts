import {
  licenseLayer,
  makeMemoryLibrary,
  makeMemoryStore,
  memoryLibraryLayer,
  memoryStorageLayer,
  openLicense,
} from "@rangewright/adapter-memory"
import { playbookLayer, type PlaybookOptions } from "@rangewright/adapter-ansible"
import {
  type GuestStage,
  type Json,
  type MachineDetail,
  macOf,
  passwordContext,
  type RangeId,
  type RecordId,
  routerTag,
  type UserId,
  type Vmid,
  writeDescription,
} from "@rangewright/domain"
import { GuestAutomation, type GuestTask, Hypervisor, HypervisorFault, Machines, Ranges, Users } from "@rangewright/ports"
import type { Dial } from "@rangewright/host-tools"
import { makeRealHosts, type RealHost, type RealHosts } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { execFileSync, spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Duplex } from "node:stream"
import { python } from "./internet.ts"
import { collections } from "./obstacle.ts"
import { plainSecrets } from "./plain-secrets.ts"

export const rangeId = "LAB" as RangeId
export const rangeNumber = 7
export const userId = "alice" as UserId
export const password = "debian-lab"

export interface LabMachine {
  readonly name: string
  /** `near`: on the network of the service's host, which stands in for the router and is the gateway of VLAN 10. */
  readonly vlan: number | "near"
  readonly octet: number
  /** As DHCP gave it at first boot; the configured one where it has that already. */
  readonly first?: string
}

/** Machines that are real hosts, known to a hypervisor that only tells of them; everything else as in the service. */
export interface Lab {
  readonly folder: string
  readonly library: string
  readonly hosts: RealHosts
  readonly host: (name: string) => RealHost
  readonly addMachine: (machine: LabMachine, config?: string) => Promise<RealHost>
  readonly addRouter: (vlans: readonly number[]) => Promise<RealHost>
  readonly addRole: (name: string, files: Readonly<Record<string, string>>, scope?: string) => Promise<void>
  readonly task: (name: string, stage: GuestStage, input: Json, more?: Partial<GuestTask>) => GuestTask
  /** Dispatches and settles; the facts, everything printed, and the fault's message where it failed. */
  readonly perform: (task: GuestTask, signal?: AbortSignal) => Promise<Performed>
  /** What is kept of a machine's login, opened. */
  readonly login: (name: string) => Promise<{ readonly current?: string; readonly pending?: string }>
  readonly keepLogin: (name: string, login: { readonly current?: string; readonly pending?: string }) => Promise<void>
  /** As the engine does when a role's step has settled. */
  readonly recordDone: (name: string, key: string) => Promise<void>
  readonly setConfig: (text: string) => Promise<void>
  readonly close: () => Promise<void>
}

export interface Performed {
  readonly ok: boolean
  readonly changed: boolean | undefined
  readonly address: string | undefined
  readonly warnings: readonly string[]
  readonly log: string
  readonly reason: string | undefined
  readonly fault: string
  /** What the stage told as its result. */
  readonly report?: string
}

export const networkOf = (vlan: number): string => `10.${rangeNumber}.${vlan}`
export const routerName = `${rangeId}-router-debian11-x64`
export const outerAddress = `192.0.2.${100 + rangeNumber}`

const outerVlan = 1

/** What the stage of the router is given, where the range has VLAN 10. */
export const routerInput: Json = {
  interface: 0,
  address: `${outerAddress}/24`,
  gateway: "192.0.2.254",
  dns: ["192.0.2.254"],
  hostname: routerName,
  legs: [{ vlan: 10, address: "10.7.10.254/24" }],
}

const unknown = (doing: string) => new HypervisorFault({ doing, reason: "not-found", detail: "there is no such VM" })

/** Connects, and says so with one byte before all others. */
const connect = `import os, socket, sys, threading
end = socket.create_connection((sys.argv[1], int(sys.argv[2])), 30)
end.settimeout(None)
def up():
    while data := os.read(0, 65536): end.sendall(data)
    end.shutdown(socket.SHUT_WR)
threading.Thread(target=up, daemon=True).start()
os.write(1, b"!")
while data := end.recv(65536): os.write(1, data)`

/** Connects from a network namespace as the service connects from its own. */
export const dialFrom =
  ([program = "", ...before]: readonly string[]): Dial =>
  (address, port) =>
    new Promise((resolve, reject) => {
      const args = [...before, python, "-I", "-c", connect, address, String(port)]
      const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] })
      const refused = () => reject(new Error("connection refused"))
      child.once("exit", refused)
      child.stdout.once("readable", () => {
        if (child.stdout.read(1) === null) return
        child.off("exit", refused)
        const connection = Duplex.from({ readable: child.stdout, writable: child.stdin })
        connection.once("close", () => child.kill("SIGKILL"))
        resolve(connection)
      })
    })

/** `isRouted`: whether the service's host has a way to the range's network; without one there is only the router. */
export const openLab = async ({ tools, ...options }: Partial<PlaybookOptions> = {}, isRouted = true): Promise<Lab> => {
  const folder = await mkdtemp(join(tmpdir(), "rw-lab-"))
  const library = join(folder, "library")
  const hosts = await makeRealHosts({
    password,
    outer: { vlan: outerVlan, address: "192.0.2.254/24" },
    routes: isRouted ? [{ to: `10.${rangeNumber}.0.0/16`, via: outerAddress }] : [],
  })
  const outside = (...command: readonly string[]) => {
    const [program = "", ...args] = [...hosts.outside, ...command]
    execFileSync(program, args)
  }
  const made = new Map<Vmid, { readonly host: RealHost; readonly detail: MachineDetail }>()
  const byName = (name: string) => [...made.values()].find(({ detail }) => detail.name === name)

  const hypervisor = Layer.succeed(Hypervisor, {
    observe: Effect.die("not asked for"),
    observePool: () => Effect.die("not asked for"),
    seek: () => Effect.succeed({ type: "there", node: "node1", power: "running" }),
    blindness: Effect.succeed(undefined),
    quorate: Effect.succeed(true),
    detail: (_node, vmid) => {
      const known = made.get(vmid)
      return known === undefined ? Effect.fail(unknown(`read VM ${vmid}`)) : Effect.succeed(known.detail)
    },
    snapshots: () => Effect.die("not asked for"),
    snapshotCards: () => Effect.die("not asked for"),
    canSnapshot: () => Effect.die("not asked for"),
    disguiseMeans: Effect.die("not asked for"),
    dispatch: () => Effect.die("not asked for"),
    settle: () => Effect.die("not asked for"),
    adopt: () => Effect.die("not asked for"),
    addresses: (_node, vmid) => Effect.promise(async () => (await made.get(vmid)?.host.addresses()) ?? []),
    system: () => Effect.succeed(undefined),
    sessions: () => Effect.succeed(undefined),
    clock: Effect.die("not asked for"),
    version: Effect.succeed("9.0.0"),
  })
  const storage = memoryStorageLayer(makeMemoryStore())
  const needs = Layer.mergeAll(
    hypervisor,
    plainSecrets,
    storage,
    licenseLayer(openLicense),
    memoryLibraryLayer(makeMemoryLibrary()),
  )
  const runtime = ManagedRuntime.make(
    playbookLayer({
      folder: join(folder, "automation"),
      library,
      collections,
      tools: { dial: dialFrom(hosts.outside), ...tools },
      logins: new Map([["debian", { connection: "ssh", user: "root", password }]]),
      ...options,
    }).pipe(Layer.provideMerge(needs)),
  )
  await runtime.runPromise(
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
      yield* (yield* Ranges).create({
        id: rangeId,
        recordId: "lab000000000000" as RecordId,
        number: rangeNumber,
        reservedNumbers: [],
        name: "Lab",
        description: "",
        purpose: "",
        config: "ludus: []\n",
        createdBy: userId,
        owners: [userId],
        createdAt: new Date(0),
      })
    }),
  )

  const register = async (name: string, host: RealHost, nics: MachineDetail["nics"], vmid: Vmid, isRouter: boolean) => {
    const detail: MachineDetail = {
      vmid,
      node: "node1",
      name,
      template: false,
      description: writeDescription({ range: rangeId, machine: name }, [rangeId]),
      tags: [],
      cpus: 2,
      memoryMiB: 2048,
      balloonMiB: undefined,
      nics,
      lock: undefined,
      digest: undefined,
      storage: undefined,
    }
    made.set(vmid, { host, detail })
    await runtime.runPromise(
      Machines.use((machines) =>
        machines.record({
          vmid,
          node: "node1",
          name,
          power: "running",
          template: false,
          pool: rangeId,
          cpus: 2,
          memoryMiB: 2048,
          tags: ["rangewright", ...(isRouter ? [routerTag] : [])],
        }),
      ),
    )
    return host
  }
  const nicOf = (vmid: number, index: number, tag: number) => ({
    index,
    model: "virtio",
    mac: macOf(vmid, index),
    bridge: "vmbr1007",
    tag,
    firewall: false,
  })
  const nextVmid = () => (20_000 + made.size) as Vmid

  return {
    folder,
    library,
    hosts,
    host: (name) => {
      const known = byName(name)
      if (known === undefined) throw new Error(`no host ${name}`)
      return known.host
    },
    addMachine: async ({ name, vlan: place, octet, first }) => {
      const vmid = nextVmid()
      const vlan = place === "near" ? 10 : place
      const nic = nicOf(vmid, 0, vlan)
      const address = first ?? `${networkOf(vlan)}.${octet}/24`
      const gateway = `${networkOf(vlan)}.254`
      if (place === "near") outside("ip", "address", "replace", `${gateway}/24`, "dev", "eth0")
      const plugged = place === "near" ? outerVlan : vlan
      const host = await hosts.add({ name: "template", nics: [{ vlan: plugged, mac: nic.mac, address, gateway }] })
      return register(name, host, [nic], vmid, false)
    },
    addRouter: async (vlans) => {
      const vmid = nextVmid()
      const outer = nicOf(vmid, 0, outerVlan)
      const legs = vlans.map((vlan, i) => nicOf(vmid, i + 1, vlan))
      const host = await hosts.add({
        name: "template",
        nics: [
          { vlan: outerVlan, mac: outer.mac, address: "192.0.2.60/24", gateway: "192.0.2.254" },
          ...legs.map(({ mac, tag }) => ({ vlan: tag, mac })),
        ],
      })
      return register(routerName, host, [outer, ...legs], vmid, true)
    },
    addRole: async (name, files, scope = `users/${userId}`) => {
      for (const [path, text] of Object.entries({ "meta/main.yml": "{}\n", ...files })) {
        const file = join(library, scope, "roles", name, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, text)
      }
    },
    task: (name, stage, input, more = {}) => {
      const known = byName(name)
      if (known === undefined) throw new Error(`no machine ${name}`)
      const { vmid, node } = known.detail
      const machine = { vmid, node, mark: { range: rangeId, machine: name } }
      return { machine, name, os: "linux", stage, input, verbose: false, by: userId, ...more }
    },
    perform: async (task, signal) => {
      let live = ""
      const output = (text: string) => Effect.sync(() => void (live += text))
      const work = GuestAutomation.use((guests) =>
        Effect.flatMap(guests.dispatch(task), ({ token }) => guests.settle({ output, ...task }, token)),
      )
      const exit = await runtime.runPromiseExit(Effect.result(work), signal === undefined ? {} : { signal })
      if (Exit.isFailure(exit))
        return { ok: false, changed: undefined, address: undefined, warnings: [], log: live, reason: "interrupted", fault: "" }
      const result = exit.value
      if (result._tag === "Failure")
        return {
          ok: false,
          changed: undefined,
          address: undefined,
          warnings: [],
          log: live,
          reason: result.failure.facts.reason,
          fault: result.failure.message,
        }
      const { facts, output: rest } = result.success
      const { changed, address, warnings = [], data } = facts
      const { report } = data as { readonly report?: string }
      return {
        ok: true,
        changed,
        address,
        warnings,
        log: live + rest,
        reason: undefined,
        fault: "",
        ...(report === undefined ? {} : { report }),
      }
    },
    login: async (name) => {
      const vmid = byName(name)?.detail.vmid as Vmid
      const kept = (await runtime.runPromise(Machines.use((machines) => machines.logins(rangeId)))).get(vmid)
      const open = (sealed: string | undefined) => (sealed === undefined ? undefined : (JSON.parse(sealed) as string[])[1])
      return JSON.parse(JSON.stringify({ current: open(kept?.current), pending: open(kept?.pending) })) as Record<string, string>
    },
    keepLogin: (name, { current, pending }) => {
      const vmid = byName(name)?.detail.vmid as Vmid
      const seal = (text: string | undefined) =>
        text === undefined ? undefined : JSON.stringify([passwordContext(rangeId, vmid), text])
      const kept = { current: seal(current), pending: seal(pending) }
      return runtime.runPromise(Machines.use((machines) => machines.keepLogin(rangeId, vmid, kept)))
    },
    recordDone: (name, key) => {
      const vmid = byName(name)?.detail.vmid as Vmid
      return runtime.runPromise(Machines.use((machines) => machines.recordStage(rangeId, vmid, key, "done")))
    },
    setConfig: (text) => runtime.runPromise(Ranges.use((ranges) => ranges.setConfig(rangeId, text))),
    close: async () => {
      await runtime.dispose()
      await hosts.remove()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

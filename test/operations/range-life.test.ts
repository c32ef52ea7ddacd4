import { licenseLayer, memoryHypervisorLayer, memoryStorageLayer, openLicense } from "@rangewright/adapter-memory"
import {
  Activity,
  ApiDescription,
  type AppServices,
  type HandlerRequest,
  operations,
  runEngineLayer,
  runPlannerLayer,
  type ServerSentEvent,
  Settings,
} from "@rangewright/application"
import type { GroupName, Range, RangeId, RecordId, User, UserId } from "@rangewright/domain"
import { CredentialHasher, Ranges, SecretStore, TokenSigner, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { labSettings, makeCompany } from "../runs/support/lab.ts"

/** The operations on the real engine and planner, over the memory world and its clock: what a range goes through. */
const makeService = () => {
  const lab = makeCompany()
  const ports = Layer.mergeAll(
    memoryStorageLayer(lab.store),
    memoryHypervisorLayer(lab.world),
    licenseLayer(openLicense),
    Layer.succeed(Settings, labSettings),
    Layer.succeed(Clock.Clock, lab.clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  let texts = 0
  const others = Layer.mergeAll(
    Layer.succeed(ApiDescription, { yaml: "" }),
    Layer.succeed(Activity, { user: () => undefined, range: () => undefined, lastOfRange: () => undefined, flush: Effect.void }),
    Layer.succeed(CredentialHasher, {
      hash: (key) => key,
      verify: (key, hash) => key === hash,
      verifyFirstGeneration: () => Effect.succeed(false),
      equal: (a, b) => a === b,
      randomText: (length) => (++texts).toString(36).padStart(length, "0"),
    }),
    Layer.succeed(SecretStore, { seal: (plain) => plain, open: (sealed) => Effect.succeed(sealed) }),
    Layer.succeed(TokenSigner, { sign: () => Effect.succeed(""), subject: () => undefined, verify: () => Effect.succeed(false) }),
  )
  const engine = runEngineLayer({ owner: "service" }).pipe(Layer.provideMerge(runPlannerLayer), Layer.provideMerge(ports))
  const runtime = ManagedRuntime.make(Layer.merge(engine, others) as Layer.Layer<AppServices>)
  const addUser = (id: string): Promise<User> =>
    runtime.runPromise(
      Effect.flatMap(Users, (users) =>
        users.create({
          id: id as UserId,
          recordId: id.toLowerCase().padStart(15, "0") as RecordId,
          name: id,
          email: `${id}@lab.example`,
          isAdmin: false,
          hypervisorUsername: id.toLowerCase(),
          hypervisorRealm: "pve",
          secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: id },
          createdAt: new Date(0),
        }),
      ),
    )
  const call = async (id: string, user: User, request: Partial<HandlerRequest> = {}): Promise<unknown> => {
    const range = await runtime.runPromise(Effect.flatMap(Ranges, (ranges) => ranges.find("LAB" as RangeId)))
    const operation = operations.find((known) => known.id === id)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    const meta = { requestId: "r", remote: "", lastEventId: undefined }
    const nothing = { path: {}, query: {}, body: undefined, file: undefined, group: undefined }
    return runtime.runPromise(operation.handle({ ...nothing, caller: user, user, range, meta, ...request }))
  }
  return { lab, addUser, call, close: () => runtime.dispose() }
}

interface Shown {
  readonly rangeState: Range["state"]
  readonly numberOfVMs: number
  readonly VMs: readonly { readonly proxmoxID: number; readonly name: string; readonly ip: string; readonly poweredOn: boolean }[]
}

describe("the life of a range", () => {
  let service: ReturnType<typeof makeService>
  let ada: User
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const shown = async () => JSON.parse(new TextDecoder().decode((await call("listRange")) as Uint8Array)) as Shown
  const deployed = async () => {
    const { runID } = (await call("deployRange")) as { readonly runID: string }
    const events = (await call("streamRunEvents", { path: { runID } })) as Stream.Stream<ServerSentEvent>
    await Effect.runPromise(Stream.runDrain(events))
    return call("getRun", { path: { runID } })
  }

  beforeEach(async () => {
    service = makeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    const bytes = new TextEncoder().encode(service.lab.config)
    await call("putConfig", { body: {}, file: { filename: "file", contentType: "", bytes } })
  })
  afterEach(() => service.close())

  it("goes from a configuration to machines with the configured addresses, files that name them, and no drift", async () => {
    expect(await deployed()).toMatchObject({ status: "success" })
    const range = await shown()
    expect(range).toMatchObject({ rangeState: "SUCCESS", numberOfVMs: 6 })
    for (const vm of range.VMs) expect(vm).toMatchObject({ poweredOn: true, ip: expect.stringMatching(/^10\.1\.\d+\.\d+$/u) })
    expect(range.VMs.filter((vm) => vm.ip.endsWith(".254"))).toMatchObject([{ isRouter: true }])
    const { result: hosts } = (await call("getEtcHosts")) as { readonly result: string }
    for (const vm of range.VMs) expect(hosts).toContain(`     ${vm.name}\n`)
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
    expect(await call("planRange")).toMatchObject({ steps: [] })
  })

  it("is switched off and on, by name and as a whole", async () => {
    await deployed()
    const [first] = (await shown()).VMs
    await call("powerOffRange", { body: { machines: [first?.name] } })
    expect((await shown()).VMs.filter((vm) => !vm.poweredOn).map((vm) => vm.name)).toEqual([first?.name])
    await call("powerOffRange", { body: { machines: ["all"] } })
    expect((await shown()).VMs.some((vm) => vm.poweredOn)).toBe(false)
    await call("powerOnRange", { body: { machines: ["all"] } })
    expect((await shown()).VMs.every((vm) => vm.poweredOn)).toBe(true)
  })

  it("is shared while its router runs, and not while it is off", async () => {
    await deployed()
    const bob = await service.addUser("Bob")
    const path = { userID: "Bob", rangeID: "LAB" }
    expect(await call("assignRangeToUser", { path })).toMatchObject({ result: expect.stringContaining("successfully") })
    expect(await service.call("listUserAccessibleRanges", bob)).toMatchObject([{ rangeID: "LAB" }])
    const router = (await shown()).VMs.find((vm) => vm.ip.endsWith(".254"))
    await call("powerOffRange", { body: { machines: [router?.name] } })
    await expect(call("revokeRangeFromUser", { path })).rejects.toMatchObject({ kind: "conflict" })
    await call("revokeRangeFromUser", { path, query: { force: true } })
    expect(await service.call("listUserAccessibleRanges", bob)).toEqual([])
  })

  it("is shared with a group: the router lets its users in until they leave it", async () => {
    await deployed()
    const bob = await service.addUser("Bob")
    const { store, world } = service.lab
    /** What the last run told the router, as text. */
    const told = () => {
      const events = [...store.runs.values()].at(-1)?.entries.map(({ event }) => event) ?? []
      return JSON.stringify(events.flatMap((event) => (event.type === "Planned" ? event.plan.steps : [])))
    }
    await call("createGroup", { body: { name: "red" } })
    const group = store.groups.get("red" as GroupName)?.group
    await call("addRangesToGroup", { group, body: { rangeIDs: ["LAB"] } })
    expect(await call("addUsersToGroup", { group, body: { userIDs: ["Bob"] } })).toEqual({ success: ["Bob"] })
    expect(await service.call("listUserAccessibleRanges", bob)).toMatchObject([{ rangeID: "LAB", accessType: "Group" }])
    expect(told()).toContain("Access Grant: Bob")
    expect(world.grants.get("LAB" as RangeId)).toContain("bob@pve")
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
    expect(await call("removeUsersFromGroup", { group, body: { userIDs: ["Bob"] } })).toEqual({ success: ["Bob"] })
    expect(told()).not.toContain("Access Grant: Bob")
    expect(told()).toContain("Access Grant: Ada")
    expect(world.grants.get("LAB" as RangeId)).not.toContain("bob@pve")
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
  })

  it("loses a machine, then all, then itself, and leaves nothing on the hypervisor", async () => {
    await deployed()
    const web = (await shown()).VMs.at(-1)
    await call("destroyVM", { path: { vmID: web?.proxmoxID } })
    expect((await shown()).numberOfVMs).toBe(5)
    await expect(call("deleteRange")).rejects.toMatchObject({ kind: "conflict" })
    await call("deleteRangeVMs")
    expect(await shown()).toMatchObject({ rangeState: "DESTROYED", numberOfVMs: 0 })
    await call("deleteRange")
    const { world, store } = service.lab
    expect([
      [...world.vms.values()].filter((vm) => !vm.template),
      world.networks.size,
      world.pools.size,
      world.grants.size,
    ]).toEqual([[], 0, 0, 0])
    expect([store.ranges.size, store.runs.size]).toEqual([0, 0])
  })
})

import { commitTo } from "@rangewright/adapter-memory"
import { type HandlerRequest, operations, type Operation, type ServerSentEvents } from "@rangewright/application"
import { type BlueprintId, type GroupName, type RecordId, type SourceId, userPasswordContext } from "@rangewright/domain"
import { Blueprints, ContentFetcher, Groups, Machines, Ranges, SecretStore, Sources, Users } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { readFileSync } from "node:fs"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { makespanCase, makespanSeeds } from "../../bench/makespan-generator.ts"
import { deployLab, makeVirtualLab, owner, type VirtualLab } from "../../bench/virtual-time.ts"

const company = readFileSync(new URL("../../examples/ad-lab.yml", import.meta.url), "utf8")

/** Calls are counted at the hypervisor, whichever part of the service made them. */
const counts = (lab: VirtualLab) => lab.simulator.calls.counts()

/** Machines that the range has at the hypervisor, including the router. */
const machinesOf = (lab: VirtualLab): number =>
  [...lab.simulator.state.guests.values()].filter((guest) => guest.config["template"] !== 1).length

const sourceAt = { type: "git", url: "https://git.example/acme/labs.git" } as const

/** A fetched source of the owner that ships a role. */
const seedSource = Effect.gen(function* () {
  const sources = yield* Sources
  const at = new Date(0)
  const source = yield* sources.create({
    ...sourceAt,
    id: "labs" as SourceId,
    recordId: "source000000000" as RecordId,
    owner,
    ref: "",
    path: "",
    name: "Labs",
    access: undefined,
    schedule: "",
    nextSyncAt: undefined,
    createdAt: at,
  })
  const snapshot = yield* (yield* ContentFetcher).fetch({ location: sourceAt, holder: `source:${source.recordId}` })
  yield* sources.commitSync(source, { snapshot: snapshot.id, syncedAt: at })
})

/** A random range of this many machines, as the benchmarks make them for this many nodes. */
const randomRange = (machines: number, nodes: number): string => {
  const found = makespanSeeds.map(makespanCase).find((range) => range.machines === machines && range.nodes === nodes)
  if (found === undefined) throw new Error(`the generator makes no range of ${machines} machines on ${nodes} nodes`)
  return found.text
}

describe.each([
  ["the example of a company, on one node", { config: company, nodes: 1 }],
  ["the example of a company, on three nodes", { config: company, nodes: 3 }],
  ["eleven random machines on three nodes", { config: randomRange(11, 3), nodes: 3 }],
])("%s", (_name, options) => {
  let lab: VirtualLab
  beforeAll(async () => {
    lab = await makeVirtualLab(options)
  })

  it("takes at most five changing calls for each machine, and again no change and few reads", async () => {
    const first = await deployLab(lab)
    expect([first.state.status, first.state.message]).toEqual(["success", ""])
    const machines = machinesOf(lab)
    expect(machines).toBeGreaterThan(3)
    expect(counts(lab).mutating).toBeGreaterThanOrEqual(3 * machines)
    expect(counts(lab).mutating).toBeLessThanOrEqual(5 * machines)

    lab.simulator.calls.clear()
    const second = await deployLab(lab)
    expect(second.state).toMatchObject({ status: "success", plan: { steps: [] } })
    expect(counts(lab)).toMatchObject({ mutating: 0, agent: 0 })
    expect(counts(lab).reads).toBeLessThanOrEqual(5 + 2 * machines)
  })
})

describe("an API read", () => {
  /** These compare with the current hypervisor, or ask whether it would open a console; that is their purpose. */
  const lookAnew = new Set(["planRange", "getRangeDrift", "getConsoleWebsocketTicket"])
  /**
   * These fail, since nobody has built a template or has a thumbnail here, and this service runs without the checks of the
   * installation, which do ask the hypervisor; the refusals take no call, either.
   */
  const failing = new Set(["getDoctor", "getPackerLogs", "getTemplateLogHistoryByID", "getTemplatePicture"])
  const reads = operations.filter(({ route, mutates }) => route.method === "GET" && !mutates)

  let lab: VirtualLab
  let request: HandlerRequest
  beforeAll(async () => {
    lab = await makeVirtualLab({ config: company })
    commitTo(lab.artifacts.content, sourceAt.url, {
      "source.yml": "name: Labs\n",
      "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello, description: Says hello}\n",
    })
    const { runId } = await deployLab(lab)
    const [user, range, group, machine] = await lab.run(
      Effect.gen(function* () {
        const users = yield* Users
        const sealedPassword = (yield* SecretStore).seal("a long password", userPasswordContext(owner))
        yield* users.setSecrets(owner, { sealedPassword })
        yield* users.change(owner, { defaultRangeId: lab.range.id })
        yield* seedSource
        const group = yield* (yield* Groups).create({
          name: "red" as GroupName,
          recordId: "groupred0000000" as RecordId,
          description: "",
          createdAt: new Date(0),
        })
        yield* (yield* Blueprints).create({
          id: "web" as BlueprintId,
          recordId: "blueprint000000" as RecordId,
          owner,
          name: "Web",
          description: "",
          version: "1.0.0",
          tags: [],
          minVersion: "",
          config: company,
          requirements: undefined,
          bundle: undefined,
          thumbnail: { name: "web_x.png", type: "image/png", bytes: new Uint8Array([1]) },
          createdAt: new Date(0),
        })
        const [first] = yield* (yield* Machines).ofRange(lab.range.id)
        return [yield* users.find(owner), yield* (yield* Ranges).find(lab.range.id), group, first] as const
      }),
    )
    const file = { collection: "blueprints", recordID: "blueprint000000", filename: "web_x.png" }
    const blueprint = { blueprintID: "web", ...file }
    const path = {
      groupName: "red",
      rangeID: lab.range.id,
      userID: owner,
      sourceID: "labs",
      runID: runId,
      logID: runId,
      vmID: machine?.vmid,
      name: "kali",
      ...blueprint,
    }
    const meta = { requestId: "r", remote: "", lastEventId: undefined }
    request = { path, query: { VMID: machine?.vmid }, body: undefined, file: undefined, caller: user, user, range, group, meta }
  })
  beforeEach(() => lab.simulator.calls.clear())

  /** Reads the handler's whole answer; of an endless one, the beginning. */
  const answer = (operation: Operation): Promise<void> => {
    const begun = Deferred.makeUnsafe<void>()
    const reader = { send: () => Deferred.doneUnsafe(begun, Exit.void), hasRoom: () => true, room: Effect.void }
    const read = Effect.flatMap(operation.handle(request), (answered) => {
      if (operation.output.type !== "events") return Effect.void
      const events = (answered as ServerSentEvents)(reader)
      return operation.id === "streamEvents" ? Effect.raceFirst(events, Deferred.await(begun)) : events
    })
    return lab.run(failing.has(operation.id) ? Effect.asVoid(Effect.flip(read)) : read)
  }

  it.each(reads.filter(({ id }) => !lookAnew.has(id)).map((operation) => [operation.id, operation] as const))(
    "makes no call to the hypervisor: %s",
    async (_id, operation) => {
      await answer(operation)
      expect(counts(lab)).toMatchObject({ total: 0 })
    },
  )

  it.each(reads.filter(({ id }) => lookAnew.has(id)).map((operation) => [operation.id, operation] as const))(
    "that compares with the hypervisor changes nothing there: %s",
    async (_id, operation) => {
      await answer(operation)
      expect(counts(lab).reads).toBeGreaterThan(0)
      expect(counts(lab)).toMatchObject({ mutating: 0, agent: 0 })
    },
  )
})

import { randomBytes } from "node:crypto"
import { type AppServices, operations, type Operation, rangeRequest } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import type {
  BlueprintId,
  Fault,
  GroupName,
  ObservedMachine,
  RangeId,
  RecordId,
  SourceId,
  UserId,
  Vmid,
} from "@rangewright/domain"
import { wholeDeploy } from "@rangewright/domain"
import { Blueprints, Groups, Machines, Ranges, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { afterAll, beforeAll, expect, it } from "vitest"
import { ask } from "./ask.ts"
import { bodyOf, needsRunning, pathOf, type Sample, sampleOf } from "./requests.ts"
import { config, startWholeService, type WholeService } from "./service.ts"

/** A random text that no answer contains by chance. */
const word = (): string => `zq${randomBytes(5).toString("hex")}`
const record = (): RecordId => randomBytes(8).toString("hex").slice(0, 15) as RecordId

/** The objects of another tenant and their names. */
const theirs = {
  user: word(),
  userName: word(),
  account: word(),
  email: `${word()}@${word()}.example`,
  range: word(),
  rangeBelow: "",
  rangeName: word(),
  machine: word(),
  vmid: 271_828_182,
  group: word(),
  blueprint: `${word()}/${word()}`,
  blueprintName: word(),
  source: word(),
  sourceUrl: `https://${word()}.example/${word()}.git`,
  userRecord: record(),
  rangeRecord: record(),
  groupRecord: record(),
  blueprintRecord: record(),
  sourceRecord: record(),
}
theirs.rangeBelow = `${theirs.range}/${word()}`

const at = new Date("2026-01-02T03:04:05Z")
const deploy = { kind: "deploy", options: { ...wholeDeploy, verbose: false } } as const

const seedOther = Effect.gen(function* () {
  const ranges = yield* Ranges
  const userId = theirs.user as UserId
  yield* (yield* Users).create({
    id: userId,
    recordId: theirs.userRecord,
    name: theirs.userName,
    email: theirs.email,
    isAdmin: false,
    hypervisorUsername: theirs.account,
    hypervisorRealm: "pve",
    secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "k" },
    createdAt: at,
  })
  const text = { name: theirs.rangeName, description: theirs.rangeName, purpose: theirs.rangeName, config }
  const kept = { number: undefined, reservedNumbers: [], createdBy: userId, owners: [userId], createdAt: at }
  const range = yield* ranges.create({ ...text, ...kept, id: theirs.range as RangeId, recordId: theirs.rangeRecord })
  yield* ranges.create({ ...text, ...kept, id: theirs.rangeBelow as RangeId, recordId: record() })
  const groups = yield* Groups
  yield* groups.create({ name: theirs.group as GroupName, recordId: theirs.groupRecord, description: "", createdAt: at })
  yield* groups.setRoles(theirs.group as GroupName, new Map([[userId, "manager"]] as const))
  yield* groups.addRange(theirs.group as GroupName, range.id)
  yield* (yield* Blueprints).create({
    id: theirs.blueprint as BlueprintId,
    recordId: theirs.blueprintRecord,
    owner: userId,
    name: theirs.blueprintName,
    description: "",
    version: "1.0.0",
    tags: [],
    minVersion: "",
    config,
    requirements: undefined,
    bundle: undefined,
    thumbnail: undefined,
    createdAt: at,
  })
  yield* (yield* Sources).create({
    id: theirs.source as SourceId,
    recordId: theirs.sourceRecord,
    owner: userId,
    type: "git",
    url: theirs.sourceUrl,
    ref: "HEAD",
    path: "",
    name: theirs.source,
    access: undefined,
    schedule: undefined,
    nextSyncAt: undefined,
    createdAt: at,
  })
  const machines = yield* Machines
  const machine = { node: "node1", power: "running", cpus: 1, memoryMiB: 1024, tags: [], pool: range.id } as const
  const own: readonly ObservedMachine[] = [
    { ...machine, vmid: theirs.vmid as Vmid, name: theirs.machine, template: false },
    { ...machine, vmid: (theirs.vmid + 1) as Vmid, name: `${theirs.machine}-template`, template: true },
  ]
  for (const one of own) yield* machines.record(one)
  return (yield* (yield* RunEngine).start(rangeRequest(range, deploy), userId)).id
})

let service: WholeService
/** Names that may be sent to see what comes back. */
let named: readonly string[]
/** Names that must not come back unless the request had them. */
const secret = Object.values(theirs).map(String)

const run = async <A>(effect: Effect.Effect<A, Fault, AppServices>): Promise<A> => {
  const exit = await Effect.runPromise(Fiber.await(service.run(effect)))
  if (Exit.isFailure(exit)) throw new Error(String(exit.cause))
  return exit.value
}

beforeAll(async () => {
  service = await startWholeService()
  named = [...secret, await run(seedOther)]
})
afterAll(() => service.stop())

/** Every way to replace one text of a request by another, including selectors. */
const variants = function* (operation: Operation, sample: Sample, text: string): Generator<Sample> {
  for (const name of Object.keys(operation.input.path)) yield { ...sample, path: { ...sample.path, [name]: text } }
  for (const name of ["rangeID", "userID", ...Object.keys(operation.input.query)])
    yield { ...sample, query: { ...sample.query, [name]: text } }
  if (sample.file !== undefined) {
    yield { ...sample, file: sample.file.replaceAll("{{ range_id }}", text) }
    yield { ...sample, file: sample.file.replaceAll("win11-template", `${text}-template`) }
  }
  const { json } = sample
  if (typeof json !== "object" || json === null) return
  for (const [name, value] of Object.entries(json)) {
    if (typeof value === "string") yield { ...sample, json: { ...json, [name]: text } }
    if (Array.isArray(value)) yield { ...sample, json: { ...json, [name]: [text] } }
  }
}

const send = async (operation: Operation, sample: Sample, key: string) => {
  const init = bodyOf(operation, sample)
  const response = await ask(service.url + pathOf(operation, sample), {
    ...init,
    method: operation.route.method,
    headers: { ...(init.headers as Record<string, string>), "x-api-key": key },
  })
  return { status: response.status, text: await response.text() }
}

/** The parts of an answer that report failures: all of a refusal, and the reasons for single items of a bulk change. */
const refusalIn = ({ status, text }: Awaited<ReturnType<typeof send>>): string => {
  if (status >= 400) return text
  const { errors } = text.startsWith("{") ? (JSON.parse(text) as { readonly errors?: unknown }) : {}
  return errors === undefined ? "" : JSON.stringify(errors)
}

const tellsOf = (text: string, sent: string): readonly string[] =>
  secret.filter((name) => text.toLowerCase().includes(name.toLowerCase()) && !sent.includes(name))

// removals last, so that most objects exist while the others are tried; a new key would void the one in use
const tried = operations
  .filter(({ id }) => id !== "getAPIKey" && id !== "postCredentials")
  .filter((operation) => operation.access !== "anonymous" && operation.output.type !== "events" && !needsRunning(operation))
  .toSorted((a, b) => Number(a.route.method === "DELETE") - Number(b.route.method === "DELETE"))

it.each(["member", "stranger"] as const)("a %s reads nothing of another tenant", async (who) => {
  for (const operation of tried.filter(({ route }) => route.method === "GET")) {
    const sample = sampleOf(operation, service.runId)
    const { text } = await send(operation, sample, service.keys[who])
    expect([operation.id, ...tellsOf(text, "")]).toEqual([operation.id])
  }
})

it.each(["stranger", "member"] as const)(
  "no refusal to a %s names anything of another tenant unless the request did",
  { timeout: 300_000 },
  async (who) => {
    const leaks = new Map<string, string>()
    let refused = 0
    for (const operation of tried) {
      const plain = sampleOf(operation, service.runId)
      for (const text of named)
        for (const sample of variants(operation, plain, text)) {
          const refusal = refusalIn(await send(operation, sample, service.keys[who]))
          if (refusal !== "") refused++
          expect(refusal).not.toContain("API key is not valid")
          const told = tellsOf(refusal, JSON.stringify(sample))
          if (told.length > 0) leaks.set(operation.id, `${JSON.stringify(sample)}: ${told.join(", ")} in ${refusal}`)
        }
    }
    expect(Object.fromEntries(leaks)).toEqual({})
    expect(refused).toBeGreaterThan(1000)
    expect(service.defects).toEqual([])
  },
)

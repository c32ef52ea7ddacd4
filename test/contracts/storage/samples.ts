import type {
  BlueprintId,
  Group,
  GroupName,
  ObservedCluster,
  ObservedMachine,
  Plan,
  RangeId,
  RecordId,
  RunHead,
  RunId,
  SourceId,
  UserId,
  Vmid,
} from "@rangewright/domain"
import { type NewBlueprint, type NewRange, type NewSource, type NewUser, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { startedAt } from "./storage-under-test.ts"

export const userId = (text: string): UserId => text as UserId
export const rangeId = (text: string): RangeId => text as RangeId
export const runId = (text: string): RunId => text.padEnd(15, "0") as RunId
export const vmid = (n: number): Vmid => n as Vmid
/** Correct adapters keep any text unchanged: a NUL, half a surrogate pair, quotes, and what looks like an escape. */
export const hostileText = "a\u0000b \ud800 c' \" \\ ? $1 :x `d` \u0001 é😀\u2028 __proto__"
export const hostileTexts = [hostileText, "\u0001", '\u0001"x"', "\u0000", "", " "]

/** A unique record id for each text of up to 14 letters and digits. */
const recordOf = (text: string): RecordId => `${text.toLowerCase().replaceAll(/[^a-z0-9]/gu, "")}z`.padEnd(15, "0") as RecordId

/** Names of groups that differ only in case are different names. */
const groupRecordOf = (name: string): RecordId =>
  recordOf([...name].map((letter) => (letter === letter.toLowerCase() ? letter : `${letter}9`)).join(""))

export const newUser = (id: string, over: Partial<NewUser> = {}): NewUser => ({
  id: userId(id),
  recordId: recordOf(id),
  name: `Name of ${id}`,
  email: `${id}@example.test`,
  isAdmin: false,
  hypervisorUsername: id.toLowerCase(),
  hypervisorRealm: "pve",
  secrets: { apiKeyHash: `hash of ${id}`, sealedPassword: undefined, tokenKey: `key of ${id}` },
  createdAt: startedAt,
  ...over,
})

export const newRange = (id: string, over: Partial<NewRange> = {}): NewRange => ({
  id: rangeId(id),
  recordId: recordOf(`range ${id}`),
  number: undefined,
  reservedNumbers: [],
  name: `Name of ${id}`,
  description: "",
  purpose: "",
  config: "ludus: []\n",
  createdBy: undefined,
  owners: [],
  createdAt: startedAt,
  ...over,
})

export const newGroup = (name: string, over: Partial<Group> = {}): Group => ({
  name: name as GroupName,
  recordId: groupRecordOf(name),
  description: "",
  createdAt: startedAt,
  ...over,
})

export const newBlueprint = (id: string, over: Partial<NewBlueprint> = {}): NewBlueprint => ({
  id: id as BlueprintId,
  recordId: recordOf(`bp ${id}`),
  owner: userId("alice"),
  name: `Name of ${id}`,
  description: "",
  version: "1.0.0",
  tags: [],
  minVersion: "",
  config: "ludus: []\n",
  requirements: undefined,
  bundle: undefined,
  thumbnail: undefined,
  createdAt: startedAt,
  ...over,
})

export const newSource = (id: string, over: Partial<NewSource> = {}): NewSource => ({
  id: id as SourceId,
  recordId: recordOf(`src ${id}`),
  owner: userId("alice"),
  type: "git",
  url: "https://git.example/acme/labs.git",
  ref: "HEAD",
  path: "",
  name: id,
  access: undefined,
  schedule: undefined,
  nextSyncAt: undefined,
  createdAt: startedAt,
  ...over,
})

export const machine = (id: number, over: Partial<ObservedMachine> = {}): ObservedMachine => ({
  vmid: vmid(id),
  node: "node1",
  name: `vm-${id}`,
  power: "running",
  template: false,
  pool: "LAB",
  cpus: 2,
  memoryMiB: 2048,
  tags: ["rangewright"],
  ...over,
})

export const cluster = (at: Date, machines: readonly ObservedMachine[]): ObservedCluster => ({
  at,
  nodes: [{ name: "node1", online: true, cpus: 8, cpuLoad: 0.25, memoryMiB: 65_536, memoryUsedMiB: 1024 }],
  storages: [
    {
      name: "local",
      node: "node1",
      type: "dir",
      shared: false,
      active: true,
      totalBytes: 10 ** 12,
      usedBytes: 1,
      content: ["images"],
    },
  ],
  machines,
})

export const deployRun = (id: string, over: Partial<RunHead> = {}): RunHead => ({
  id: runId(id),
  kind: "deploy",
  subject: { type: "range", id: rangeId("LAB") },
  by: userId("alice"),
  options: { tags: ["network"], limit: "", force: false, deep: { none: null } },
  startedAt,
  ...over,
})

export const plan: Plan = {
  rangeId: rangeId("LAB"),
  steps: [
    {
      key: "clone:dc",
      title: `Clone ${hostileText}`,
      tag: "vm-deploy",
      machine: "dc",
      action: { kind: "remove-pool", poolId: rangeId("LAB") },
      after: [],
      uses: [{ resource: "clone@local", slots: 4 }],
      estimate: 4,
    },
  ],
  changes: [],
  placements: [],
  allocations: [],
  notes: [],
  criticalPathSeconds: 4,
}

/** One user and a range of theirs. */
export const aliceWithLab = Effect.gen(function* () {
  const user = yield* (yield* Users).create(newUser("alice"))
  const range = yield* (yield* Ranges).create(newRange("LAB", { owners: [user.id], createdBy: user.id }))
  return { user, range }
})

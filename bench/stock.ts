/** The content of the store and of the hypervisor for benchmarks: 100 ranges and 1,000 VMs, or as many as BENCH_STOCK says. */
import type { ObservedMachine, RangeId, RecordId, UserId, Vmid } from "@rangewright/domain"
import { CredentialHasher, Machines, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** `RANGESxVMS`, VMs per range. The member's default range always has 10 VMs. */
export const stockVariable = "BENCH_STOCK"
const [rangeCount = 0, vmsOfOthers = 0] = (process.env[stockVariable] ?? "100x10").split("x").map(Number)
const ownRange = 7
const vmsOf = (range: number): number => (range === ownRange ? 10 : vmsOfOthers)
const node = "pve"

/** An administrator, and a member who has every range. */
const people = ["AD", "ME"] as const
/** Members among whom the ranges are divided; each may have 32 event streams. */
export const followers = Array.from({ length: 16 }, (_, n) => `FO${n}`)
export const keyOf = (id: string) => `${id}.${"k".repeat(40)}`

const recordId = (text: string) => text.toLowerCase().padStart(15, "0") as RecordId

const vm = (range: number, n: number): ObservedMachine => ({
  vmid: (20_000 + range * vmsOfOthers + n) as Vmid,
  node,
  name: `R${range}-machine-${n}`,
  power: n % 2 === 0 ? "running" : "stopped",
  template: false,
  pool: `R${range}` as RangeId,
  cpus: 4,
  memoryMiB: 8192,
  tags: ["rangewright"],
})

/** All VMs, as the hypervisor shows them. */
export const stockedMachines: readonly ObservedMachine[] = Array.from({ length: rangeCount }, (_, range) =>
  Array.from({ length: vmsOf(range) }, (__, n) => vm(range, n)),
).flat()

/** Puts users, ranges and VMs into an empty store. */
export const stock = Effect.gen(function* () {
  const users = yield* Users
  const ranges = yield* Ranges
  const hasher = yield* CredentialHasher
  const createdAt = new Date()
  for (const id of [...people, ...followers])
    yield* users.create({
      id: id as UserId,
      recordId: recordId(id),
      name: id,
      email: `${id}@lab.example`,
      isAdmin: id === "AD",
      hypervisorUsername: id.toLowerCase(),
      hypervisorRealm: "pve",
      secrets: { apiKeyHash: hasher.hash(keyOf(id)), sealedPassword: undefined, tokenKey: id },
      createdAt,
    })
  for (let n = 0; n < rangeCount; n++)
    yield* ranges.create({
      id: `R${n}` as RangeId,
      recordId: recordId(`R${n}`),
      number: n + 1,
      reservedNumbers: [],
      name: `Range ${n}`,
      description: "one of many",
      purpose: "benchmark",
      config: "ludus: []\n",
      createdBy: "AD" as UserId,
      owners: ["ME", followers[n % followers.length]] as UserId[],
      createdAt,
    })
  yield* users.change("ME" as UserId, { defaultRangeId: `R${ownRange}` as RangeId })
  yield* (yield* Machines).replace({ at: new Date(), nodes: [], storages: [], machines: stockedMachines })
})

/** What is stored, and what the hypervisor has, where benchmarks ask for 100 ranges and 1,000 VMs. */
import type { ObservedMachine, RangeId, RecordId, UserId, Vmid } from "@rangewright/domain"
import { CredentialHasher, Machines, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"

const rangeCount = 100
const vmsEach = 10
const node = "pve"

/** An administrator, and a member who has every range. */
export const people = ["AD", "ME"] as const
export const keyOf = (id: (typeof people)[number]) => `${id}.${"k".repeat(40)}`

const recordId = (text: string) => text.toLowerCase().padStart(15, "0") as RecordId

const vm = (range: number, n: number): ObservedMachine => ({
  vmid: (20_000 + range * vmsEach + n) as Vmid,
  node,
  name: `R${range}-machine-${n}`,
  power: n % 2 === 0 ? "running" : "stopped",
  template: false,
  pool: `R${range}` as RangeId,
  cpus: 4,
  memoryMiB: 8192,
  tags: ["rangewright"],
})

/** Every VM, as the hypervisor shows it. */
export const stockedMachines: readonly ObservedMachine[] = Array.from({ length: rangeCount }, (_, range) =>
  Array.from({ length: vmsEach }, (__, n) => vm(range, n)),
).flat()

/** Puts users, ranges and VMs into an empty store. */
export const stock = Effect.gen(function* () {
  const users = yield* Users
  const ranges = yield* Ranges
  const hasher = yield* CredentialHasher
  const createdAt = new Date()
  for (const id of people)
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
      owners: ["ME" as UserId],
      createdAt,
    })
  yield* users.change("ME" as UserId, { defaultRangeId: "R7" as RangeId })
  yield* (yield* Machines).replace({ at: new Date(), nodes: [], storages: [], machines: stockedMachines })
})

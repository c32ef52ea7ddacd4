import {
  type AccessChange,
  type AccessPlace,
  type AccountId,
  type AccountKeep,
  adminGroup,
  groupOfAccount,
  type Json,
  type NetworkSpec,
  type RangeId,
  userGroup,
} from "@rangewright/domain"
import {
  GuestAutomation,
  type GuestFault,
  type GuestTask,
  HypervisorAccess,
  type HypervisorFault,
  type HypervisorNetwork,
  type NetworkAction,
} from "@rangewright/ports"
import type { Fault } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { bridgeOf, networkAction, networkNamed, performOn } from "./network.contract.ts"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import {
  cloneOf,
  configureOf,
  type HypervisorPorts,
  perform,
  rangeId,
  refOf,
  removeOf,
  rollBackOf,
  startOf,
  takeOf,
} from "./support/under-test.ts"

type Failing = Effect.Effect<unknown, HypervisorFault | GuestFault, HypervisorPorts>

/** A change, the requests that it makes, and how to see that it is done. */
interface Deed {
  readonly title: string
  readonly requests: readonly { readonly method: string; readonly path: string }[]
  readonly prepare?: (rig: Rig) => Promise<unknown>
  readonly act: (rig: Rig) => Failing
  readonly done: (rig: Rig) => Promise<boolean>
}

const access = <A>(use: (port: HypervisorAccess["Service"]) => Effect.Effect<A, HypervisorFault>) => HypervisorAccess.use(use)
const root = (rig: Rig, method: string, path: string, form = "") =>
  rig.run(Effect.promise(() => asRoot(rig.sim, method, path, form)))

const vnet: Extract<NetworkSpec, { readonly type: "vnet" }> = {
  type: "vnet",
  name: "r1",
  zone: "ludus",
  tag: 101,
  alias: "rangewright LAB1",
}
const withZone = async (rig: Rig) => {
  await root(rig, "POST", "/cluster/sdn/zones", "type=vxlan&zone=ludus&peers=10.0.0.2%2C10.0.0.3")
  await root(rig, "PUT", "/cluster/sdn")
  await rig.run(Effect.sleep("30 seconds"))
}
const usable = async (rig: Rig, name: string) => (await rig.run(networkNamed(name)))?.usable === true
const gone = async (rig: Rig, name: string) => (await rig.run(networkNamed(name))) === undefined

const network =
  (action: (rig: Rig) => NetworkAction): ((rig: Rig) => Effect.Effect<unknown, HypervisorFault, HypervisorNetwork>) =>
  (rig) =>
    performOn(action(rig))

const stage = (rig: Rig): GuestTask => ({
  machine: refOf(rig),
  name: "LAB1-vm20001",
  os: "linux",
  stage: "role",
  input: { role: "web" } as Json,
  verbose: false,
})

const account = "bob@pve" as AccountId
const group = groupOfAccount(account)
const place: AccessPlace = { type: "pool", rangeId }
const keep: AccountKeep = { groups: ["theirs"], rights: [{ path: "/vms", role: "PVEAuditor", propagate: true }] }
const apply = (change: AccessChange, password = "a good password") =>
  access((port) => port.apply(change, Redacted.make(password)))
const making = { account, groups: [userGroup, group], keep } as const

/** Everything visible about access, in one text. */
const seen = (rig: Rig): Promise<string> =>
  rig.run(
    Effect.map(
      access((port) => port.observe(undefined)),
      ({ accounts, groups, pools, rights }) =>
        JSON.stringify([
          [...accounts].map(([id, { groups: in_, keep: kept }]) => [id, in_.toSorted(), kept]),
          [...groups],
          [...pools],
          rights,
        ]),
    ),
  )

const prepared = async (rig: Rig) => {
  await rig.others.group("theirs")
  await rig.run(
    Effect.forEach(
      [
        { kind: "create-group", group },
        { kind: "create-group", group: userGroup },
        { kind: "create-pool", rangeId },
      ] as const,
      (change) => apply(change),
    ),
  )
}
const withAccount = async (rig: Rig) => {
  await prepared(rig)
  await rig.run(Effect.andThen(apply({ kind: "create-account", ...making }), apply({ kind: "grant", place, groups: [group] })))
}

/** A change of access: `done` when everything is as in a run without lost answers. */
const accessDeed = (
  change: AccessChange,
  requests: readonly string[],
  prepare: (rig: Rig) => Promise<unknown> = withAccount,
  password = "another good password",
): Deed => ({
  title: `access: ${change.kind}`,
  requests: requests.map((request) => {
    const [method = "", path = ""] = request.split(" ")
    return { method, path }
  }),
  prepare,
  act: () => apply(change, password),
  done: async (rig) => {
    const calm = makeRig({ nodes: 2 })
    await prepare(calm)
    await calm.run(apply(change, password))
    const isMade = change.kind === "create-account" || change.kind === "set-password"
    const same = (await seen(rig)) === (await seen(calm)) && (!isMade || (await rig.others.letsIn(account, password)))
    await calm.close()
    return same
  },
})

const accessDeeds: readonly Deed[] = [
  accessDeed({ kind: "create-group", group: adminGroup }, ["POST /access/groups"]),
  accessDeed({ kind: "create-pool", rangeId: "OTHER" as RangeId }, ["POST /pools"]),
  accessDeed({ kind: "create-account", ...making }, ["POST /access/users", "PUT /access/acl"], prepared),
  accessDeed({ kind: "set-password", ...making }, [
    "PUT /access/users/*",
    "PUT /access/acl",
    "DELETE /access/users/*",
    "POST /access/users",
  ]),
  accessDeed({ kind: "restore", account, keep }, ["PUT /access/users/*", "PUT /access/acl"]),
  accessDeed({ kind: "join-groups", account, groups: ["theirs"] }, ["PUT /access/users/*"]),
  accessDeed({ kind: "grant", place: { type: "vnet", zone: "ludus", name: "r7" }, groups: [group] }, ["PUT /access/acl"]),
  accessDeed({ kind: "revoke", place, subjects: [{ type: "group", name: group }] }, ["PUT /access/acl"]),
  accessDeed({ kind: "leave-groups", account, groups: [group] }, ["PUT /access/users/*"]),
  accessDeed({ kind: "remove-account", account }, ["DELETE /access/users/*"]),
  accessDeed({ kind: "remove-group", group }, ["DELETE /access/groups/*"]),
  accessDeed({ kind: "remove-pool", rangeId }, ["DELETE /pools"]),
]

const withMachine = (rig: Rig) =>
  rig.run(
    Effect.gen(function* () {
      yield* access((port) => port.ensurePool(rangeId))
      yield* perform(cloneOf(rig, refOf(rig)))
    }),
  )
const withSnapshot = async (rig: Rig) => {
  await withMachine(rig)
  await rig.run(perform(takeOf(refOf(rig))))
}
const snapshotsOf = (rig: Rig) => [...(rig.sim.guest(refOf(rig).vmid)?.snapshots.keys() ?? [])]

const snapshotDeeds: readonly Deed[] = [
  {
    title: "taking a snapshot",
    requests: [{ method: "POST", path: "/nodes/*/qemu/*/snapshot" }],
    prepare: withMachine,
    act: (rig) => perform(takeOf(refOf(rig))),
    done: async (rig) => snapshotsOf(rig).join() === "clean",
  },
  {
    title: "rolling back",
    requests: [{ method: "POST", path: "/nodes/*/qemu/*/snapshot/*/rollback" }],
    prepare: async (rig) => {
      await withSnapshot(rig)
      await rig.run(perform(configureOf(refOf(rig))))
    },
    act: (rig) => perform(rollBackOf(refOf(rig))),
    done: async (rig) => rig.sim.guest(refOf(rig).vmid)?.config["cores"] !== configureOf(refOf(rig)).settings.cpus,
  },
  {
    title: "removing a snapshot",
    requests: [{ method: "DELETE", path: "/nodes/*/qemu/*/snapshot/*" }],
    prepare: withSnapshot,
    act: (rig) => perform(removeOf(refOf(rig))),
    done: async (rig) => snapshotsOf(rig).length === 0,
  },
]

const deeds: readonly Deed[] = [
  ...snapshotDeeds,
  {
    title: "making a bridge",
    requests: [
      { method: "POST", path: "/nodes/*/network" },
      { method: "PUT", path: "/nodes/*/network" },
    ],
    act: network((rig) => networkAction("create-network", bridgeOf(rig))),
    done: (rig) => usable(rig, "vmbr1001"),
  },
  {
    title: "removing a bridge",
    requests: [
      { method: "DELETE", path: "/nodes/*/network/*" },
      { method: "PUT", path: "/nodes/*/network" },
    ],
    prepare: (rig) => rig.run(performOn(networkAction("create-network", bridgeOf(rig)))),
    act: network((rig) => networkAction("remove-network", bridgeOf(rig))),
    done: (rig) => gone(rig, "vmbr1001"),
  },
  {
    title: "making a VNet",
    requests: [
      { method: "POST", path: "/cluster/sdn/vnets" },
      { method: "PUT", path: "/cluster/sdn" },
    ],
    prepare: withZone,
    act: network(() => networkAction("create-network", vnet)),
    done: (rig) => usable(rig, "r1"),
  },
  {
    title: "removing a VNet",
    requests: [
      { method: "DELETE", path: "/cluster/sdn/vnets/*" },
      { method: "PUT", path: "/cluster/sdn" },
    ],
    prepare: async (rig) => {
      await withZone(rig)
      await rig.run(performOn(networkAction("create-network", vnet)))
    },
    act: network(() => networkAction("remove-network", vnet)),
    done: (rig) => gone(rig, "r1"),
  },
  ...accessDeeds,
  {
    title: "running a stage",
    requests: [
      { method: "POST", path: "/nodes/*/qemu/*/agent/exec" },
      { method: "GET", path: "/nodes/*/qemu/*/agent/exec-status" },
    ],
    prepare: (rig) =>
      rig.run(
        Effect.gen(function* () {
          yield* access((port) => port.ensurePool(rangeId))
          yield* perform(cloneOf(rig, refOf(rig)))
          yield* perform(configureOf(refOf(rig)))
          yield* perform(startOf(refOf(rig), true))
        }),
      ),
    act: (rig) =>
      GuestAutomation.use((guests) =>
        Effect.flatMap(guests.dispatch(stage(rig)), ({ token }) => guests.settle(stage(rig), token)),
      ),
    done: (rig) =>
      rig.run(
        Effect.map(
          GuestAutomation.use((guests) =>
            Effect.flatMap(guests.dispatch(stage(rig)), ({ token }) => guests.settle(stage(rig), token)),
          ),
          ({ facts }) => facts.changed === false,
        ),
      ),
  },
]

const failures: readonly (readonly [string, (match: Deed["requests"][number]) => Fault])[] = [
  ["a reset before the effect", (match) => ({ kind: "drop", match, when: "before" })],
  ["a reset after the effect", (match) => ({ kind: "drop", match, when: "after" })],
  ["596 after the effect", (match) => ({ kind: "respond", match, when: "after", status: 596, message: "" })],
  ["garbage after the effect", (match) => ({ kind: "garbage", match, when: "after" })],
  ["a lock", (match) => ({ kind: "respond", match, when: "before", status: 500, message: "got lock request timeout" })],
  ["no quorum", (match) => ({ kind: "respond", match, when: "before", status: 500, message: "no quorum" })],
]

/** Reasons after which repeating it is right. */
const passing = new Set(["unknown-effect", "away", "locked", "no-quorum"])

describe("a lost or refused answer", () => {
  for (const deed of deeds)
    for (const request of deed.requests)
      for (const [what, fault] of failures)
        it(`${deed.title}, ${what} at ${request.method} ${request.path}: succeeds or reports a temporary reason, and is done when repeated`, async () => {
          const rig = makeRig({ nodes: 2 })
          await deed.prepare?.(rig)
          rig.sim.faults.add(fault(request))
          const first = await rig.run(
            Effect.match(deed.act(rig), { onSuccess: () => "unknown-effect", onFailure: ({ facts }) => facts.reason }),
          )
          expect(passing.has(first)).toBe(true)
          const next = rig.restarted()
          await next.run(deed.act(next))
          expect(await deed.done(next)).toBe(true)
          expect(rig.sim.faults.list()).toEqual([])
          await rig.close()
        })
})

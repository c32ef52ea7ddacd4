import * as Schema from "effect/Schema"
import { expect, test } from "vitest"
import {
  aboutToHold,
  type AccessChange,
  AccessChangeJson,
  type AccessEntry,
  type AccessSubject,
  type AccountId,
  type AccountKeep,
  adminGroup,
  changesOf,
  concernsAccount,
  concernsRange,
  type DesiredAccess,
  desiredAccess,
  groupOfAccount,
  type HeldAccess,
  heldInLine,
  nothingHeld,
  type ObservedAccess,
  type ObservedAccount,
  phasesOf,
  planAccess,
  type RangeId,
  stillWanted,
  type StoredAccess,
  takeBack,
  userGroup,
  type UserId,
  type Vmid,
} from "../src/index.ts"

const alice = "alice@pve" as AccountId
const lab = "LAB" as RangeId
const user: StoredAccess["users"][number] = { id: "alice" as UserId, account: alice, isAdmin: false, passwordVersion: "1" }
const range: StoredAccess["ranges"][number] = { id: lab, number: 1, users: [user.id], machines: [], leaving: false }
const labsVnet = ["/sdn/zones/ludus/r1", "rangewright LAB"] as const
/** Nothing of access, and the VNet that a deploy of LAB has made. */
const empty: ObservedAccess = {
  accounts: new Map(),
  groups: new Map(),
  pools: new Map(),
  vnets: new Map([labsVnet]),
  rights: [],
}

const desire = (users: StoredAccess["users"], ranges: StoredAccess["ranges"]): DesiredAccess =>
  desiredAccess({ users, ranges }, { type: "vnets", zone: "ludus" })
/** What is held once changes that come from nothing have begun. */
const heldOf = (desired: DesiredAccess): HeldAccess =>
  aboutToHold(nothingHeld, desired, changesOf(planAccess({ desired, held: nothingHeld, observed: empty })))

test("groups are made before the accounts that join them, and pools before rights on them", () => {
  const phases = phasesOf(planAccess({ desired: desire([user], [range]), held: nothingHeld, observed: empty }))
  const phaseOf = (kind: AccessChange["kind"]): number => phases.findIndex((changes) => changes.some((one) => one.kind === kind))
  expect(phaseOf("create-group")).toBeLessThan(phaseOf("create-account"))
  expect(phaseOf("create-pool")).toBeLessThan(phaseOf("grant"))
  expect(phaseOf("create-account")).toBeLessThan(phaseOf("grant"))
})

test("a user who becomes an administrator while the account is made is one by the next plan, which is written down first", () => {
  const desired = desire([user], [])
  const create = changesOf(planAccess({ desired, held: nothingHeld, observed: empty })).find(
    ({ kind }) => kind === "create-account",
  )!
  const admin = desire([{ ...user, isAdmin: true }], [])
  expect(stillWanted(create, admin)).toEqual(create)
  expect(takeBack(create, admin)).toEqual([])
  expect(stillWanted(create, desire([], []))).toBeUndefined()
})

test("rights planned before a range began to leave are not given, and those given meanwhile are taken back", () => {
  const grants = planAccess({ desired: desire([user], [range]), held: nothingHeld, observed: empty }).give
  const leaving = desire([user], [{ ...range, leaving: true }])
  expect(grants).toHaveLength(2)
  for (const grant of grants) {
    expect(stillWanted(grant, leaving)).toBeUndefined()
    const subjects = [adminGroup, groupOfAccount(alice)].map((name) => ({ type: "group", name }))
    expect(takeBack(grant, leaving)).toMatchObject([{ kind: "revoke", subjects }])
  }
})

test("administrators lose their rights on the VNet of a range that is gone, or was made again with another number", () => {
  const vnet = { type: "vnet", zone: "ludus", name: "r1" } as const
  const held = heldOf(desire([], [range]))
  const subject = { type: "group", name: adminGroup } as const
  const rights = [{ path: "/sdn/zones/ludus/r1", role: "PVESDNUser", subject, propagate: true }]
  const revoke = { kind: "revoke", place: vnet, subjects: [{ ...subject, roles: ["PVESDNUser"] }] }
  const observed = { ...empty, groups: new Map([userGroup, adminGroup].map((name) => [name, true])), rights }
  for (const ranges of [[], [{ ...range, number: 2 }]])
    expect(planAccess({ desired: desire([], ranges), held, observed }).take).toEqual([revoke])
  // of other VNets nothing is known
  expect(changesOf(planAccess({ desired: desire([], []), held: nothingHeld, observed }))).toEqual([])
  const unseen = desiredAccess({ users: [], ranges: [] }, { type: "unknown" })
  expect(planAccess({ desired: unseen, held, observed }).take).toEqual([])
  expect(heldInLine(held, unseen, []).vnets).toEqual([vnet])
})

const audit = { path: "/pool/LAB", role: "PVEAuditor", propagate: true }
const direct = { path: "/pool/LAB", role: "PVEVMAdmin", propagate: true }
const seen = (account: Partial<ObservedAccount>): ObservedAccess => ({
  ...empty,
  accounts: new Map([
    [
      alice,
      {
        ours: true,
        groups: ["students"],
        passwordObstacle: undefined,
        keep: { groups: ["students"], rights: [audit, direct] },
        ...account,
      },
    ],
  ]),
})
const keepOf = (changes: readonly AccessChange[], kind: AccessChange["kind"]): AccountKeep | undefined =>
  changes.flatMap((one) => ("keep" in one && one.kind === kind ? [one.keep] : []))[0]

test("an account that is made again keeps no rights on ranges, whoever gave them", () => {
  const held = { ...heldOf(desire([user], [range])), accounts: { [alice]: { admin: false, password: "0" } } }
  const kept = { groups: ["students"], rights: [] }
  expect(keepOf(planAccess({ desired: desire([user], [range]), held, observed: seen({}) }).make, "set-password")).toEqual(kept)
  // the range is gone: a right that came back on it would be there for the next one of that name
  expect(keepOf(planAccess({ desired: desire([user], []), held, observed: seen({}) }).make, "set-password")).toEqual(kept)
  // what was kept on a pool of others comes back no more once the pool is a range's
  const before = {
    ...held,
    accounts: { [alice]: { admin: false, password: null, keep: { groups: [], rights: [audit, direct] } } },
  }
  expect(keepOf(planAccess({ desired: desire([user], [range]), held: before, observed: empty }).make, "create-account")).toEqual({
    groups: [],
    rights: [],
  })
})

test("a password that is refused repeatedly does not make the held state grow", () => {
  const desired = desire([user], [])
  let held: HeldAccess = { ...heldOf(desired), accounts: { [alice]: { admin: false, password: "0" } } }
  const attempt = () => {
    held = aboutToHold(held, desired, changesOf(planAccess({ desired, held, observed: seen({}) })))
    return held
  }
  expect(attempt()).toEqual(attempt())
})

test("an account that was partly recreated gets the rest even if its password can no longer be set", () => {
  const keep = { groups: ["students"], rights: [audit] }
  const held = { ...heldOf(desire([user], [])), accounts: { [alice]: { admin: false, password: null, keep } } }
  const observed = seen({ groups: [], passwordObstacle: "it has API tokens" })
  const { make, notes } = planAccess({ desired: desire([user], []), held, observed })
  expect(keepOf(make, "restore")).toEqual(keep)
  expect(notes).toHaveLength(1)
})

test("a token of an account called like a token is not the other account's", () => {
  const place = { type: "pool", rangeId: lab } as const
  const subject = { type: "token", name: "alice@pve!x@pve!token" } as const
  const observed = { ...empty, rights: [{ path: "/pool/LAB", role: "PVEVMAdmin", subject, propagate: true }] }
  const { take } = planAccess({ desired: desire([user], [range]), held: nothingHeld, observed })
  expect(take).toEqual([{ kind: "revoke", place, subjects: [{ ...subject, roles: ["PVEVMAdmin"] }] }])
  expect(concernsAccount(take[0]!, alice)).toBe(false)
  expect(concernsAccount(take[0]!, "alice@pve!x@pve" as AccountId)).toBe(true)
})

const machine = { type: "machine", rangeId: lab, vmid: 105 as Vmid } as const
const withMachine = { ...range, machines: [machine.vmid] }
const bob = { id: "bob" as UserId, account: "bob@pve" as AccountId, isAdmin: false, passwordVersion: "1" }
const onMachine = (subject: AccessSubject, role = "PVEVMUser"): AccessEntry => ({
  path: "/vms/105",
  role,
  subject,
  propagate: false,
})

test("on a range's machine nobody has an entry: whoever may use the machine could have written it", () => {
  const desired = desire([user, bob], [withMachine])
  const strangers = [
    { type: "user", name: "bob@pve" },
    { type: "user", name: "mallory@pve" },
    { type: "group", name: "students" },
    { type: "group", name: groupOfAccount(bob.account) },
    { type: "token", name: "bob@pve!ci" },
  ] as const
  const users = [
    { type: "user", name: alice },
    { type: "group", name: groupOfAccount(alice) },
  ] as const
  const rights = [...strangers, ...users, { type: "token", name: "alice@pve!ci" } as const].map((one) => onMachine(one))
  const { take, tidy } = planAccess({ desired, held: nothingHeld, observed: { ...empty, rights } })
  const losing = (subjects: readonly AccessSubject[]) => subjects.map((one) => ({ ...one, roles: ["PVEVMUser"] }))
  // a token has no more than its account
  expect(take).toEqual([{ kind: "revoke", place: machine, subjects: losing(strangers) }])
  expect(tidy).toEqual([{ kind: "revoke", place: machine, subjects: losing(users) }])
  expect([...take, ...tidy].every((change) => concernsRange(desired, change, lab))).toBe(true)
  expect(concernsAccount(take[0]!, bob.account)).toBe(true)
  // given the range since, the group needs nothing there all the same
  expect(stillWanted(take[0]!, desire([user, bob], [{ ...withMachine, users: [user.id, bob.id] }]))).toEqual(take[0])
})

test("rights on machines that are not a range's are others', and an account that is made again gets only those back", () => {
  const others = { path: "/vms/106", role: "PVEVMUser", propagate: true }
  const rights = [{ ...others, subject: { type: "user", name: alice } as const }]
  const desired = desire([user], [withMachine])
  expect(planAccess({ desired, held: heldOf(desired), observed: { ...seen({}), rights } }).take).toEqual([])
  const keep = { groups: [], rights: [others, { path: "/vms/105", role: "PVEVMUser", propagate: false }] }
  const held = { ...heldOf(desired), accounts: { [alice]: { admin: false, password: "0" } } }
  const plan = planAccess({ desired, held, observed: seen({ keep }) })
  expect(keepOf(plan.make, "set-password")).toEqual({ groups: [], rights: [others] })
})

test("an older version's revocation takes the roles that the service grants", () => {
  const older = { kind: "revoke", place: { type: "pool", rangeId: "LAB" }, subjects: [{ type: "user", name: "eve@pve" }] }
  expect(Schema.decodeUnknownSync(AccessChangeJson)(older)).toEqual(older)
  const [now] = planAccess({
    desired: desire([user], [withMachine]),
    held: nothingHeld,
    observed: { ...empty, rights: [onMachine({ type: "user", name: "eve@pve" })] },
  }).take
  expect(Schema.decodeUnknownSync(AccessChangeJson)(JSON.parse(JSON.stringify(now)))).toEqual(now)
})

test("what others made under a name of the service's stays, and is a note instead of a change that fails each time", () => {
  const held = heldOf(desire([user], [range]))
  const group = groupOfAccount(alice)
  const others = { ...seen({ ours: false, groups: [] }), groups: new Map([[group, false]]), pools: new Map([[lab, false]]) }
  const prepared = new Map([...others.groups, [userGroup, true], [adminGroup, true]] as const)
  const plan = planAccess({ desired: desire([], []), held, observed: { ...others, groups: prepared } })
  expect(changesOf(plan)).toEqual([])
  expect(plan.notes).toEqual([
    expect.stringContaining(alice) as string,
    expect.stringContaining(`group ${group}`) as string,
    expect.stringContaining("pool LAB") as string,
  ])
})

test("a pool of a range that is gone stays as long as another pool lies below it, and says so", () => {
  const held = heldOf(desire([user], [range]))
  const pools = new Map([
    [lab, true],
    ["LAB/below" as RangeId, false],
  ])
  const groups = new Map([userGroup, adminGroup].map((name) => [name, true] as const))
  const plan = planAccess({ desired: desire([], []), held, observed: { ...empty, groups, pools } })
  expect(plan.tidy).toEqual([])
  expect(plan.notes).toEqual([expect.stringContaining("LAB/below") as string])
})

test("other roles on a range's pool or VNet are revoked from the service's own accounts; those of others stay and are noted", () => {
  const desired = desire([user, bob], [range])
  const at = (path: string, role: string, subject: AccessSubject): AccessEntry => ({ path, role, subject, propagate: true })
  const carol = { type: "user", name: "carol@pve" } as const
  const own = { type: "user", name: alice } as const
  const rights = [
    at("/pool/LAB", "NoAccess", own),
    at("/pool/LAB", "PVEAuditor", { type: "token", name: `${alice}!ci` }),
    at("/pool/LAB", "Administrator", { type: "user", name: bob.account }),
    at("/pool/LAB", "PVEAuditor", { type: "group", name: userGroup }),
    at("/pool/LAB", "PVEAuditor", carol),
    at("/pool/LAB", "Administrator", carol),
    at("/pool/LAB", "PVEVMAdmin", carol),
    at("/pool/THEIRS", "PVEAuditor", own),
    at("/sdn/zones/ludus/r1", "PVESDNAdmin", { type: "group", name: groupOfAccount(alice) }),
    at("/sdn/zones/ludus/r1", "PVESDNAdmin", { type: "token", name: "carol@pve!t" }),
  ]
  const { take, tidy, notes } = planAccess({ desired, held: nothingHeld, observed: { ...empty, rights } })
  const pool = { type: "pool", rangeId: lab } as const
  const vnet = { type: "vnet", zone: "ludus", name: "r1" } as const
  expect(take).toEqual([
    {
      kind: "revoke",
      place: pool,
      subjects: [
        { type: "user", name: bob.account, roles: ["Administrator"] },
        { type: "group", name: userGroup, roles: ["PVEAuditor"] },
        { ...carol, roles: ["PVEVMAdmin"] },
      ],
    },
  ])
  // who may use the range loses nothing by it
  const group = { type: "group", name: groupOfAccount(alice), roles: ["PVESDNAdmin"] } as const
  expect(tidy).toEqual([
    { kind: "revoke", place: pool, subjects: [{ ...own, roles: ["NoAccess"] }] },
    { kind: "revoke", place: vnet, subjects: [group] },
  ])
  expect(tidy.map((change) => stillWanted(change, desired))).toEqual(tidy)
  expect(notes).toEqual([
    "token carol@pve!t has PVESDNAdmin on VNet ludus/r1: somebody else granted it, so it stays",
    "user carol@pve has Administrator, PVEAuditor on pool LAB: somebody else granted it, so it stays",
  ])
})

test("a VNet has rights from when a deploy has made it, and only where its alias names the range", () => {
  const desired = desire([user], [range])
  const grantsOn = (vnets: ObservedAccess["vnets"]) =>
    planAccess({ desired, held: nothingHeld, observed: { ...empty, vnets } }).give.flatMap((change) =>
      change.kind === "grant" ? [change.place.type] : [],
    )
  expect(grantsOn(new Map())).toEqual(["pool"])
  for (const alias of ["", "rangewright OTHER", "rangewright", "my own"])
    expect([alias, grantsOn(new Map([[labsVnet[0], alias]]))]).toEqual([alias, ["pool"]])
  expect(grantsOn(new Map([labsVnet]))).toEqual(["pool", "vnet"])
})

test("a VNet of a range's name without the range's alias is a note; one that is not there yet is none", () => {
  const notesOn = (alias: string | undefined, more: Partial<typeof range> = {}) =>
    planAccess({
      desired: desire([user], [{ ...range, ...more }]),
      held: nothingHeld,
      observed: { ...empty, vnets: new Map(alias === undefined ? [] : [[labsVnet[0], alias]]) },
    }).notes
  expect(notesOn("rangewright LAB (Bob)")).toEqual([
    'VNet ludus/r1 has the alias "rangewright LAB (Bob)" instead of "rangewright LAB", so nobody gets rights on it: set the alias if it is the VNet of range LAB',
  ])
  expect(notesOn("")).toHaveLength(1)
  expect(notesOn("x".repeat(500))[0]!.length).toBeLessThan(300)
  expect([notesOn(undefined), notesOn(labsVnet[1]), notesOn("", { leaving: true })]).toEqual([[], [], []])
})

test("accounts and groups with the service's mark that it does not know stay, and are notes", () => {
  const groups = [userGroup, adminGroup, groupOfAccount(alice), groupOfAccount(bob.account)]
  const observed = {
    ...seen({ groups: [userGroup, groupOfAccount(alice)] }),
    groups: new Map([...groups.map((name) => [name, true] as const), ["students", false] as const]),
  }
  const known = observed.accounts.get(alice)!
  const accounts = new Map([...observed.accounts, [bob.account, known], ["carol@pve" as AccountId, { ...known, ours: false }]])
  const desired = desire([user], [])
  const plan = planAccess({ desired, held: heldOf(desired), observed: { ...observed, accounts } })
  expect(changesOf(plan).filter(({ kind }) => kind.startsWith("remove"))).toEqual([])
  expect(plan.notes).toEqual([
    expect.stringMatching(/^account bob@pve carries the service's mark, .* backup .* It stays/u) as string,
    expect.stringMatching(/^group rangewright_bob\S+ carries the service's mark/u) as string,
  ])
  // held: it is removed instead
  const held = heldOf(desire([user, bob], []))
  expect(planAccess({ desired, held, observed: { ...observed, accounts } }).notes).toEqual([])
})

test("on a VNet of another installation nothing is taken, also where the service once had rights there", () => {
  const vnet = { type: "vnet", zone: "ludus", name: "r1" } as const
  const entry = (name: string): AccessEntry => ({
    path: labsVnet[0],
    role: "PVESDNUser",
    subject: { type: "group", name },
    propagate: true,
  })
  const rights = [entry(adminGroup), entry("rangewright_theirs.40.pve")]
  const held = { ...heldOf(desire([user], [range])), vnets: [vnet] }
  const take = (users: StoredAccess["users"], ranges: StoredAccess["ranges"], vnets: ObservedAccess["vnets"], more = rights) =>
    planAccess({ desired: desire(users, ranges), held, observed: { ...empty, vnets, rights: more } }).take
  const theirs = new Map([[labsVnet[0], "rangewright THEIRS"]])
  expect(take([user], [range], theirs)).toEqual([])
  expect(take([user], [], theirs).filter(({ kind }) => kind === "revoke")).toEqual([])
  // its own people's groups have nothing to look for there
  const own = entry(groupOfAccount(alice))
  expect(take([user], [], theirs, [...rights, own])).toMatchObject([{ kind: "revoke", subjects: [own.subject] }])
  // the VNet is gone, and so is its range
  expect(take([user], [], new Map())).toMatchObject([{ kind: "revoke", place: vnet, subjects: [{ name: adminGroup }, {}] }])
})

test("VNets that come and go leave no more behind in what is held than there are ranges", () => {
  let held = nothingHeld
  const names = ["A", "B", "C"].map((id) => id as RangeId)
  for (const [at, id] of names.entries()) {
    const desired = desire([user], [{ ...range, id, number: at + 1 }])
    const vnets = new Map([[`/sdn/zones/ludus/r${at + 1}`, `rangewright ${id}`]])
    held = aboutToHold(held, desired, changesOf(planAccess({ desired, held, observed: { ...empty, vnets } })))
    expect(held.vnets).toContainEqual({ type: "vnet", zone: "ludus", name: `r${at + 1}` })
    held = heldInLine(held, desired, [])
    expect(held.vnets).toEqual([{ type: "vnet", zone: "ludus", name: `r${at + 1}` }])
  }
  // one that was never made is not held
  const unmade = desire([user], [range])
  const changes = changesOf(planAccess({ desired: unmade, held: nothingHeld, observed: { ...empty, vnets: new Map() } }))
  expect(aboutToHold(nothingHeld, unmade, changes).vnets).toEqual([])
})

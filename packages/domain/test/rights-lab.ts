/** The service with the hypervisor of the model: what it plans, writes down and makes, and what must be true at any time. */
import { expect } from "vitest"
import {
  aboutToHold,
  type AccessChange,
  type AccessEntry,
  type AccessPlace,
  type AccessPlan,
  type AccountId,
  adminGroup,
  changesOf,
  type DesiredAccess,
  desiredAccess,
  groupOfAccount,
  hasPassword,
  heldInLine,
  heldRestored,
  heldWithPassword,
  type HeldAccess,
  isServiceGroup,
  networkComment,
  nothingHeld,
  pendingAccess,
  phasesOf,
  placePath,
  placesOf,
  placeText,
  planAccess,
  type RangeId,
  type RightsOnNetworks,
  stillWanted,
  type StoredAccess,
  subjectName,
  takeBack,
  userGroup,
} from "../src/index.ts"
import { inTime, type Round, type StoredDraft, vnets } from "./rights-arbitrary.ts"
import { accountOfToken, entryKey, grantedPlace, grantsOf, type ModelStart, Refused, RightsModel } from "./rights-model.ts"

const someAndAll = <T>(lists: readonly (readonly T[])[]) => {
  const some = new Set(lists.flat())
  return { some, all: new Set([...some].filter((item) => lists.every((list) => list.includes(item)))) }
}

/** The service with its hypervisor, and all that ever was stored. */
export class Lab {
  readonly model: RightsModel
  held: HeldAccess = nothingHeld
  readonly #accounts: { readonly some: ReadonlySet<AccountId>; readonly all: ReadonlySet<AccountId> }
  readonly #ranges: { readonly some: ReadonlySet<RangeId>; readonly all: ReadonlySet<RangeId> }
  readonly #personal: ReadonlySet<string>
  /** By their paths. */
  readonly #places: ReadonlyMap<string, AccessPlace>
  /** Those that are held, or wanted. One that was forgotten and comes back is somebody else's. */
  readonly #known = new Set<AccountId>()
  /** Aliases of the ranges that the service knew of when it planned last. */
  #owned: ReadonlySet<string> = new Set()
  /** Of accounts that were there before the service knew of them: the version that they came with. */
  readonly #came = new Map<AccountId, string>()

  constructor(model: RightsModel, states: readonly StoredAccess[]) {
    this.model = model
    this.#accounts = someAndAll(states.map(({ users }) => users.map(({ account }) => account)))
    this.#ranges = someAndAll(states.map(({ ranges }) => ranges.map(({ id }) => id)))
    this.#personal = new Set([...this.#accounts.some].map(groupOfAccount))
    const places = states.flatMap((stored) => [...desiredAccess(stored, vnets).places.values()])
    this.#places = new Map(places.map(({ place }) => [placePath(place), place]))
  }

  desire(stored: StoredAccess, networks: RightsOnNetworks): DesiredAccess {
    const desired = desiredAccess(stored, networks)
    this.#neverSilent(desired)
    return desired
  }

  plan(desired: DesiredAccess): AccessPlan {
    const plan = planAccess({ desired, held: this.held, observed: this.model.observe() })
    this.#owned = new Set([...desired.ranges.keys(), ...(Object.keys(this.held.ranges) as RangeId[])].map(networkComment))
    for (const change of plan.give) {
      if (change.kind !== "grant" || change.place.type !== "vnet") continue
      const { rangeId } = desired.places.get(placeText(change.place))!
      expect(this.model.vnets.get(placePath(change.place))).toBe(networkComment(rangeId))
    }
    return plan
  }

  /** Whether a path is that of a VNet which was never one of ours. */
  #isOthersVnet(path: string): boolean {
    const alias = this.model.vnets.get(path)
    return alias !== undefined && ![...this.#ranges.some].some((id) => alias === networkComment(id))
  }

  note(desired: DesiredAccess, plan: AccessPlan): void {
    this.#hold(aboutToHold(this.held, desired, changesOf(plan)), desired)
  }

  #hold(held: HeldAccess, desired: DesiredAccess): void {
    for (const [id, { passwordVersion }] of desired.accounts)
      if (this.held.accounts[id] === undefined && held.accounts[id] !== undefined && this.model.accounts.has(id))
        this.#came.set(id, passwordVersion)
    this.held = held
    this.#known.clear()
    for (const id of [...desired.accounts.keys(), ...(Object.keys(held.accounts) as AccountId[])]) this.#known.add(id)
  }

  /** `end`: the service is killed before it is all made, or before it is written down. */
  make(change: AccessChange, desired: DesiredAccess, end?: Round["end"]): void {
    const gives = change.kind === "create-account" || change.kind === "set-password"
    const version = gives ? desired.accounts.get(change.account)?.passwordVersion : undefined
    this.model.apply(change, gives && hasPassword(change.account) ? version : undefined, end === "half made")
    if (end !== undefined) return
    if (gives && version !== undefined) this.held = heldWithPassword(this.held, change.account, version)
    if (change.kind === "restore") this.held = heldRestored(this.held, change.account)
  }

  /** One run to its end, with nobody in the way. */
  reconcile(desired: DesiredAccess, reversed = false): AccessPlan {
    const plan = this.plan(desired)
    this.note(desired, plan)
    for (const phase of phasesOf(plan)) for (const change of reversed ? phase.toReversed() : phase) this.make(change, desired)
    return plan
  }

  /** One run that may be changed under its hands, and cut short. What is refused stops nothing else. */
  run({ networks, cut, end, isRepeated, meanwhile }: Round, stored: StoredAccess, later: StoredAccess): void {
    const desired = this.desire(stored, networks)
    const plan = this.plan(desired)
    const changes = changesOf(plan)
    if (networks.type !== "unknown") this.#hold(heldInLine(this.held, desired, changes), desired)
    this.#neverSilent(desired)
    if (changes.length === 0) return
    this.note(desired, plan)
    for (const [index, change] of changes.entries()) {
      const isLater = meanwhile !== undefined && index > meanwhile.at
      const isNow = meanwhile !== undefined && index === meanwhile.at
      const before = isLater || (isNow && !meanwhile.during) ? this.desire(later, networks) : desired
      const after = isLater || isNow ? this.desire(later, networks) : desired
      const wanted = stillWanted(change, before)
      if (wanted === undefined) continue
      const there = new Set(this.#there())
      try {
        this.make(wanted, before, index === cut ? end : undefined)
        if (index === cut) return
        if (isRepeated) this.make(wanted, before)
        for (const one of takeBack(wanted, after)) this.model.apply(one)
      } catch (refused) {
        if (!(refused instanceof Refused)) throw refused
      }
      this.#neverSilent(after)
      // a group or a pool alone gives no rights
      const given = this.#unwanted(after).filter((text) => !there.has(text) && !/^(group|pool) /u.test(text))
      expect(given).toEqual([])
    }
  }

  /** Who has rights that the service gave, and should not have them, is told of. */
  #neverSilent(desired: DesiredAccess): void {
    const { revocations } = pendingAccess(this.held, desired)
    for (const [id, range] of desired.ranges)
      for (const [account, { groups }] of this.model.accounts)
        for (const group of [groupOfAccount(account), adminGroup]) {
          const { made, entries } = this.model
          const isGiven = entries.some(
            (entry) => entry.path === `/pool/${id}` && entry.subject.name === group && made.has(`entry ${entryKey(entry)}`),
          )
          if (!isGiven || !groups.has(group) || !made.has(`member ${account} ${group}`)) continue
          if (desired.accounts.get(account)?.admin === true || range.accounts.includes(account)) continue
          expect(revocations.filter((text) => text.startsWith(`${account} `))).not.toEqual([])
        }
  }

  /** All rights on ranges, and all that the service made, are what is stored. */
  expectInLine(stored: StoredAccess, networks: RightsOnNetworks): void {
    const { model } = this
    const desired = desiredAccess(stored, networks)
    const { notes, ...plan } = this.plan(desired)
    expect(plan).toEqual({ ...plan, take: [], prepare: [], make: [], give: [], tidy: [] })
    const accountOf = new Map(stored.users.map(({ id, account }) => [id, account]))
    const admins = stored.users.filter(({ isAdmin }) => isAdmin).map(({ account }) => account)
    const otherAdmins = [...model.accounts].flatMap(([id, { groups }]) =>
      groups.has(adminGroup) && !this.#known.has(id) ? [id] : [],
    )
    /** What is others', and is told of, hides what the account has by its groups. */
    const isHidden = (path: string, id: AccountId): boolean =>
      model.entries.some(({ path: at, role, subject: { type, name } }) => {
        if (at !== path) return false
        return type === "group" ? role === "NoAccess" && model.accounts.get(id)?.groups.has(name) === true : name === id
      })
    for (const range of stored.ranges) {
      const people = range.users.map((id) => accountOf.get(id)!)
      for (const place of placesOf(range, networks)) {
        if (place.type === "vnet" && model.vnets.get(placePath(place)) !== networkComment(range.id)) continue
        const all = [...people, ...admins, ...otherAdmins]
        const who = new Set(all.filter((id) => !isHidden(placePath(place), id)))
        this.#expectNoted(place, people, notes)
        // by a token an account has what it has anyway
        const found = [...model.effective(place)].filter(
          (name) => !/!t( in part)?$/u.test(name) || !people.includes(accountOfToken(name)),
        )
        if (range.leaving) expect([...who]).toEqual(expect.arrayContaining(found.map((name) => name.replace(/ in part$/u, ""))))
        else expect(found.toSorted()).toEqual([...who].toSorted())
      }
    }
    for (const range of stored.ranges)
      for (const { path, subject } of model.entries) {
        if (!range.machines.some((vmid) => path === `/vms/${vmid}`)) continue
        // by a token an account has what it has anyway
        expect(subject.type).toBe("token")
        expect(range.users.map((id) => accountOf.get(id))).toContain(accountOfToken(subject.name))
      }
    for (const { account, passwordVersion, isAdmin } of stored.users) {
      const found = model.accounts.get(account)!
      expect(found.groups.has(adminGroup)).toBe(isAdmin)
      expect([userGroup, groupOfAccount(account)].every((group) => found.groups.has(group))).toBe(true)
      if (!hasPassword(account) || notes.some((note) => note.includes(` ${account} `))) continue
      if (found.password === undefined) expect(this.#came.get(account)).toBe(passwordVersion)
      else expect(found.password).toBe(passwordVersion)
    }
    expect(this.#unwanted(desired)).toEqual([])
  }

  /** At a place of ours other roles are others' alone, and each of them is told. By a token an account has what it has anyway. */
  #expectNoted(place: AccessPlace, people: readonly AccountId[], notes: readonly string[]): void {
    for (const { path, role, subject } of this.model.entries) {
      if (path !== placePath(place) || grantedPlace({ path, role }) !== undefined) continue
      const account = subject.type === "token" ? accountOfToken(subject.name) : (subject.name as AccountId)
      if (subject.type === "token" && people.includes(account)) continue
      expect(subject.type === "group" ? this.#isOurGroup(subject.name) : this.#known.has(account)).toBe(false)
      const start = `${subjectName(subject)} has `
      expect(notes.some((note) => note.startsWith(start) && note.includes(role) && note.includes(placeText(place)))).toBe(true)
    }
  }

  #isOurGroup(group: string): boolean {
    return group === userGroup || group === adminGroup || [...this.#known].some((id) => groupOfAccount(id) === group)
  }

  /** What the service made and is there, as text. */
  #there(): readonly string[] {
    const { accounts, groups, pools, entries, made, vnets } = this.model
    const there = [
      ...[...accounts.keys()].map((id) => `account ${id}`),
      ...[...groups.keys()].map((group) => `group ${group}`),
      ...[...pools.keys()].map((id) => `pool ${id}`),
      ...entries.map((entry) => `entry ${entryKey(entry)}`),
      ...[...accounts].flatMap(([id, account]) =>
        [...account.groups].filter(isServiceGroup).map((group) => `member ${id} ${group}`),
      ),
    ]
    // what is on a VNet that somebody else has by now cannot be told from theirs
    const isOthers = (alias: string | undefined): boolean => alias !== undefined && !this.#owned.has(alias)
    const others = entries.filter(({ path, subject: { name } }) => isOthers(vnets.get(path)) && !this.#personal.has(name))
    const left = new Set(others.map((entry) => `entry ${entryKey(entry)}`))
    return there.filter((text) => made.has(text) && !left.has(text))
  }

  /** What of it nobody wants. */
  #unwanted(desired: DesiredAccess): readonly string[] {
    const wanted = new Set([
      ...[userGroup, adminGroup, ...[...desired.accounts.keys()].map(groupOfAccount)].map((group) => `group ${group}`),
      ...[...desired.accounts].flatMap(([id, account]) => [
        `account ${id}`,
        ...account.groups.map((group) => `member ${id} ${group}`),
      ]),
      ...[...desired.ranges.keys()].map((id) => `pool ${id}`),
      // one with a pool below it cannot go
      ...[...this.model.pools.keys()].map((id) => `pool ${id.split("/").slice(0, -1).join("/")}`),
      ...[...desired.places.values()].flatMap(({ place, groups }) =>
        [...groups].flatMap((name) => grantsOf(place, name).map((entry) => `entry ${entryKey(entry)}`)),
      ),
    ])
    return this.#there().filter((text) => !wanted.has(text))
  }

  /** What is others', and must stay. What hangs on a user's account, or on a range's pool, stays as long as these do. */
  others(): readonly string[] {
    const { accounts, groups, pools, entries } = this.model
    const isPersonal = (group: string): boolean => this.#personal.has(group)
    const isOurGroup = (group: string): boolean => group === userGroup || group === adminGroup || isPersonal(group)
    const isKept = (id: AccountId): boolean =>
      !this.#accounts.some.has(id) || this.#accounts.all.has(id) || accounts.get(id)?.ours === false
    const isOurs = (entry: AccessEntry): boolean => {
      const { type, name } = entry.subject
      if (type === "group" && isPersonal(name)) return true
      if (type !== "group" && !isKept(type === "user" ? (name as AccountId) : accountOfToken(name))) return true
      const place = this.#places.get(entry.path)
      if (place === undefined) return false
      if (place.type === "machine") return true
      if (this.#isOthersVnet(entry.path)) return false
      if (
        type === "group"
          ? isOurGroup(name)
          : this.#accounts.some.has(type === "user" ? (name as AccountId) : accountOfToken(name))
      )
        return true
      return grantedPlace(entry) !== undefined || (place.type === "pool" && !this.#ranges.all.has(place.rangeId))
    }
    return [
      ...[...accounts].flatMap(([id, { ours, hasTokens, groups: some }]) =>
        isKept(id)
          ? [
              ...(this.#accounts.some.has(id) && ours ? [] : [`account ${id} ${ours} ${hasTokens}`]),
              ...[...some]
                .filter((group) => !(this.#accounts.some.has(id) ? isServiceGroup(group) : isPersonal(group)))
                .map((group) => `member ${id} ${group}`),
            ]
          : [],
      ),
      ...[...groups.keys()].filter((group) => !isOurGroup(group)).map((group) => `group ${group}`),
      ...[...pools.keys()].filter((id) => !this.#ranges.some.has(id)).map((id) => `pool ${id}`),
      ...entries.flatMap((entry) => (isOurs(entry) ? [] : [`entry ${entryKey(entry)} ${entry.propagate}`])),
    ].toSorted()
  }
}

/**
 * A service that has come a way, what is stored then, and what others had when it began; with `settled`, what they had after the first round,
 * of which nothing is cut, and did not change from then on.
 */
export const labAfter = (world: ModelStart, rounds: readonly Round[], last: StoredDraft, settled = false) => {
  const states = inTime([...rounds.flatMap(({ draft: one, meanwhile }) => [one, meanwhile?.draft ?? one]), last])
  const lab = new Lab(new RightsModel(world), states)
  let others = lab.others()
  for (const [index, one] of rounds.entries()) {
    if (!settled || index === 1) lab.model.meddle(one.meddling)
    if (settled && index === 1) others = lab.others()
    const cut = settled && index === 0 ? Number.POSITIVE_INFINITY : one.cut
    lab.run({ ...one, cut }, states[index * 2]!, states[index * 2 + 1]!)
  }
  return { lab, others, stored: states.at(-1)! }
}

/** The smallest hypervisor that changes of access can be tried on. It refuses what a real one would, and remembers what the service put there. */
import {
  type AccessChange,
  type AccessEntry,
  type AccessPlace,
  type AccessSubject,
  type AccountId,
  type AccountKeep,
  isServiceGroup,
  type ObservedAccess,
  placeAt,
  placePath,
  type RangeId,
  subjectName,
} from "../src/index.ts"

/** Roles that the service grants, as they come with Proxmox, and one that only others do. */
export const grantedRoles = { pool: ["PVEVMAdmin", "PVESDNAdmin", "PVEPoolUser"], vnet: ["PVESDNUser"], machine: [] } as const
export const otherRoles = ["PVEAuditor", "Administrator", "NoAccess"]

export interface ModelAccount {
  readonly ours: boolean
  readonly groups: Set<string>
  /** The version of the password that it was given last; undefined: what it had before the service knew of it. */
  password: string | undefined
  hasTokens: boolean
}

export const entryKey = ({ path, role, subject }: AccessEntry): string => `${path}\n${role}\n${subjectName(subject)}`

/** The place of an entry that could be the service's. */
export const grantedPlace = ({ path, role }: Pick<AccessEntry, "path" | "role">): AccessPlace | undefined => {
  const place = placeAt(path)
  return place !== undefined && (grantedRoles[place.type] as readonly string[]).includes(role) ? place : undefined
}

/** The entries that come of a grant. */
export const grantsOf = (place: AccessPlace, group: string): readonly AccessEntry[] =>
  grantedRoles[place.type].map((role) => ({
    path: placePath(place),
    role,
    subject: { type: "group", name: group },
    propagate: true,
  }))

export const accountOfToken = (name: string): AccountId => name.slice(0, name.lastIndexOf("!")) as AccountId

type Of<K extends AccessChange["kind"]> = Extract<AccessChange, { readonly kind: K }>
type Making = Of<"create-account"> | Of<"set-password">

/** What was refused, and why. */
export class Refused extends Error {}

/** What others do while the service is there. */
export interface Meddling {
  readonly entries: readonly AccessEntry[]
  readonly members: readonly (readonly [account: AccountId, group: string])[]
  /** VNets that come, by their paths, and such that go: without an alias. */
  readonly vnets: readonly (readonly [string, string | undefined])[]
}

export interface ModelStart {
  /** A service with an API token sets a password by making the account again. */
  readonly byToken: boolean
  readonly accounts: readonly (readonly [
    AccountId,
    Omit<ModelAccount, "groups" | "password"> & { readonly groups: readonly string[] },
  ])[]
  readonly groups: readonly string[]
  readonly pools: readonly RangeId[]
  readonly entries: readonly AccessEntry[]
  /** Aliases of the VNets that are there, by path. */
  readonly vnets: readonly (readonly [string, string])[]
}

export class RightsModel {
  readonly accounts: Map<AccountId, ModelAccount>
  /** Whether the service made each, as of the pools. */
  readonly groups: Map<string, boolean>
  readonly pools: Map<RangeId, boolean>
  readonly vnets: Map<string, string>
  readonly #entries = new Map<string, AccessEntry>()
  readonly #byToken: boolean
  /** What the service put there: accounts, groups, pools, memberships and entries, as text. */
  readonly made = new Set<string>()

  constructor({ byToken, accounts, groups, pools, entries, vnets }: ModelStart) {
    this.#byToken = byToken
    this.groups = new Map(groups.map((name) => [name, false]))
    this.pools = new Map(pools.map((id) => [id, false]))
    this.vnets = new Map(vnets)
    this.accounts = new Map(
      accounts.map(([id, account]) => [
        id,
        { ...account, password: undefined, groups: new Set(account.groups.filter((group) => this.groups.has(group))) },
      ]),
    )
    this.meddle({ entries, members: [], vnets: [] })
  }

  get entries(): readonly AccessEntry[] {
    return [...this.#entries.values()]
  }

  #finds({ type, name }: AccessSubject): boolean {
    if (type === "group") return this.groups.has(name)
    const account = this.accounts.get(type === "user" ? (name as AccountId) : accountOfToken(name))
    if (account !== undefined && type === "token") account.hasTokens = true
    return account !== undefined
  }

  #write(entry: AccessEntry): void {
    this.#entries.set(entryKey(entry), entry)
  }

  #drop(isGone: (entry: AccessEntry) => boolean): void {
    for (const [key, entry] of this.#entries) if (isGone(entry)) this.#entries.delete(key)
  }

  #rightsOf(id: AccountId): AccountKeep["rights"] {
    return this.entries.flatMap(({ path, role, subject, propagate }) =>
      subject.type === "user" && subject.name === id ? [{ path, role, propagate }] : [],
    )
  }

  observe(): ObservedAccess {
    return {
      accounts: new Map(
        [...this.accounts].map(([id, { ours, groups, hasTokens }]) => [
          id,
          {
            ours,
            groups: [...groups],
            passwordObstacle: this.#byToken && (!ours || hasTokens) ? "it cannot be made again" : undefined,
            keep: { groups: [...groups].filter((name) => !isServiceGroup(name)), rights: this.#rightsOf(id) },
          },
        ]),
      ),
      groups: new Map(this.groups),
      pools: new Map(this.pools),
      vnets: new Map(this.vnets),
      rights: this.entries,
    }
  }

  /** What others do. Of what is not there nothing comes. */
  meddle({ entries, members, vnets }: Meddling): void {
    for (const [path, alias] of vnets)
      if (alias === undefined) this.vnets.delete(path)
      else this.vnets.set(path, alias)
    for (const entry of entries) {
      if (!this.#finds(entry.subject)) continue
      if (!this.#entries.has(entryKey(entry))) this.made.delete(`entry ${entryKey(entry)}`)
      this.#write(entry)
    }
    for (const [id, group] of members) {
      const account = this.accounts.get(id)
      if (account === undefined || !this.groups.has(group)) continue
      if (!account.groups.has(group)) this.made.delete(`member ${id} ${group}`)
      account.groups.add(group)
    }
  }

  #account(id: AccountId): ModelAccount {
    const account = this.accounts.get(id)
    if (account === undefined) throw new Refused(`there is no account ${id}`)
    return account
  }

  #join(id: AccountId, groups: readonly string[]): void {
    const account = this.#account(id)
    for (const group of groups) {
      if (!this.groups.has(group)) throw new Refused(`there is no group ${group}`)
      if (!account.groups.has(group)) this.made.add(`member ${id} ${group}`)
      account.groups.add(group)
    }
  }

  #restore(id: AccountId, { groups, rights }: AccountKeep): void {
    this.#account(id)
    this.#join(
      id,
      groups.filter((group) => this.groups.has(group)),
    )
    for (const right of rights) this.#write({ ...right, subject: { type: "user", name: id } })
  }

  #create({ account, groups, keep }: Making, password: string | undefined): void {
    const missing = groups.find((group) => !this.groups.has(group))
    if (missing !== undefined) throw new Refused(`there is no group ${missing}`)
    this.accounts.set(account, { ours: true, groups: new Set(), password, hasTokens: false })
    this.made.add(`account ${account}`)
    this.#join(account, groups)
    this.#restore(account, keep)
  }

  #remove(id: AccountId): void {
    this.accounts.delete(id)
    this.#drop(({ subject: { type, name } }) => type !== "group" && (type === "user" ? name === id : accountOfToken(name) === id))
  }

  /** `half`: nobody came to the end of it. */
  #setPassword(change: Making, password: string | undefined, half: boolean): void {
    const found = this.accounts.get(change.account)
    if (found === undefined) return half ? undefined : this.#create(change, password)
    if (!this.#byToken) {
      this.#join(change.account, change.groups)
      this.#restore(change.account, change.keep)
      if (!half) found.password = password
      return undefined
    }
    if (!found.ours || found.hasTokens) throw new Refused("it cannot be made again")
    const keep = {
      groups: [...change.keep.groups, ...[...found.groups].filter((group) => !isServiceGroup(group))],
      rights: [...change.keep.rights, ...this.#rightsOf(change.account).filter((right) => grantedPlace(right) === undefined)],
    }
    this.#remove(change.account)
    if (!half) this.#create({ ...change, keep }, password)
  }

  /** Makes a change; `half`: as far as a service comes that is killed meanwhile. Throws `Refused`. */
  apply(change: AccessChange, password?: string, half = false): void {
    switch (change.kind) {
      case "revoke": {
        const { place } = change
        const gone = (half ? change.subjects.slice(1) : change.subjects).flatMap(({ type, name, roles }) =>
          (roles ?? grantedRoles[place.type]).map((role) =>
            entryKey({ path: placePath(place), role, subject: { type, name }, propagate: true }),
          ),
        )
        this.#drop((entry) => gone.includes(entryKey(entry)))
        return
      }
      case "leave-groups":
        change.groups.forEach((group) => this.accounts.get(change.account)?.groups.delete(group))
        return
      case "remove-account":
        if (this.accounts.get(change.account)?.ours === false) throw new Refused("the service did not make it")
        this.#remove(change.account)
        return
      case "remove-group":
        if (this.groups.get(change.group) === false) throw new Refused("the service did not make it")
        this.groups.delete(change.group)
        for (const { groups } of this.accounts.values()) groups.delete(change.group)
        this.#drop(({ subject: { type, name } }) => type === "group" && name === change.group)
        return
      case "remove-pool":
        if (this.pools.get(change.rangeId) === false) throw new Refused("the service did not make it")
        this.pools.delete(change.rangeId)
        this.#drop(({ path }) => path === `/pool/${change.rangeId}`)
        return
      case "create-group":
        if (!this.groups.has(change.group)) this.made.add(`group ${change.group}`)
        if (!this.groups.has(change.group)) this.groups.set(change.group, true)
        return
      case "create-account":
        if (!this.accounts.has(change.account))
          return this.#create(half ? { ...change, keep: { groups: [], rights: [] } } : change, password)
        if (this.accounts.get(change.account)?.ours === true) return this.#setPassword(change, password, half)
        this.#join(change.account, change.groups)
        return this.#restore(change.account, change.keep)
      case "set-password":
        return this.#setPassword(change, password, half)
      case "join-groups":
        return this.#join(change.account, change.groups)
      case "restore":
        return this.#restore(change.account, change.keep)
      case "create-pool":
        if (!this.pools.has(change.rangeId)) this.made.add(`pool ${change.rangeId}`)
        if (!this.pools.has(change.rangeId)) this.pools.set(change.rangeId, true)
        return
      case "grant":
        for (const name of change.groups) {
          if (!this.groups.has(name)) throw new Refused(`there is no group ${name}`)
          for (const entry of grantsOf(change.place, name)) {
            this.made.add(`entry ${entryKey(entry)}`)
            this.#write(entry)
          }
        }
        return
    }
  }

  /**
   * Accounts, and tokens by their own names, that have rights at a path which the service grants there, and whether all of them. Entries of an account
   * hide those of its groups, and `NoAccess` hides all, as on Proxmox. `byGroups`: as if there were neither.
   */
  effective(place: AccessPlace, byGroups = false): ReadonlySet<string> {
    const here = this.entries.filter(({ path }) => path === placePath(place))
    const of = (type: AccessSubject["type"], names: ReadonlySet<string>) =>
      here.filter(({ subject }) => subject.type === type && names.has(subject.name))
    const found = new Set<string>()
    const look = (who: string, entries: readonly AccessEntry[]): void => {
      const granted = entries.filter((entry) => grantedPlace(entry) !== undefined)
      if (granted.length === 0 || (!byGroups && entries.some(({ role }) => role === "NoAccess"))) return
      const below = granted.filter(({ propagate }) => propagate).map(({ role }) => role)
      found.add(grantedRoles[place.type].every((role) => below.includes(role)) ? who : `${who} in part`)
    }
    for (const [id, { groups }] of this.accounts) {
      const own = byGroups ? [] : of("user", new Set([id]))
      look(id, own.length > 0 ? own : of("group", groups))
    }
    for (const { subject } of here) if (subject.type === "token") look(subject.name, of("token", new Set([subject.name])))
    return found
  }
}

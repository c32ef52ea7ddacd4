import {
  type AccessChange,
  type AccessSubject,
  type AccountId,
  type AccountKeep,
  changeDoing,
  foundKey,
  foundRights,
  groupOfAccount,
  isServiceGroup,
  type ObservedAccess,
  ownRealm,
  placePath,
  poolRoles,
  type RangeId,
  realmOf,
  rolesAt,
} from "@rangewright/domain"
import { HypervisorAccess, type HypervisorFault, type HypervisorReason } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { called, dropEntries, hypervisorFault, type MemoryAccount, type MemoryWorld, writeEntry } from "./memory-world.ts"

/** Why a change cannot be made; undefined when it was made. */
type Refusal = readonly [reason: HypervisorReason, detail: string] | undefined

const ownRights = (world: MemoryWorld, id: AccountId): AccountKeep["rights"] =>
  [...world.acl.values()].flatMap(({ path, role, subject, propagate }) =>
    subject.type === "user" && subject.name === id ? [{ path, role, propagate }] : [],
  )

const observe = (world: MemoryWorld): ObservedAccess => ({
  accounts: new Map(
    [...world.accounts].map(([id, { ours, groups, passwordObstacle }]) => [
      id,
      {
        ours,
        groups: [...groups],
        passwordObstacle,
        keep: { groups: [...groups].filter((name) => !isServiceGroup(name)), rights: ownRights(world, id) },
      },
    ]),
  ),
  groups: new Map([...world.groups].map(([name, { ours }]) => [name, ours])),
  pools: new Map([...world.pools].map((id) => [id, !world.othersPools.has(id)])),
  vnets: new Map(
    [...world.networks.values()].flatMap(({ spec }) =>
      spec.type === "vnet" ? [[placePath({ ...spec, type: "vnet" }), spec.alias.trim()] as const] : [],
    ),
  ),
  rights: [...world.acl.values()],
})

type ForAccount = Extract<AccessChange, { readonly account: AccountId }>

/** Adds the account to those of the groups that exist. */
const join = (world: MemoryWorld, account: MemoryAccount, groups: readonly string[]): void =>
  groups.filter((name) => world.groups.has(name)).forEach((name) => account.groups.add(name))

const restore = (world: MemoryWorld, id: AccountId, { groups, rights }: AccountKeep): void => {
  const account = world.accounts.get(id)
  if (account !== undefined) join(world, account, groups)
  for (const right of rights) writeEntry(world, { ...right, subject: { type: "user", name: id } })
}

/** Creates the account, or updates an existing one to match. */
const make = (
  world: MemoryWorld,
  change: Extract<ForAccount, { kind: "create-account" | "set-password" }>,
  password: Redacted.Redacted | undefined,
): Refusal => {
  const missing = change.groups.find((name) => !world.groups.has(name))
  if (missing !== undefined) return ["invalid", `there is no group ${missing}`]
  const isOwnRealm = realmOf(change.account) === ownRealm
  if (change.kind === "set-password" && !isOwnRealm) return ["not-ours", "its realm keeps its password"]
  if (change.kind === "set-password" && password === undefined) return ["invalid", "no password is given"]
  const known = world.accounts.get(change.account)
  const isGiven = isOwnRealm && password !== undefined && (change.kind === "set-password" || known?.ours !== false)
  if (isGiven && known?.passwordObstacle !== undefined) return ["not-ours", known.passwordObstacle]
  const account = known ?? { ours: true, password: undefined, groups: new Set(), passwordObstacle: undefined }
  if (isGiven) account.password = Redacted.value(password)
  world.accounts.set(change.account, account)
  join(world, account, change.groups)
  restore(world, change.account, change.keep)
  return undefined
}

const removeAccount = (world: MemoryWorld, id: AccountId): Refusal => {
  const account = world.accounts.get(id)
  if (account === undefined) return undefined
  if (!account.ours) return ["not-ours", "the service did not make it"]
  world.accounts.delete(id)
  const isIts = ({ type, name }: AccessSubject): boolean =>
    (type === "user" && name === id) || (type === "token" && name.startsWith(`${id}!`))
  dropEntries(world, ({ subject }) => isIts(subject))
  return undefined
}

const removeGroup = (world: MemoryWorld, name: string): Refusal => {
  if (world.groups.get(name)?.ours === false) return ["not-ours", "the service did not make it"]
  world.groups.delete(name)
  for (const { groups } of world.accounts.values()) groups.delete(name)
  dropEntries(world, ({ subject }) => subject.type === "group" && subject.name === name)
  return undefined
}

const removePool = (world: MemoryWorld, id: RangeId): Refusal => {
  if (!world.pools.has(id)) return undefined
  const members = [...world.vms.values()].filter(({ pool }) => pool === id)
  if (members.length > 0) return ["failed", `it has ${members.length} members`]
  const below = [...world.pools].find((other) => other.startsWith(`${id}/`))
  if (below !== undefined) return ["not-ours", `the pool ${below} lies below it`]
  world.pools.delete(id)
  world.othersPools.delete(id)
  dropEntries(world, ({ path }) => path === `/pool/${id}`)
  return undefined
}

const grant = (world: MemoryWorld, { place, groups }: Extract<AccessChange, { kind: "grant" }>): Refusal => {
  const missing = groups.find((name) => !world.groups.has(name))
  if (missing !== undefined) return ["not-found", `there is no group ${missing}`]
  for (const name of groups) {
    const subject = { type: "group", name } as const
    for (const role of rolesAt(place)) writeEntry(world, { path: placePath(place), role, subject, propagate: true })
  }
  return undefined
}

const revoke = (world: MemoryWorld, { place, subjects }: Extract<AccessChange, { kind: "revoke" }>): Refusal => {
  if (place.type === "machine" && world.vms.get(place.vmid)?.pool !== place.rangeId)
    return ["not-ours", `VM ${place.vmid} is not in the pool ${place.rangeId}`]
  for (const subject of subjects) {
    const gone = new Set(subject.roles ?? rolesAt(place))
    const key = foundKey(placePath(place), subject)
    dropEntries(world, (entry) => foundKey(entry.path, entry.subject) === key && gone.has(entry.role))
  }
  return undefined
}

/** Changes an existing account; `gone` is the result when it does not exist. */
const onAccount = (world: MemoryWorld, id: AccountId, gone: Refusal, act: (account: MemoryAccount) => void): Refusal => {
  const account = world.accounts.get(id)
  if (account === undefined) return gone
  act(account)
  return undefined
}

const applied = (world: MemoryWorld, change: AccessChange, password: Redacted.Redacted | undefined): Refusal => {
  const missing = ["not-found", "there is no such account"] as const
  switch (change.kind) {
    case "revoke":
      return revoke(world, change)
    case "leave-groups":
      return onAccount(world, change.account, undefined, ({ groups }) => change.groups.forEach((name) => groups.delete(name)))
    case "remove-account":
      return removeAccount(world, change.account)
    case "remove-group":
      return removeGroup(world, change.group)
    case "remove-pool":
      return world.othersPools.has(change.rangeId)
        ? ["not-ours", "the service did not make it"]
        : removePool(world, change.rangeId)
    case "create-group":
      if (!world.groups.has(change.group)) world.groups.set(change.group, { ours: true })
      return undefined
    case "create-account":
    case "set-password":
      return make(world, change, password)
    case "join-groups": {
      const unknown = change.groups.find((name) => !world.groups.has(name))
      if (unknown !== undefined && world.accounts.has(change.account)) return ["invalid", `there is no group ${unknown}`]
      return onAccount(world, change.account, missing, (account) => join(world, account, change.groups))
    }
    case "restore":
      return onAccount(world, change.account, missing, () => restore(world, change.account, change.keep))
    case "create-pool":
      world.pools.add(change.rangeId)
      return undefined
    case "grant":
      return grant(world, change)
  }
}

/** The accounts that may use a range's pool through a group of their own, which is how the service grants rights. Sorted. */
export const mayUsePool = (world: MemoryWorld, id: string): readonly AccountId[] => {
  const groups = new Set(
    [...foundRights([...world.acl.values()]).values()].flatMap(({ path, subject, roles }) =>
      path === `/pool/${id}` && subject.type === "group" && poolRoles.every((role) => roles.get(role) === true)
        ? [subject.name]
        : [],
    ),
  )
  const has = (account: AccountId, member: MemoryAccount) =>
    groups.has(groupOfAccount(account)) && member.groups.has(groupOfAccount(account))
  return [...world.accounts].flatMap(([account, member]) => (has(account, member) ? [account] : [])).toSorted()
}

export const accessLayer = (world: MemoryWorld): Layer.Layer<HypervisorAccess> => {
  const run = <A>(method: string, mutating: boolean, evaluate: () => A) =>
    called(world, { port: "access", method, mutating, action: undefined }, Effect.sync(evaluate))
  const attempt = (method: string, doing: string, evaluate: () => Refusal): Effect.Effect<void, HypervisorFault> =>
    called(
      world,
      { port: "access", method, mutating: true, action: undefined },
      Effect.suspend(() => {
        const refusal = evaluate()
        return Effect.fromResult(refusal === undefined ? Result.void : Result.fail(hypervisorFault(doing, ...refusal)))
      }),
    )

  return Layer.succeed(HypervisorAccess, {
    observe: () =>
      called(
        world,
        { port: "access", method: "observe", mutating: false, action: undefined },
        Effect.sync(() => observe(world)),
      ),
    // tests name the kind of change in their faults
    apply: (change, password) => attempt(change.kind, changeDoing(change), () => applied(world, change, password)),
    poolExists: (poolId) => run("poolExists", false, () => world.pools.has(poolId)),
    ensurePool: (poolId) => run("ensurePool", true, () => void world.pools.add(poolId)),
    removePool: (poolId) => attempt("removePool", `remove pool ${poolId}`, () => removePool(world, poolId)),
    privileges: run("privileges", false, () => []),
  })
}

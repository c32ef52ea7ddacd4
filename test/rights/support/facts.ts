import {
  type AccountId,
  accountIdOf,
  adminGroup,
  groupOfAccount,
  letIn,
  networkComment,
  placePath,
  type Range,
  rootUserId,
  userGroup,
  vnetName,
} from "@rangewright/domain"
import { boot, call, type Process, type Site, stop, unsealed } from "./site.ts"

/**
 * Who may do what, as sentences: `bob@pve has LAB`, `bob@pve is an administrator`, `bob@pve is there`, `bob@pve signs in with secret`,
 * `the router of LAB lets 4 in`.
 */
export type Facts = ReadonlySet<string>

const usersOf = ({ store }: Site) => [...store.users.values()].filter(({ user }) => user.id !== rootUserId)

const haveRange = ({ store }: Site, { id }: Range): ReadonlySet<string> => {
  const byGroup = [...store.groups.values()].filter(({ ranges }) => ranges.has(id)).flatMap(({ roles }) => [...roles.keys()])
  return new Set([...(store.grants.get(id) ?? []), ...byGroup])
}

/** The VM of a range's router, if one runs. */
const routerOf = ({ world }: Site, { id }: Range) =>
  [...world.vms.values()].find(({ pool, name, power }) => pool === id && name.includes("router") && power === "running")

/** The facts that the store implies, derived here from the bare records. */
export const storedFacts = (site: Site): Facts => {
  const facts = new Set<string>()
  const ranges = [...site.store.ranges.values()]
  for (const { user, secrets } of usersOf(site)) {
    const account = accountIdOf(user)
    facts.add(`${account} is there`)
    facts.add(`${account} signs in with ${unsealed(secrets.sealedPassword ?? "")}`)
    if (user.isAdmin) facts.add(`${account} is an administrator`)
    for (const range of ranges) {
      if (!haveRange(site, range).has(user.id)) continue
      facts.add(`${account} has ${range.id}`)
      if (routerOf(site, range) !== undefined) facts.add(`the router of ${range.id} lets ${account} in`)
    }
  }
  return facts
}

/** The users whom a router really lets in, by the rules that it was last given. */
const letInBy = ({ world }: Site, vmid: number): readonly number[] => {
  const last = world.calls.findLast(
    ({ method, action }) =>
      action?.kind === "guest" && method === "dispatch" && action.machine.vmid === vmid && action.stage === "firewall",
  )?.action
  return last?.kind === "guest" ? letIn(last.input) : []
}

/** Foreign accounts and their names in the tests. */
export const foreign = { account: "carol@pve", group: "students", pool: "THEIRS" } as const

/** The paths of the VNets that ranges have. */
const vnetsOf = ({ store, world }: Site) =>
  [...store.ranges.values()].flatMap((range) =>
    [...world.networks.values()].flatMap(({ spec }) =>
      spec.type === "vnet" && spec.alias === networkComment(range.id) ? [{ range, path: placePath(spec) }] : [],
    ),
  )

/** The range whose pool, VNet (even one that is gone) or machine is at the path; for a VNet of no range, the path. Undefined: neither. */
const rangeAt = ({ store, world }: Site, path: string): string | undefined => {
  const pool = path.startsWith("/pool/") ? path.slice("/pool/".length) : undefined
  if (path.startsWith("/sdn/"))
    return [...store.ranges.values()].find(({ number }) => path.endsWith(`/${vnetName(number)}`))?.id ?? path
  const machine = [...world.vms.values()].find(({ vmid, template }) => !template && path === `/vms/${vmid}`)
  return pool ?? machine?.pool
}

/** The facts that hold in the world. */
export const worldFacts = (site: Site): Facts => {
  const { world } = site
  const facts = new Set<string>()
  for (const [account, { groups, password, ours }] of world.accounts) {
    if (!ours) continue
    facts.add(`${account} is there`)
    facts.add(`${account} signs in with ${password ?? "nothing"}`)
    if (groups.has(adminGroup)) facts.add(`${account} is an administrator`)
    for (const { path, subject } of world.acl.values()) {
      const has = subject.type === "group" ? groups.has(subject.name) && subject.name !== adminGroup : subject.name === account
      const range = rangeAt(site, path)
      if (has && range !== undefined && range !== foreign.pool) facts.add(`${account} has ${range}`)
    }
  }
  const accountOf = new Map(usersOf(site).map(({ user }) => [user.number, accountIdOf(user)]))
  for (const range of site.store.ranges.values()) {
    const router = routerOf(site, range)
    if (router === undefined) continue
    for (const number of letInBy(site, router.vmid))
      facts.add(`the router of ${range.id} lets ${accountOf.get(number) ?? `number ${number}`} in`)
  }
  return facts
}

/** Facts that should not hold and do, and facts that should and do not. */
export const differences = (site: Site): readonly string[] => {
  const [stored, real] = [storedFacts(site), worldFacts(site)]
  return [
    ...[...real].filter((fact) => !stored.has(fact)).map((fact) => `unwanted: ${fact}`),
    ...[...stored].filter((fact) => !real.has(fact)).map((fact) => `missing: ${fact}`),
  ].sort()
}

const compared = (what: string, real: Iterable<string>, wanted: Iterable<string>): readonly string[] => {
  const [have, want] = [new Set(real), new Set(wanted)]
  return [
    ...[...have].filter((one) => !want.has(one)).map((one) => `${what} ${one} is left`),
    ...[...want].filter((one) => !have.has(one)).map((one) => `${what} ${one} is missing`),
  ]
}

/** Differences in every object of ours and of others, down to the last entry. */
const structure = (site: Site): readonly string[] => {
  const { store, world } = site
  const accounts = usersOf(site).map(({ user }) => ({ id: accountIdOf(user), user }))
  const pools = [...store.ranges.values()].map((range) => ({ range, path: `/pool/${range.id}` }))
  const places = [...pools, ...vnetsOf(site)]
  // rights on a VNet that is gone are removed with its range
  const ofGoneVnet = (path: string): boolean =>
    rangeAt(site, path) !== path && path.startsWith("/sdn/") && !places.some((place) => place.path === path)
  const problems = [
    ...compared("account", world.accounts.keys(), [...accounts.map(({ id }) => id), foreign.account]),
    ...compared("group", world.groups.keys(), [
      userGroup,
      adminGroup,
      foreign.group,
      ...accounts.map(({ id }) => groupOfAccount(id)),
    ]),
    ...compared("pool", world.pools, [...store.ranges.keys(), foreign.pool]),
    ...compared(
      "right",
      [...world.acl.values()].flatMap(({ path, subject }) =>
        rangeAt(site, path) === undefined || ofGoneVnet(path) ? [] : [`${subject.type} ${subject.name} on ${path}`],
      ),
      [
        `user ${foreign.account} on /pool/${foreign.pool}`,
        ...places.flatMap(({ range, path }) => [
          `group ${adminGroup} on ${path}`,
          ...[...haveRange(site, range)].flatMap((id) => {
            const owner = accounts.find(({ user }) => user.id === id)
            return owner === undefined ? [] : [`group ${groupOfAccount(owner.id)} on ${path}`]
          }),
        ]),
      ],
    ),
    ...compared(
      "unfinished run",
      [...store.runs.values()]
        .filter(({ record }) => record.status === "running")
        .map(({ record }) => `${record.kind} ${record.id}`),
      [],
    ),
  ]
  for (const { id, user } of accounts) {
    const groups = [userGroup, groupOfAccount(id), ...(user.isAdmin ? [adminGroup] : [])]
    const own = world.accounts.get(id)
    problems.push(
      ...compared(
        `membership of ${id} in`,
        [...(own?.groups ?? [])].filter((name) => name !== foreign.group),
        groups,
      ),
    )
  }
  return problems
}

/** Foreign objects, and grants by others to our accounts, as they are now. An account that is removed takes its grants with it. */
const othersThings = (site: Site): ReadonlySet<string> => {
  const { world } = site
  return new Set([
    `${foreign.account} ${JSON.stringify({ ...world.accounts.get(foreign.account as AccountId), groups: [] })}`,
    ...[...world.accounts].flatMap(([id, { groups }]) => (groups.has(foreign.group) ? [`${id} is in ${foreign.group}`] : [])),
    ...[...world.acl.values()].flatMap(({ subject, ...right }) =>
      subject.type === "user" && (rangeAt(site, right.path) ?? foreign.pool) === foreign.pool
        ? [`${subject.name} has ${JSON.stringify(right)}`]
        : [],
    ),
  ])
}

/** Records the foreign objects; the result reports which of them were touched later, or in a later copy of the site. */
export const noteOthers = (site: Site): ((later: Site) => readonly string[]) => {
  const before = othersThings(site)
  return (later) => {
    const isThere = (thing: string): boolean => later.world.accounts.has((thing.split(" ")[0] ?? "") as AccountId)
    return compared("others' thing:", othersThings(later), [...before].filter(isThere))
  }
}

export interface Shown {
  readonly inLine: boolean
  readonly revocations: readonly string[]
  readonly grants: readonly string[]
  readonly routers: readonly string[]
  readonly notes: readonly string[]
}

/** The answer of `GET /access`. It only reads the store, so any process can give it; a new one if none is named that lives. */
export const shown = async (site: Site, running?: Process): Promise<Shown> => {
  const process = running === undefined || running.gate.dead() ? boot(site) : running
  const answer = await call(process, { id: "getAccess", as: "BOSS" })
  if (process !== running) await stop(process)
  if (answer?.ok !== true) throw new Error("GET /access did not answer")
  return answer.value as Shown
}

/** All problems at a moment when everything should be in line. */
export const problemsOf = async (site: Site, running?: Process): Promise<readonly string[]> => {
  const { inLine, revocations, grants, routers } = await shown(site, running)
  // a router that is off lets nobody in, and is updated when it is on again
  const isOff = (text: string): boolean =>
    [...site.store.ranges.values()].some((range) => text.includes(` ${range.id} `) && routerOf(site, range) === undefined)
  const pending = [...revocations, ...grants, ...routers.filter((text) => !isOff(text))]
  const says = inLine || pending.length === 0 ? [] : [`GET /access says: ${[...revocations, ...grants, ...routers].join("; ")}`]
  return [...differences(site), ...structure(site), ...says]
}

/** Whether a range is being deleted, or was half deleted: its rights are removed step by step. */
const isLeaving = ({ store }: Site, text: string): boolean =>
  [...store.runs.values()].some(
    ({ record: { kind, subject } }) => kind === "delete-range" && subject.type === "range" && text.endsWith(`has ${subject.id}`),
  )

/** Differences from the store that `GET /access` does not report. */
export const silences = async (site: Site): Promise<readonly string[]> => {
  const found = differences(site).filter((text) => !text.startsWith("missing") || !isLeaving(site, text))
  if (found.length === 0) return []
  const { inLine, revocations, routers } = await shown(site)
  const hidden = inLine ? ["GET /access says that all is in line"] : []
  const isRight = (text: string) => text.startsWith("unwanted") && !text.includes("signs in with") && !text.includes("router")
  const silent = found.some(isRight) && revocations.length === 0 ? ["GET /access shows no pending revocation"] : []
  const deaf = found.some((text) => text.includes("router")) && routers.length === 0 ? ["GET /access shows no stale router"] : []
  const all = [...hidden, ...silent, ...deaf]
  return all.length === 0 ? [] : [...all, ...found]
}

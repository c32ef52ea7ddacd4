import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { accountIdOf, adminGroup, rootUserId } from "@rangewright/domain"
import { createSimulator, type Simulator } from "@rangewright/pve-simulator"
import * as Clock from "effect/Clock"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { asRoot } from "../../contracts/hypervisor/support/as-root.ts"
import type { CallGate } from "./call-gate.ts"
import { shown, storedFacts } from "./facts.ts"
import { boot, call, type Call, makeSite, type Site, sleep, stop, unsealed } from "./site.ts"

/** What happens to one changing HTTP request to the hypervisor. */
export const wireFaults = ["dies before", "dies after", "drops before", "drops after", "500 before", "500 after"] as const
export type WireFault = (typeof wireFaults)[number]

export interface WireSite extends Site {
  readonly sim: Simulator
  /** Starts counting: the n-th changing request from here on is disturbed. */
  readonly disturb: (at?: { readonly nth: number; readonly how: WireFault }) => void
  /** The changing requests since. */
  readonly asked: readonly string[]
}

type Handle = Simulator["handle"]
const dropped = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" })
const refused = { status: 500, headers: { "content-type": "application/json" }, body: '{"data":null,"message":"got timeout"}' }

const users = ["BOSS", "BOB", "CAT"] as const
export const othersAccount = "carol@pve"
const othersGroup = "students"

/** One node, a service with an API token, and foreign objects. BOB has DEN, CAT has it through the group TEAM; each has an own range too. */
export const makeWireSite = async (): Promise<WireSite> => {
  const site = makeSite()
  const sim = createSimulator({ clock: { now: site.clock.now, schedule: site.clock.schedule } })
  const [id = "", secret = ""] = sim.rootToken.split("=")
  const asked: string[] = []
  let at: Parameters<WireSite["disturb"]>[0]
  /** The simulator as one process reaches it. */
  const reached =
    (gate: CallGate): Handle =>
    async (request) => {
      // requests of a dead process are never answered, and it sends no more
      if (gate.dead()) return new Promise(() => undefined)
      if (request.method === "GET") return sim.handle(request)
      asked.push(`${request.method} ${request.path}`)
      const how = asked.length === at?.nth ? at.how : undefined
      if (how === undefined) return sim.handle(request)
      const [what, when] = how.split(" ")
      if (when === "after") await sim.handle(request)
      if (what === "500") return { ...(await sim.handle({ ...request, method: "GET", path: "/api2/json/version" })), ...refused }
      if (what === "drops") throw dropped()
      gate.kill()
      return new Promise(() => undefined)
    }
  const wired: WireSite = {
    ...site,
    sim,
    asked,
    disturb: (next) => {
      at = next
      asked.length = 0
    },
    hypervisor: (gate) =>
      proxmoxLayer({
        urls: [],
        auth: { type: "token", id, secret: Redacted.make(secret) },
        transport: handlerTransport(reached(gate)),
      }).pipe(Layer.provide(Layer.succeed(Clock.Clock, site.clock))) as unknown as ReturnType<NonNullable<Site["hypervisor"]>>,
  }
  const process = boot(wired, { background: true })
  for (const [nth, user] of users.entries())
    site.store.users.set(user as never, {
      user: {
        id: user,
        recordId: `${user.toLowerCase()}000000000000`,
        number: nth + 2,
        name: user,
        email: `${user}@lab.example`,
        isAdmin: user === "BOSS",
        hypervisorUsername: user.toLowerCase(),
        hypervisorRealm: "pve",
        defaultRangeId: undefined,
        hasCompletedOnboarding: false,
        createdAt: new Date(0),
        updatedAt: new Date(0),
        lastActiveAt: undefined,
      } as never,
      secrets: { apiKeyHash: undefined, sealedPassword: `x\nFirst-${user}-password`, tokenKey: "t" },
    })
  const must = async (request: Call): Promise<void> => {
    const answer = await call(process, request)
    if (answer?.ok !== true) throw new Error(`${request.id}: ${answer?.fault?.message ?? "nothing to ask"}`)
  }
  await must({ id: "createRange", as: "BOSS", body: { name: "Den", rangeID: "DEN", userID: ["BOB"] } })
  await must({ id: "createRange", as: "BOSS", body: { name: "Hut", rangeID: "HUT", userID: ["CAT"] } })
  await must({ id: "createGroup", as: "BOSS", body: { name: "TEAM" } })
  await must({ id: "addUsersToGroup", as: "BOSS", group: "TEAM", body: { userIDs: ["BOB", "CAT"] } })
  await must({ id: "addRangesToGroup", as: "BOSS", group: "TEAM", body: { rangeIDs: ["DEN"] } })
  await sleep(process, 60)
  const root = (method: string, path: string, form: string) => asRoot(sim, method, path, form)
  await root("POST", "/access/groups", `groupid=${othersGroup}`)
  await root("POST", "/access/users", `userid=${othersAccount}&password=carols-own&groups=${othersGroup}`)
  await root("PUT", "/access/users/bob@pve", `groups=${othersGroup}&append=1`)
  await root("POST", "/pools", "poolid=THEIRS")
  await root("PUT", "/access/acl", `path=/vms/101&users=bob@pve,${othersAccount}&roles=PVEVMUser`)
  await root("PUT", "/access/acl", `path=/pool/THEIRS&users=bob@pve&groups=${othersGroup}&roles=PVEVMAdmin`)
  await sleep(process, 60)
  await stop(process)
  const problems = await wireProblems(wired)
  if (problems.length > 0) throw new Error(`the node is not in line:\n${problems.join("\n")}`)
  return wired
}

const formType = { "content-type": "application/x-www-form-urlencoded" }

const signIn = (sim: Simulator, account: string, password: string) =>
  sim.handle({
    method: "POST",
    path: "/api2/json/access/ticket",
    headers: formType,
    body: `username=${encodeURIComponent(account)}&password=${encodeURIComponent(password)}`,
  })

const signsIn = async (sim: Simulator, account: string, password: string): Promise<boolean> =>
  (await signIn(sim, account, password)).status === 200

/** Changes the access list as a signed-in account; returns the status. */
export const giveRight = async (
  { sim }: WireSite,
  { account, password }: { readonly account: string; readonly password: string },
  body: string,
): Promise<number> => {
  const { data } = JSON.parse((await signIn(sim, account, password)).body) as {
    readonly data: { readonly ticket: string; readonly CSRFPreventionToken: string }
  }
  const headers = {
    ...formType,
    cookie: `PVEAuthCookie=${encodeURIComponent(data.ticket)}`,
    csrfpreventiontoken: data.CSRFPreventionToken,
  }
  return (await sim.handle({ method: "PUT", path: "/api2/json/access/acl", headers, body })).status
}

/** Changes the access list as root. */
export const giveAsRoot = ({ sim }: WireSite, form: string): Promise<string> => asRoot(sim, "PUT", "/access/acl", form)

/** Whether an account may use the machines of a pool. */
export const mayOn = async ({ sim }: WireSite, account: string, path: string): Promise<boolean> => {
  const answer = await asRoot(sim, "GET", `/access/permissions?userid=${encodeURIComponent(account)}&path=${path}`)
  return answer.includes("VM.PowerMgmt")
}

/** Creates a machine in a pool without the service; returns its VMID. */
export const vmIn = async ({ sim }: WireSite, pool: string): Promise<number> => {
  const vmid = 20_001
  const [node] = sim.state.nodes.keys()
  await asRoot(sim, "POST", `/nodes/${node}/qemu`, `vmid=${vmid}&pool=${pool}`)
  return vmid
}

/** The subjects of the entries at a path, as the simulator keeps them. */
export const accessListAt = ({ sim }: WireSite, path: string): readonly string[] =>
  [...(sim.state.access.acl.get(path)?.keys() ?? [])].toSorted()

/** The differences between the node and the store. */
export const wireProblems = async (site: WireSite): Promise<readonly string[]> => {
  const { users: accounts, groups, acl } = site.sim.state.access
  const passwords = new Map(
    [...site.store.users.values()]
      .filter(({ user }) => user.id !== rootUserId)
      .map(({ user, secrets }) => [accountIdOf(user) as string, unsealed(secrets.sealedPassword ?? "")]),
  )
  const facts = new Set<string>()
  for (const account of accounts.keys()) {
    if (!account.endsWith("@pve") || account === othersAccount) continue
    facts.add(`${account} is there`)
    const password = passwords.get(account)
    if (password !== undefined && (await signsIn(site.sim, account, password))) facts.add(`${account} signs in with ${password}`)
    if (groups.get(adminGroup)?.members.has(account) === true) facts.add(`${account} is an administrator`)
    for (const [path, subjects] of acl) {
      const range = path.startsWith("/pool/") ? path.slice("/pool/".length) : undefined
      if (range === undefined || range === "THEIRS") continue
      const isIts = (subject: string): boolean =>
        subject === account || (subject !== `@${adminGroup}` && groups.get(subject.slice(1))?.members.has(account) === true)
      if ([...subjects.keys()].some(isIts)) facts.add(`${account} has ${range}`)
    }
  }
  const stored = storedFacts(site)
  const { inLine, revocations, grants } = await shown(site)
  return [
    ...[...facts].filter((fact) => !stored.has(fact)).map((fact) => `unwanted: ${fact}`),
    ...[...stored].filter((fact) => !facts.has(fact)).map((fact) => `missing: ${fact}`),
    ...[...site.sim.state.pools.keys()]
      .filter((pool) => pool !== "THEIRS" && pool !== "SHARED" && !site.store.ranges.has(pool as never))
      .map((pool) => `pool ${pool} is left`),
    ...(inLine ? [] : [`GET /access says: ${[...revocations, ...grants].join("; ")}`]),
  ]
}

/** Objects and grants that others made. */
export const wireOthers = ({ sim }: WireSite) => {
  const { users: accounts, groups, acl } = sim.state.access
  const entries = ["/vms/101", "/pool/THEIRS"].map((path) => [
    path,
    [...(acl.get(path) ?? [])].map(([who, roles]) => `${who} ${JSON.stringify([...roles])}`).sort(),
  ])
  return {
    carol: structuredClone(accounts.get(othersAccount)),
    students: [...(groups.get(othersGroup)?.members ?? [])].sort(),
    entries,
  }
}

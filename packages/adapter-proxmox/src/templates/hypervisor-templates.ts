import type { RunId } from "@rangewright/domain"
import { isVmid } from "@rangewright/domain"
import { HypervisorFault, type HypervisorTemplates, type MadeMachine, type NamedMachine } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import { has } from "../access/faults.ts"
import { findPool } from "../access/pools.ts"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { readConfig } from "../hypervisor/identity.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { parseUpid } from "../tasks/upid.ts"
import { flag, nodeIn, number, recordOf, rows, text } from "../wire/read.ts"
import { membersIn, placesIn } from "./members.ts"
import { accountOf, buildComment, idOfAccount, idOfPool, poolOf, sharedPool, tokenName } from "./names.ts"
import { type BuildPlaces, grantBuild } from "./rights.ts"

type Shape = Context.Service.Shape<typeof HypervisorTemplates>

/** How long a pool may still list removed members. */
const lateSeconds = 30

const notOurs = (doing: string, detail: string): HypervisorFault => new HypervisorFault({ doing, reason: "not-ours", detail })

const unlessGone = <A>(effect: Effect.Effect<A, HypervisorFault>): Effect.Effect<A | undefined, HypervisorFault> =>
  Effect.catchIf(effect, has("not-found"), () => Effect.succeed(undefined))

/** Pool `SHARED`, and the pools and accounts of builds. */
export const makeHypervisorTemplates = (client: PveClient, awaitTask: AwaitTask, places: BuildPlaces): Shape => {
  /** Runs a call that starts a task, and waits for the task's end. */
  const perform = Effect.fnUntraced(function* (
    call: Effect.Effect<Parameters<typeof startedTask>[0], HypervisorFault>,
    doing: string,
  ): Effect.fn.Return<void, HypervisorFault> {
    const outcome = yield* awaitTask(yield* startedTask(yield* call, doing))
    if (outcome.type !== "ok") return yield* taskFault(doing, outcome)
  })

  const makePool = Effect.fnUntraced(function* (
    poolid: string,
    comment: string,
    doing: string,
  ): Effect.fn.Return<void, HypervisorFault> {
    yield* client.post("/pools", { poolid, comment }, { doing }).pipe(
      Effect.asVoid,
      Effect.catchIf(has("taken"), () => Effect.void),
    )
  })

  /** The build's pool, which marks everything in it as the build's; fails when somebody else created one of that name. */
  const ownPool = Effect.fnUntraced(function* (id: RunId, doing: string) {
    const pool = yield* findPool(client, poolOf(id), doing)
    const comment = pool === undefined ? undefined : text(pool, "comment")
    if (pool !== undefined && comment !== buildComment)
      return yield* notOurs(doing, `the pool ${poolOf(id)} was not created for a build`)
    return pool
  })

  const removeAccount = Effect.fnUntraced(function* (id: RunId, doing: string): Effect.fn.Return<void, HypervisorFault> {
    const user = yield* unlessGone(client.get(path`/access/users/${accountOf(id)}`, {}, { doing }))
    if (user === undefined) return
    if (text(recordOf(user.data), "comment") !== buildComment)
      return yield* notOurs(doing, `the account ${accountOf(id)} was not created by the service`)
    yield* unlessGone(client.remove(path`/access/users/${accountOf(id)}`, {}, { doing }))
  })

  const open: Shape["open"] = Effect.fnUntraced(function* (id, node) {
    const doing = `open the hypervisor for build ${id}`
    const username = accountOf(id)
    const password = randomBytes(24).toString("hex")
    yield* makePool(poolOf(id), buildComment, doing)
    yield* ownPool(id, doing)
    yield* makePool(sharedPool, "", doing)
    yield* removeAccount(id, doing)
    yield* client.post("/access/users", { userid: username, password, comment: buildComment, enable: true }, { doing })
    const token = yield* client.post(path`/access/users/${username}/token/${tokenName}`, { privsep: false }, { doing })
    const secret = text(recordOf(token.data), "value")
    if (secret === undefined)
      return yield* new HypervisorFault({ doing, reason: "unknown-effect", detail: "the answer holds no token" })
    yield* grantBuild(client, places, { id, account: username, node }, doing)
    return {
      username,
      password: Redacted.make(password),
      tokenId: `${username}!${tokenName}`,
      tokenSecret: Redacted.make(secret),
      pool: poolOf(id),
    }
  })

  const made: Shape["made"] = (id) => membersIn(client, poolOf(id), `find out what build ${id} created`)

  const sameTemplate =
    ({ vmid, name }: NamedMachine) =>
    (machine: MadeMachine): boolean =>
      machine.vmid === vmid && machine.name === name && machine.template

  const adopt: Shape["adopt"] = Effect.fnUntraced(function* (id, template) {
    const doing = `move template ${template.name} (VM ${template.vmid}) to pool ${sharedPool}`
    const shared = yield* membersIn(client, sharedPool, doing)
    if (shared.some(sameTemplate(template))) return
    const other = shared.find(({ name, template: is }) => is && name === template.name)
    if (other !== undefined)
      return yield* new HypervisorFault({ doing, reason: "taken", detail: `VM ${other.vmid} is a template of this name there` })
    yield* ownPool(id, doing)
    if (!(yield* membersIn(client, poolOf(id), doing)).some(sameTemplate(template)))
      return yield* notOurs(doing, `the build's pool holds no template of this number and name`)
    yield* makePool(sharedPool, "", doing)
    yield* client.put("/pools", { poolid: sharedPool, vms: template.vmid, "allow-move": true }, { doing })
  })

  const running = Effect.fnUntraced(function* (id: RunId, doing: string) {
    const own = accountOf(id)
    return rows((yield* client.get("/cluster/tasks", {}, { doing })).data).flatMap((row) => {
      const user = text(row, "user") ?? ""
      const upid = parseUpid(text(row, "upid"))
      return upid !== undefined && (user === own || user.startsWith(`${own}!`)) && text(row, "endtime") === undefined
        ? [upid]
        : []
    })
  })

  const removeMachine = Effect.fnUntraced(function* (
    { vmid, node, kind }: ReturnType<typeof placesIn>[number],
    doing: string,
  ): Effect.fn.Return<void, HypervisorFault> {
    const about = `${doing}: remove ${kind === "lxc" ? "container" : "VM"} ${vmid}`
    const at = path`/nodes/${node}/${kind}/${vmid}`
    const status = yield* unlessGone(client.get(`${at}/status/current`, {}, { doing: about }))
    if (status === undefined) return
    if (text(recordOf(status.data), "status") === "running")
      yield* perform(client.post(`${at}/status/stop`, {}, { doing: about }), about)
    const params = { purge: true, "destroy-unreferenced-disks": true }
    yield* unlessGone(perform(client.remove(at, params, { doing: about }), about))
  })

  /** Removes images that a build uploaded and that no finished template has in a drive. Their names start with its pool's name. */
  const removeImages = Effect.fnUntraced(function* (id: RunId, doing: string): Effect.fn.Return<void, HypervisorFault> {
    const { isoStorage } = places
    const storages = rows((yield* client.get("/cluster/resources", { type: "storage" }, { doing })).data).filter(
      (row) => text(row, "storage") === isoStorage && text(row, "status") === "available",
    )
    for (const node of storages.flatMap((row) => nodeIn(row) ?? [])) {
      const content = yield* client.get(path`/nodes/${node}/storage/${isoStorage}/content`, { content: "iso" }, { doing })
      const own = rows(content.data).flatMap((row) => {
        const volid = text(row, "volid") ?? ""
        return volid.startsWith(`${isoStorage}:iso/${poolOf(id)}-`) ? [volid] : []
      })
      if (own.length === 0) continue
      const inDrives: string[] = []
      for (const at of placesIn(yield* findPool(client, sharedPool, doing)))
        if (at.kind === "qemu")
          inDrives.push(...Object.values((yield* readConfig(client, at.node, at.vmid, doing)) ?? {}).map(String))
      for (const volid of own) {
        if (inDrives.some((device) => device.split(",").includes(volid))) continue
        const gone = client.remove(path`/nodes/${node}/storage/${isoStorage}/content/${volid}`, {}, { doing })
        // a service that may not remove images still finishes its builds
        yield* unlessGone(perform(gone, doing)).pipe(Effect.catchIf(has("forbidden"), () => Effect.void))
      }
    }
  })

  const close: Shape["close"] = Effect.fnUntraced(function* (id) {
    const doing = `remove what build ${id} left on the hypervisor`
    const pool = yield* ownPool(id, doing)
    // the build's account can start nothing more; running tasks continue
    yield* removeAccount(id, doing)
    for (const upid of yield* running(id, doing)) {
      yield* Effect.ignore(client.remove(path`/nodes/${upid.node}/tasks/${upid.text}`, {}, { doing }))
      yield* awaitTask(upid)
    }
    if (pool === undefined) return
    for (const member of placesIn(yield* findPool(client, poolOf(id), doing))) yield* removeMachine(member, doing)
    yield* removeImages(id, doing)
    const empty = yield* lookUntil(
      () =>
        Effect.map(findPool(client, poolOf(id), doing), (now) => (placesIn(now).length === 0 ? ("empty" as const) : undefined)),
      { seconds: lateSeconds, fastest: 0.5, slowest: 3 },
    )
    if (empty === undefined)
      return yield* new HypervisorFault({ doing, reason: "locked", detail: `the pool ${poolOf(id)} still holds a machine` })
    yield* unlessGone(client.remove("/pools", { poolid: poolOf(id) }, { doing }))
  })

  const opened: Shape["opened"] = Effect.gen(function* () {
    const doing = "look for builds on the hypervisor"
    const pools = rows((yield* client.get("/pools", {}, { doing })).data).flatMap((row) =>
      text(row, "comment") === buildComment ? idOfPool(text(row, "poolid") ?? "") : [],
    )
    const accounts = rows((yield* client.get("/access/users", {}, { doing })).data).flatMap((row) =>
      text(row, "comment") === buildComment ? idOfAccount(text(row, "userid") ?? "") : [],
    )
    return [...new Set([...pools, ...accounts])].toSorted()
  })

  /** Where a template is, confirmed by its own configuration to be one of this name. */
  const templateAt = Effect.fnUntraced(function* (template: NamedMachine, doing: string) {
    const at = placesIn(yield* findPool(client, sharedPool, doing)).find(({ vmid }) => vmid === template.vmid)
    const config = at === undefined ? undefined : yield* readConfig(client, at.node, at.vmid, doing)
    if (at === undefined || config === undefined) return undefined
    if (text(config, "name") !== template.name || !flag(config, "template"))
      return yield* notOurs(doing, `VM ${template.vmid} is not a template with this name`)
    return { node: at.node, config }
  })

  const clones: Shape["clones"] = Effect.fnUntraced(function* (template) {
    const doing = `look for clones of template ${template.name}`
    const found = yield* templateAt(template, doing)
    if (found === undefined) return []
    const base = new RegExp(`(?:^|[:/])base-${template.vmid}-`, "u")
    const storages = new Set(
      Object.values(found.config).flatMap((value) =>
        typeof value === "string" && base.test(value) ? value.slice(0, value.indexOf(":")) : [],
      ),
    )
    const needing = new Set<number>()
    for (const storage of storages) {
      const content = yield* client.get(path`/nodes/${found.node}/storage/${storage}/content`, { content: "images" }, { doing })
      for (const row of rows(content.data)) {
        const vmid = number(row, "vmid")
        // some storages name the base in the clone's volume id, others as its parent
        const volume = text(row, "volid") ?? ""
        const from = `${text(row, "parent") ?? ""} ${volume.slice(0, volume.lastIndexOf("/") + 1)}`
        if (vmid !== undefined && vmid !== template.vmid && new RegExp(`\\bbase-${template.vmid}-`, "u").test(from))
          needing.add(vmid)
      }
    }
    const names = new Map(
      rows((yield* client.get("/cluster/resources", { type: "vm" }, { doing })).data).map((row) => [
        number(row, "vmid"),
        text(row, "name"),
      ]),
    )
    return [...needing]
      .filter(isVmid)
      .toSorted((a, b) => a - b)
      .map((vmid) => ({ vmid, name: names.get(vmid) ?? `VM ${vmid}` }))
  })

  const remove: Shape["remove"] = Effect.fnUntraced(function* (template) {
    const doing = `remove template ${template.name} (VM ${template.vmid})`
    const found = yield* templateAt(template, doing)
    if (found === undefined) return
    const needing = yield* clones(template)
    if (needing.length > 0)
      return yield* new HypervisorFault({
        doing,
        reason: "locked",
        detail: `disks of ${needing.map(({ name, vmid }) => `${name} (VM ${vmid})`).join(", ")} need its disks`,
      })
    const gone = client.remove(path`/nodes/${found.node}/qemu/${template.vmid}`, { purge: true }, { doing })
    yield* unlessGone(perform(gone, doing)).pipe(
      Effect.catchIf(
        ({ facts }) => /base volume .* is still in use/u.test(facts.detail),
        ({ facts }) => Effect.fail(new HypervisorFault({ ...facts, reason: "locked" })),
      ),
    )
  })

  return { open, made, adopt, close, opened, clones, remove }
}

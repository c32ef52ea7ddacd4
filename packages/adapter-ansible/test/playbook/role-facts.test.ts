import { cryptoLayer } from "@rangewright/adapter-crypto"
import { parseRangeConfig, type Range, type RangeId, type RecordId, type RunId, type Vmid } from "@rangewright/domain"
import { type GuestTask, type Machines, SecretStore } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { carryFacts } from "../../src/playbook/carry-facts.ts"
import type { Site } from "../../src/playbook/site.ts"
import { type Facts, factsBefore, factsFrom, factsToJson, type KeptFacts, type RoleStep } from "../../src/playbook/role-facts.ts"
import { keep, readKept, readWritten } from "../../src/playbook/role-facts-store.ts"

const facts = (hosts: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Facts =>
  new Map(
    Object.entries(hosts).map(([host, values]) => [
      host,
      new Map(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)])),
    ]),
  )
const plain = (some: Facts): unknown =>
  Object.fromEntries(
    [...some].map(([host, values]) => [
      host,
      Object.fromEntries([...values].map(([name, text]) => [name, JSON.parse(text) as unknown])),
    ]),
  )
const kept = (key: string, at: number, more: Partial<KeptFacts> = {}): KeptFacts => ({
  key,
  machine: key.split(":")[1] ?? "",
  vmid: 200 as Vmid,
  run: "new" as RunId,
  at,
  initial: new Map(),
  set: new Map(),
  ...more,
})
const step = (key: string, steps: readonly string[], done: readonly string[] = []): RoleStep => ({
  key,
  run: { id: "new" as RunId, steps: new Set(steps) },
  isDone: (_, other) => done.includes(other),
})
const old = { run: "old" as RunId }

describe("the facts that a role finds", () => {
  it("are the hosts' initial facts, overlaid with those set by roles, later ones over earlier ones", () => {
    const before = factsBefore(
      [
        kept("role:b:two", 2, { set: facts({ a: { x: 2 }, b: { y: 2 } }) }),
        kept("role:a:one", 1, { initial: facts({ a: { x: 0, z: 0 }, b: { y: 0 } }), set: facts({ a: { x: 1, w: 1 } }) }),
      ],
      step("role:c:three", ["role:a:one", "role:b:two", "role:c:three"]),
    )
    expect(plain(before.facts)).toEqual({ a: { x: 2, z: 0, w: 1 }, b: { y: 2 } })
    expect(plain(before.initial)).toEqual({ a: { x: 0, z: 0 }, b: { y: 0 } })
  })

  it("are those of this run, and of roles skipped because they are done", () => {
    const all = [
      kept("role:a:done", 1, { ...old, set: facts({ a: { done: 1 } }), initial: facts({ a: { began: "long ago" } }) }),
      kept("role:a:again", 2, { ...old, set: facts({ a: { again: 1 } }) }),
      kept("role:a:gone", 3, { ...old, set: facts({ a: { gone: 1 } }) }),
    ]
    const steps = ["role:a:again", "role:a:last"]
    const before = factsBefore(all, step("role:a:last", steps, ["role:a:done", "role:a:again"]))
    expect(plain(before.facts)).toEqual({ a: { done: 1 } })
    expect(plain(before.initial)).toEqual({})
  })

  it("are not those it set itself before it was interrupted, but those it began with", () => {
    const own = kept("role:a:one", 1, { initial: facts({ a: { random: 7 } }), set: facts({ a: { half: true } }) })
    const before = factsBefore([own], step("role:a:one", ["role:a:one"]))
    expect(plain(before.facts)).toEqual({ a: { random: 7 } })
  })

  it("are, when roles began side by side, each machine's own variables as it evaluated them", () => {
    const all = [
      kept("role:a:one", 2, { initial: facts({ a: { r: "a by a" }, b: { r: "b by a" }, c: { r: "c by a" } }) }),
      kept("role:b:one", 1, { initial: facts({ a: { r: "a by b" }, b: { r: "b by b" }, c: { r: "c by b" } }) }),
    ]
    const before = factsBefore(all, step("role:c:one", ["role:a:one", "role:b:one", "role:c:one"]))
    expect(plain(before.facts)).toEqual({ a: { r: "a by a" }, b: { r: "b by b" }, c: { r: "c by b" } })
  })

  it("are data, whatever their names", () => {
    const names = facts({ __proto__: { polluted: 1 }, constructor: { __proto__: 1, toString: 2 } })
    const before = factsBefore([kept("role:a:one", 1, { set: names })], step("role:b:two", ["role:a:one", "role:b:two"]))
    expect(factsFrom(JSON.parse(factsToJson(before.facts)))).toEqual(before.facts)
    expect(Object("").polluted).toBeUndefined()
  })
})

describe("what is kept of roles on the service's host", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rw-facts-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const range = { id: "LAB/../x" as RangeId, recordId: "one" as RecordId }
  const withSecrets = <A, E>(use: (secrets: SecretStore["Service"]) => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.provide(SecretStore.use(use), cryptoLayer({ bytes: new Uint8Array(32) })))
  const store = () => ({ roleFacts: join(folder, "kept") })
  const put = (some: KeptFacts, whose = range) =>
    withSecrets((secrets) => Effect.promise(() => keep(store(), secrets, whose, some)))
  const all = (whose = range) => withSecrets((secrets) => readKept(store(), secrets, whose))

  it("is the last state, readable by nobody else, and of this range only", async () => {
    await put(kept("role:a:one", 1, { set: facts({ a: { x: 1 } }) }))
    await put(kept("role:a:one", 2, { set: facts({ a: { x: 2 } }), initial: facts({ a: { y: 0 } }) }))
    await put(kept(`role:a:${"long".repeat(100)}`, 3))
    expect(await readdir(store().roleFacts)).toEqual(["LAB%2F%2E%2E%2Fx"])
    const found = (await all()).toSorted((a, b) => a.at - b.at)
    expect(found[0]).toEqual(kept("role:a:one", 2, { set: facts({ a: { x: 2 } }), initial: facts({ a: { y: 0 } }) }))
    expect(found).toHaveLength(2)
    for (const name of await readdir(join(store().roleFacts, "LAB%2F%2E%2E%2Fx")))
      expect((await stat(join(store().roleFacts, "LAB%2F%2E%2E%2Fx", name))).mode & 0o777).toBe(0o600)
    // another range of the same name
    expect(await all({ ...range, recordId: "two" as RecordId })).toEqual([])
  })

  const machine = (name: string, vars: string) =>
    `{vm_name: ${name}, hostname: ${name}, template: t, vlan: 10, ip_last_octet: 1${name.length}, ram_gb: 1, cpus: 1, linux: true, roles: [r], role_vars: ${vars}}`
  const configText = `ludus: [${machine("a", "{ansible_port: 2222, plain: 1}")}, ${machine("bb", "{}")}]`

  it("reaches no role as a variable by which Ansible decides where and through what it works, unless the configuration sets it", async () => {
    const whose = { id: "OWN" as RangeId, recordId: "own" as RecordId, number: 7 } as Range
    const names = {
      ansible_connection: "local",
      ansible_host: "127.0.0.1",
      ansible_port: 2222,
      ansible_ssh_common_args: "-o ProxyCommand=id",
      ansible_winrm_kinit_cmd: "id",
      ansible_python_interpreter: "/bin/sh -c id",
      ansible_shell_type: "sh",
      ansible_become_user: "admin",
      ansible_password: "changed",
      ansible_mine: 1,
      token: "t",
    }
    const step = kept("role:a:r", 1, { initial: facts({ a: names, bb: names }), set: facts({ bb: names }) })
    await put(step, whose)
    const task = {
      stage: "role",
      input: { role: "r", vars: {} },
      run: { id: "new" as RunId, steps: new Set(["role:a:r", "role:bb:r"]) },
      machine: { vmid: 201 as Vmid, mark: { machine: "bb" } },
    } as unknown as GuestTask
    const { config } = Result.getOrThrow(parseRangeConfig(configText))
    const site = { range: whose, config, target: { name: "bb" }, hosts: [{ name: "a" }, { name: "bb" }] } as unknown as Site
    const machines = { stages: () => Effect.succeed(new Map()) } as unknown as Machines["Service"]
    const carry = (unprotected: boolean) =>
      withSecrets((secrets) => carryFacts(store(), { machines, secrets }, site, task, unprotected))
    const common = { ansible_become_user: "admin", ansible_password: "changed", ansible_mine: 1, token: "t" }
    const { before, keepFrom } = await carry(false)
    expect(plain(before.facts)).toEqual({ a: { ...common, ansible_port: 2222 }, bb: common })
    // without a sandbox such a configuration is refused
    expect(plain((await carry(true)).before.facts)).toEqual({ a: { ansible_port: 2222, token: "t" }, bb: { token: "t" } })
    const out = join(folder, "out.json")
    await writeFile(
      out,
      JSON.stringify({ initial: {}, set: { bb: { ansible_host: "1", token: "2", "ansible_host\u001b": "3" } } }),
    )
    expect(await Effect.runPromise(keepFrom(out))).toEqual([
      "[facts] later roles do not get Ansible's own variables from this one: ansible_host",
    ])
  })

  it("is limited in size", async () => {
    const large = facts({ a: { x: "x".repeat(3 * 1024 * 1024) } })
    const stored: boolean[] = []
    for (let i = 0; i < 12; i++) stored.push(await put(kept(`role:a:${i}`, i, { set: large })))
    expect(stored.at(0)).toBe(true)
    expect(stored.at(-1)).toBe(false)
    // what was kept of it before would be wrong now
    expect(await put(kept("role:a:0", 99, { set: facts({ a: { x: "x".repeat(9 * 1024 * 1024) } }) }))).toBe(false)
    expect((await all()).map(({ key }) => key)).not.toContain("role:a:0")
  })

  it("is read from the tool only where it is a plain file of the expected form", async () => {
    const path = join(folder, "written.json")
    const good = { initial: {}, set: { a: { x: "1" } } }
    const secret = join(folder, "secret")
    await writeFile(secret, JSON.stringify(good))
    const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["nothing", async () => undefined],
      ["a link", () => symlink(secret, path)],
      ["a folder", () => mkdir(path)],
      ["a pipe", async () => execFileSync("python3", ["-c", "import os, sys; os.mkfifo(sys.argv[1])", path])],
      ["no JSON", () => writeFile(path, "{")],
      ["another form", () => writeFile(path, JSON.stringify({ initial: [], set: {} }))],
      ["values that are no text", () => writeFile(path, JSON.stringify({ initial: {}, set: { a: { x: { deep: 1 } } } }))],
      ["too much", () => writeFile(path, JSON.stringify({ ...good, more: "x".repeat(12 * 1024 * 1024) }))],
      ["deep nesting", () => writeFile(path, `{"initial": {}, "set": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`)],
    ]
    for (const [what, make] of attempts) {
      await rm(path, { recursive: true, force: true })
      await make()
      expect(await readWritten(path), what).toBeUndefined()
    }
    await rm(path, { recursive: true, force: true })
    await writeFile(path, JSON.stringify(good))
    expect(await readWritten(path)).toEqual({ initial: new Map(), set: new Map([["a", new Map([["x", "1"]])]]) })
  })
})

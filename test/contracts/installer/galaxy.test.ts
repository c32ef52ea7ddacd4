import { galaxyAvailability, galaxyInstallerLayer, type GalaxyOptions, libraryLayer } from "@rangewright/adapter-ansible"
import { contentLayer } from "@rangewright/adapter-git"
import type { UserId } from "@rangewright/domain"
import { ArtifactLibrary, type InstallRequest, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { aRelease, installerContract } from "./installer.contract.ts"
import { galaxyServer } from "./support/galaxy-server.ts"

const found = ((): string | undefined => {
  try {
    return execFileSync("sh", ["-c", "command -v ansible-galaxy"], { encoding: "utf8" }).trim()
  } catch {
    return undefined
  }
})()
const tool = found ?? "ansible-galaxy"
const without = found === undefined ? " (skipped: ansible-galaxy is not installed)" : ""

const makeWorld = async (options: Partial<GalaxyOptions> = {}) => {
  const root = mkdtempSync(join(tmpdir(), "galaxy-"))
  const server = await galaxyServer()
  const below = Layer.mergeAll(libraryLayer({ folder: join(root, "library") }), contentLayer({ folder: join(root, "content") }))
  const installer = galaxyInstallerLayer({ folder: join(root, "work"), server: server.url, program: tool, ...options })
  // one installer for all requests of a test, as in the service: each asks the tool once what comes with the host's Ansible
  const runtime = ManagedRuntime.make(Layer.provideMerge(installer, below))
  onTestFinished(async () => {
    await runtime.dispose()
    await server.close()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  const run = <A, E>(effect: Effect.Effect<A, E, RoleInstaller | ArtifactLibrary>) => runtime.runPromise(effect)
  const install = (request: Partial<InstallRequest>) =>
    RoleInstaller.use((port) => port.install({ scope: { type: "global" }, roles: [], collections: [], force: false, ...request }))
  return { root, server, run, install, publish: async (release: Parameters<typeof server.publish>[0]) => server.publish(release) }
}

/** A program that replaces the tool; `$@` are its arguments. */
const program = (root: string, text: string): string => {
  const path = join(root, "tool")
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
  return path
}

// the tool takes a second to start, more on a busy host
describe.skipIf(found === undefined)(`with the real tool${without}`, { timeout: 120_000 }, () => {
  installerContract({ name: "ansible-galaxy", make: makeWorld })

  test("ten roles and ten collections take two runs of the tool", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-count-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const counted = program(root, `echo "$1 $2" >> ${root}/runs\nexec ${tool} "$@"`)
    const { run, install, server } = await makeWorld({ program: counted, tools: { sandbox: "off" } })
    const names = Array.from({ length: 10 }, (_, at) => `acme.x${at}`)
    for (const name of names) for (const type of ["role", "collection"] as const) server.publish(aRelease(type, name, "1.0.0"))
    const wanted = names.map((name) => ({ name }))
    const outcomes = await run(install({ roles: wanted, collections: wanted }))
    expect(outcomes.filter(({ outcome }) => outcome !== "installed")).toEqual([])
    expect(outcomes).toHaveLength(20)
    const runs = readFileSync(join(root, "runs"), "utf8").split("\n")
    // more only if a connection broke
    expect(runs.filter((line) => line.endsWith("install")).slice(0, 2)).toEqual(["role install", "collection install"])
    expect(runs.length).toBeLessThan(20)
  })

  test("a collection whose connection is reset is tried once more, and not more often", async () => {
    const { run, install, server } = await makeWorld()
    server.publish(aRelease("collection", "acme.util", "1.0.0"))
    const wanted = { collections: [{ name: "acme.util" }] }
    server.breakOff(/util.versions/u, 1)
    expect(await run(install(wanted))).toMatchObject([{ name: "acme.util", outcome: "installed" }])
    server.breakOff(/util.versions/u, 2)
    const [again] = await run(install({ ...wanted, force: true }))
    expect(again).toMatchObject({ name: "acme.util", outcome: "failed", because: expect.stringMatching(/reset/iu) })
  })

  test("a name longer than a line of the tool's output is recognized in it", async () => {
    const { run, install } = await makeWorld()
    const name = `acme.${"long-name-".repeat(20)}end`
    const [outcome] = await run(install({ roles: [{ name }] }))
    expect(outcome).toMatchObject({ name, outcome: "failed" })
    expect(outcome?.because).toMatch(/was not found on/u)
  })

  test("an unreachable server fails the requested items, with the reason", async () => {
    const { run, install, server } = await makeWorld()
    await server.close()
    const outcomes = await run(install({ roles: [{ name: "acme.web" }], collections: [{ name: "acme.util" }] }))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["failed", "failed"])
    for (const { because } of outcomes) expect(because).toMatch(/refused|connect/iu)
  })

  test("a server that accepts connections and never responds is given up at the deadline", async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo
    const { run, install, root } = await makeWorld({ server: `http://127.0.0.1:${port}`, timeoutSeconds: 5 })
    const fault = await run(Effect.flip(install({ roles: [{ name: "acme.web" }] })))
    expect(fault).toMatchObject({ kind: "timeout", hint: expect.stringContaining("server") })
    expect(readdirSync(join(root, "work"))).toEqual([])
  })

  test("a collection that comes with the host's Ansible is already present if it fits, and is not copied", async () => {
    const host = mkdtempSync(join(tmpdir(), "galaxy-host-"))
    onTestFinished(() => rmSync(host, { recursive: true, force: true }))
    const own = join(host, "ansible_collections", "acme", "util")
    mkdirSync(own, { recursive: true })
    writeFileSync(join(own, "MANIFEST.json"), JSON.stringify({ collection_info: { version: "1.0.0" } }))
    const { run, install, server } = await makeWorld({ collections: [host] })
    for (const version of ["1.0.0", "2.0.0"]) server.publish(aRelease("collection", "acme.util", version))
    const ask = (version?: string, force = false) =>
      run(install({ collections: [{ name: "acme.util", ...(version === undefined ? {} : { version }) }], force }))
    const listed = async () => (await run(ArtifactLibrary.use((port) => port.list({ type: "global" })))).collections

    for (const version of [undefined, "1.0.0", ">=1.0.0"])
      expect(await ask(version)).toEqual([{ type: "collection", name: "acme.util", version: "1.0.0", outcome: "present" }])
    expect(server.requests).toEqual([])
    expect(await listed()).toEqual([])
    expect(await ask("2.0.0")).toMatchObject([{ version: "2.0.0", outcome: "installed" }])
    expect(await ask(undefined, true)).toMatchObject([{ version: "2.0.0", outcome: "installed" }])
    expect(await listed()).toMatchObject([{ name: "acme.util", version: "2.0.0" }])
  })

  test("a collection that names another Galaxy server comes from there, without the token, and from nowhere else", async () => {
    const hub = await galaxyServer("http://hub.example")
    onTestFinished(() => hub.close())
    const { run, install, server } = await makeWorld({
      token: Redacted.make("t0k3n"),
      tools: {
        resolve: (host) => Promise.resolve(host === "hub.example" ? ["9.9.9.9"] : []),
        dial: async (address, port) => {
          const socket =
            address === "9.9.9.9" ? connect(Number(new URL(hub.url).port), "127.0.0.1") : connect({ host: address, port })
          await once(socket, "connect")
          return socket
        },
      },
    })
    server.publish(aRelease("collection", "acme.util", "9.0.0"))
    hub.publish(aRelease("collection", "acme.util", "1.0.0"))
    const ask = (source: string) => run(install({ collections: [{ name: "acme.util", source }], force: true }))
    expect(await ask("http://hub.example/")).toMatchObject([{ version: "1.0.0", outcome: "installed" }])
    expect(hub.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([])
    // the operator's server stands in for the public one
    for (const source of [`${server.url}/`, "https://galaxy.ansible.com"])
      expect(await ask(source)).toMatchObject([{ version: "9.0.0", outcome: "installed" }])
    expect(await ask(hub.url)).toMatchObject([
      { outcome: "failed", because: expect.stringMatching(/may not be reached from here/u) },
    ])
    for (const source of ["https://me:secret@hub.example/", "https://hub.example/?a"])
      expect(await ask(source)).toEqual([
        { type: "collection", name: "acme.util", outcome: "failed", because: "its source is not a plain URL of a Galaxy server" },
      ])
  })

  test("the token is sent to its server, and to no other", async () => {
    const token = "t0k3n-of-the-server"
    const { run, install, server, root } = await makeWorld({ token: Redacted.make(token) })
    server.publish(aRelease("collection", "acme.util", "1.0.0"))
    const heard: string[] = []
    const outcomes = await run(
      install({ collections: [{ name: "acme.util" }], output: (text) => Effect.sync(() => void heard.push(text)) }),
    )
    expect(outcomes[0]?.outcome).toBe("installed")
    expect(server.requests.some(({ authorization }) => authorization?.includes(token))).toBe(true)
    expect(heard.join("")).not.toContain(token)
    expect(readdirSync(join(root, "work"))).toEqual([])
  })

  test.each([
    ["a role without metadata", { ...aRelease("role", "acme.web", "1.0.0"), files: { "tasks/main.yml": "[]\n" } }],
    ["a role with metadata that are none", aRelease("role", "acme.web", "1.0.0", [], { "meta/main.yml": "]" })],
    ["a role that is no archive of one", { ...aRelease("role", "acme.web", "1.0.0"), files: {} }],
    ["a collection with a false name", { ...aRelease("collection", "acme.other", "1.0.0"), name: "acme.web" }],
    ["a collection whose name leads elsewhere", { ...aRelease("collection", "...x", "1.0.0"), name: "acme.web" }],
  ])("%s is not installed, and the reason is reported", async (_, release) => {
    const { run, install, server, root } = await makeWorld()
    server.publish(release)
    const wanted = [{ name: "acme.web" }]
    const outcomes = await run(install(release.type === "role" ? { roles: wanted } : { collections: wanted }))
    expect(outcomes).toMatchObject([{ name: "acme.web", outcome: "failed", because: expect.stringMatching(/\w{4}/u) }])
    const listing = await run(ArtifactLibrary.use((port) => port.list({ type: "global" })))
    expect([...listing.roles, ...listing.collections]).toEqual([])
    expect(readdirSync(join(root, "library"))).toEqual([".staging"])
  })

  test("no folder of a run is left", async () => {
    const { run, install, root, server } = await makeWorld()
    server.publish(aRelease("role", "acme.web", "1.0.0"))
    await run(install({ roles: [{ name: "acme.web" }] }))
    expect(readdirSync(join(root, "work"))).toEqual([])
    expect(server.requests.length).toBeGreaterThan(0)
  })
})

describe("a tool that does not work", () => {
  test("that is missing is reported, with what to do", async () => {
    const { run, install } = await makeWorld({ program: "/nonexistent/ansible-galaxy" })
    const fault = await run(Effect.flip(install({ roles: [{ name: "acme.web" }] })))
    expect(fault).toMatchObject({ _tag: "InstallerFault", facts: { reason: "missing" } })
    expect(fault.hint).toMatch(/ansible-core/u)
  })

  test.skipIf(found === undefined)(`that works reports its version${without}`, async () => {
    expect(await Effect.runPromise(galaxyAvailability({ folder: tmpdir() }))).toEqual({
      available: true,
      version: expect.stringMatching(/^\d+\.\d+/u),
    })
  })

  test.each([
    ["is too old", "echo 'ansible-galaxy [core 2.13.9]'", /too old/u],
    ["is something else", "echo hello", /version/u],
  ])("that %s is reported", async (_, text, because) => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-fake-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const available = await Effect.runPromise(galaxyAvailability({ folder: root, program: program(root, text) }))
    expect(available).toMatchObject({ available: false, because: expect.stringMatching(because) })
  })

  test("that hangs is killed at its deadline, with all processes that it started", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-hang-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const hanging = program(root, `sh -c 'echo $$ > ${root}/child; exec sleep 600' &\nsleep 600`)
    const child = join(root, "child")
    // on a busy machine it may not have started its child before a short deadline
    for (let timeoutSeconds = 1; !existsSync(child); timeoutSeconds *= 3) {
      const { run, install } = await makeWorld({ program: hanging, timeoutSeconds, tools: { sandbox: "off" } })
      const fault = await run(Effect.flip(install({ roles: [{ name: "acme.web" }] })))
      expect(fault).toMatchObject({ kind: "timeout", facts: { reason: "timeout" } })
    }
    expectGone(Number(readFileSync(child, "utf8")))
  })

  test("that prints endlessly is killed", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-flood-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const { run, install } = await makeWorld({ program: program(root, "yes aaaaaaaa"), outputBytes: 100_000 })
    const fault = await run(Effect.flip(install({ roles: [{ name: "acme.web" }] })))
    expect(fault).toMatchObject({ facts: { reason: "failed", detail: expect.stringContaining("100000 bytes") } })
  })

  test.each([
    ["fills the disk with many files", `i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > f$i; done`, {}],
    ["fills the disk with empty files", `i=0; while :; do i=$((i+1)); : > f$i; done`, { scratchBytes: 200_000 }],
  ])("that %s is killed", async (_, text, more) => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-bomb-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const { run, install, root: world } = await makeWorld({ program: program(root, text), scratchBytes: 2_000_000, ...more })
    const fault = await run(Effect.flip(install({ roles: [{ name: "acme.web" }] })))
    expect(fault).toMatchObject({ facts: { reason: "failed", detail: expect.stringContaining("on the disk") } })
    expect(readdirSync(join(world, "work"))).toEqual([])
  })

  test("cannot write a file above the size limit", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-large-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const large = program(root, `head -c 1000000 /dev/zero > large; wc -c < large > ${root}/written; exit 1`)
    const { run, install } = await makeWorld({ program: large, fileBytes: 102_400, tools: { sandbox: "off" } })
    expect((await run(install({ roles: [{ name: "acme.web" }] })))[0]).toMatchObject({ outcome: "failed" })
    expect(Number(readFileSync(join(root, "written"), "utf8"))).toBe(102_400)
  })

  test("runs in limited numbers for each user, so that others get their turn", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-turns-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    // reports that it runs, and continues when it is told
    const slow = program(root, `echo $$ >> ${root}/running; while [ ! -e ${root}/go ]; do sleep 0.1; done`)
    const { run, install } = await makeWorld({ program: slow, atOnce: 3, atOnceForOne: 2, tools: { sandbox: "off" } })
    const running = () =>
      existsSync(join(root, "running")) ? readFileSync(join(root, "running"), "utf8").split("\n").length - 1 : 0
    const untilRunning = (many: number) =>
      Effect.gen(function* () {
        while (running() < many) yield* Effect.sleep(50)
      })
    const installFor = (id: string) => install({ roles: [{ name: "acme.web" }], scope: { type: "user", userId: id as UserId } })
    await run(
      Effect.gen(function* () {
        const own = yield* Effect.forkChild(Effect.forEach(Array(5).keys(), () => installFor("JD"), { concurrency: 5 }))
        yield* untilRunning(2)
        const other = yield* Effect.forkChild(installFor("EVE"))
        // the third belongs to the other user: those of the first user wait for each other
        yield* untilRunning(3)
        writeFileSync(join(root, "go"), "")
        yield* Fiber.join(other)
        yield* Fiber.join(own)
      }),
    )
    expect(running()).toBe(6)
  })

  test("is killed with the request that is interrupted", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-interrupt-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const { run, install } = await makeWorld({ program: program(root, `echo $$; exec sleep 600`), tools: { sandbox: "off" } })
    const pid = await run(
      Effect.gen(function* () {
        const heard = Promise.withResolvers<number>()
        const output = (text: string) => Effect.sync(() => heard.resolve(Number(text)))
        const fiber = yield* Effect.forkChild(install({ roles: [{ name: "acme.web" }], output }))
        const started = yield* Effect.promise(() => heard.promise)
        yield* Fiber.interrupt(fiber)
        return started
      }),
    )
    expectGone(pid)
  })

  test("gets no shell, option or path from the requested names", async () => {
    const root = mkdtempSync(join(tmpdir(), "galaxy-args-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const token = "t0k3n-of-the-server"
    const { run, install } = await makeWorld({
      token: Redacted.make(token),
      tools: { sandbox: "off" },
      program: program(
        root,
        `for a in "$@"; do echo "$a" >> ${root}/args; done; env | cut -d= -f1 | sort > ${root}/env; cat requirements.yml > ${root}/asked`,
      ),
    })
    await run(
      install({
        roles: [
          { name: "-x" },
          { src: "/etc/passwd", name: "fine" },
          { name: "acme.web", version: "--help" },
          { src: "acme.db", version: "1.0; id" },
        ],
      }),
    )
    expect(existsSync(join(root, "args"))).toBe(false)
    await run(install({ roles: [{ name: "acme.web", version: "1.0" }] }))
    expect(readFileSync(join(root, "args"), "utf8").split("\n").slice(0, 3)).toEqual(["role", "install", "-r"])
    expect(JSON.parse(readFileSync(join(root, "asked"), "utf8"))).toEqual([{ src: "acme.web", name: "acme.web", version: "1.0" }])
    expect(readFileSync(join(root, "args"), "utf8")).not.toContain(token)
    expect(readFileSync(join(root, "env"), "utf8")).not.toMatch(/RANGEWRIGHT|VITEST|NODE/u)
  })
})

/** It has ended, whether or not its new parent has reaped it. */
const expectGone = (pid: number): void => {
  expect(pid).toBeGreaterThan(1)
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "State:\tX"
  expect(status).toMatch(/^State:\t[XZ]/mu)
}

import { kindFolders, libraryLayer } from "@rangewright/adapter-ansible"
import type { UserId } from "@rangewright/domain"
import { ArtifactLibrary, type ArtifactRef, type LibraryScope } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { fork } from "node:child_process"
import { once } from "node:events"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { aCollection, aRole, aTemplate, contentsOf, entriesOf, type Files } from "./entries.ts"
import { libraryContract } from "./library.contract.ts"

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "library-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

const open = (folder: string) => {
  const layer = libraryLayer({ folder })
  return <A, E>(effect: Effect.Effect<A, E, ArtifactLibrary>): Promise<A> => Effect.runPromise(Effect.provide(effect, layer))
}

libraryContract({
  name: "folder",
  make: () => {
    const folder = join(temporary(), "data", "library")
    return { run: open(folder) }
  },
})

const scope: LibraryScope = { type: "user", userId: "JD" as UserId }
const web: ArtifactRef = { scope, kind: "role", name: "web" }
const place = (artifact: ArtifactRef, files: Files, replace = false) =>
  ArtifactLibrary.use((port) => port.place(artifact, entriesOf(files), { replace }))
const list = ArtifactLibrary.use((port) => port.list(scope))
const contents = async (run: ReturnType<typeof open>, artifact: ArtifactRef) =>
  contentsOf((await run(ArtifactLibrary.use((port) => port.files(artifact)))) ?? [])

describe("the folder of installed artifacts", () => {
  test("lists 200 templates without reading their builder files", async () => {
    const root = temporary()
    const run = open(root)
    const names = Array.from({ length: 200 }, (_, n) => `t${String(n).padStart(3, "0")}`)
    const told = { system: "linux", description: "Small" } as const
    for (const name of names)
      await run(
        ArtifactLibrary.use((port) =>
          port.place({ scope, kind: "template", name }, entriesOf(aTemplate), { template: told, replace: false }),
        ),
      )
    for (const name of names) rmSync(join(kindFolders(root, scope).templates, name, "debian.pkr.hcl"))
    expect((await run(list)).templates).toEqual(names.map((name) => ({ name, ...told })))
  })

  test("has the layout that Ansible and packer search", async () => {
    const root = temporary()
    const run = open(root)
    const global = { type: "global" } as const
    await run(place(web, aRole))
    await run(place({ scope: global, kind: "role", name: "acme.db" }, aRole))
    await run(place({ scope, kind: "collection", name: "acme.util" }, aCollection("acme.util")))
    await run(place({ scope: global, kind: "collection", name: "acme.net" }, aCollection("acme.net")))
    await run(place({ scope, kind: "template", name: "debian-12" }, aTemplate))
    for (const path of [
      "users/JD/roles/web/tasks/main.yml",
      "users/JD/collections/ansible_collections/acme/util/MANIFEST.json",
      "users/JD/templates/debian-12/debian.pkr.hcl",
      "global/roles/acme.db/meta/main.yml",
      "global/collections/ansible_collections/acme/net/plugins/x.py",
    ])
      expect(existsSync(join(root, path)), path).toBe(true)
    expect(kindFolders(root, scope)).toEqual({
      roles: join(root, "users/JD/roles"),
      collections: join(root, "users/JD/collections"),
      templates: join(root, "users/JD/templates"),
    })
    expect(readdirSync(join(root, ".staging"))).toEqual([])
  })

  test("executables stay executable, everything else is plain, and nothing is writable by others or setuid", async () => {
    const root = temporary()
    await open(root)(place(web, aRole))
    const mode = (path: string) => lstatSync(join(root, "users/JD/roles/web", path)).mode & 0o7777
    expect([mode("files/run.sh") & 0o111, mode("tasks/main.yml") & 0o111].map((bits) => bits !== 0)).toEqual([true, false])
    for (const path of ["files/run.sh", "tasks/main.yml", "tasks"]) expect(mode(path) & 0o7022).toBe(0)
    expect(lstatSync(join(root, "users/JD/roles/web/templates/run")).isSymbolicLink()).toBe(true)
  })

  test("manual changes are seen at once", async () => {
    const root = temporary()
    const run = open(root)
    const home = kindFolders(root, scope)
    await run(place({ scope, kind: "collection", name: "acme.util" }, aCollection("acme.util", "1.0.0")))
    await run(place(web, aRole))
    const collection = join(home.collections, "ansible_collections/acme/util")
    rmSync(join(collection, "MANIFEST.json"))
    writeFileSync(join(home.roles, "web/meta/.galaxy_install_info"), "version: 9.9.9\n")
    mkdirSync(join(home.roles, "by-hand/meta"), { recursive: true })
    expect((await run(list)).roles).toEqual([{ name: "web", scope: "user", version: "9.9.9" }])
    writeFileSync(join(home.roles, "by-hand/meta/main.yaml"), "")
    writeFileSync(join(home.roles, "web/meta/.galaxy_install_info"), "version: 9.9.8\n")
    expect((await run(list)).roles).toEqual([
      { name: "by-hand", scope: "user" },
      { name: "web", scope: "user", version: "9.9.8" },
    ])
    expect((await run(list)).collections).toEqual([{ name: "acme.util", scope: "user", version: "1.0.0" }])
    writeFileSync(join(collection, "galaxy.yml"), "]")
    expect((await run(list)).collections).toEqual([{ name: "acme.util", scope: "user" }])
    rmSync(join(collection, "galaxy.yml"))
    expect((await run(list)).collections).toEqual([])
  })

  test("sizes are computed once and remembered across restarts until the item is replaced", async () => {
    const root = temporary()
    const sizes = ArtifactLibrary.use((port) => port.sizes(scope))
    await open(root)(place(web, aRole))
    const first = await open(root)(sizes)
    // its content is not read again
    writeFileSync(join(kindFolders(root, scope).roles, "web/files/run.sh"), "x".repeat(100_000))
    expect(await open(root)(sizes)).toEqual(first)
    await open(root)(place(web, { ...aRole, "files/run.sh": "x".repeat(100_000) }, true))
    const bytes = (await open(root)(sizes))[0]?.bytes ?? 0
    expect(bytes).toBeGreaterThan((first[0]?.bytes ?? 0) + 90_000)
    // an installation by an older version has no size yet
    rmSync(join(root, "users/JD/sizes.json"))
    expect(await open(root)(sizes)).toEqual([{ kind: "role", name: "web", bytes }])
    writeFileSync(join(root, "users/JD/sizes.json"), "]")
    expect(await open(root)(sizes)).toEqual([{ kind: "role", name: "web", bytes }])
    expect(readdirSync(join(root, ".staging"))).toEqual([])
    // if nothing can be written, as on a full disk, it is counted each time
    const nowhere = Effect.sync(() => {
      rmSync(join(root, "users/JD/sizes.json"))
      rmSync(join(root, ".staging"), { recursive: true })
    })
    expect(await open(root)(Effect.andThen(nowhere, sizes))).toEqual([{ kind: "role", name: "web", bytes }])
  })

  test("nothing is listed, read, written or removed through a link", async () => {
    const root = temporary()
    const outside = temporary()
    const run = open(root)
    await run(place(web, aRole))
    const { roles } = kindFolders(root, scope)
    renameSync(join(roles, "web"), join(outside, "web"))
    symlinkSync(join(outside, "web"), join(roles, "web"))
    expect((await run(list)).roles).toEqual([])
    expect(await run(ArtifactLibrary.use((port) => port.files(web)))).toBeUndefined()
    expect(await run(ArtifactLibrary.use((port) => port.remove(web)))).toBe(false)
    expect(await run(place(web, { ...aRole, "tasks/main.yml": "new\n" }))).toBe("differs")
    expect(await run(place(web, { ...aRole, "tasks/main.yml": "new\n" }, true))).toBe("replaced")
    expect(lstatSync(join(roles, "web")).isDirectory()).toBe(true)
    expect(readFileSync(join(outside, "web/tasks/main.yml"), "utf8")).toBe(aRole["tasks/main.yml"])
    renameSync(roles, join(outside, "roles"))
    symlinkSync(join(outside, "roles"), roles)
    expect((await run(list)).roles).toEqual([])
    const fault = await run(Effect.flip(place({ ...web, name: "other" }, aRole)))
    expect(fault).toMatchObject({ _tag: "LibraryFault", facts: { reason: "broken" } })
    expect(readdirSync(join(outside, "roles"))).toEqual(["web"])
  })

  test("a copy with something other than files in it is reported, and can be replaced", async () => {
    const root = temporary()
    const run = open(root)
    await run(place(web, aRole))
    rmSync(join(root, "users/JD/roles/web/tasks/main.yml"))
    mkdirSync(join(root, "users/JD/roles/web/tasks/main.yml"))
    expect(await run(place(web, aRole))).toBe("differs")
    expect(await run(place(web, aRole, true))).toBe("replaced")
    expect(await contents(run, web)).toMatchObject(aRole)
  })

  test("a folder that cannot be created is reported at the start", async () => {
    const file = join(temporary(), "file")
    writeFileSync(file, "")
    const fault = await open(join(file, "library"))(list).catch((cause: unknown) => cause)
    expect(fault).toMatchObject({ _tag: "LibraryFault", facts: { reason: "unavailable" } })
    expect(String((fault as Error).message)).not.toContain(file)
  })

  test("a listing during a swap of copies always shows one of them", async () => {
    const root = temporary()
    const run = open(root)
    await run(place(web, aRole))
    const turn = Semaphore.makeUnsafe(1)
    const seen = await run(
      Effect.gen(function* () {
        const writer = Effect.forEach(
          Array.from({ length: 30 }, (_, at) => String(at)),
          (text) => place(web, { ...aRole, "files/x": text }, true),
        )
        const reader = Effect.forEach(Array.from({ length: 200 }), () => turn.withPermit(list))
        const [listings] = yield* Effect.all([reader, writer], { concurrency: "unbounded" })
        return listings
      }),
    )
    expect(seen.filter(({ roles }) => roles.length !== 1)).toEqual([])
  })
})

describe("a killed process", () => {
  test("while it was writing leaves the old copy, and nothing else", async () => {
    const root = temporary()
    await open(root)(place(web, aRole))
    mkdirSync(join(root, ".staging/work-x/tree/tasks"), { recursive: true })
    writeFileSync(join(root, ".staging/work-x/tree/tasks/main.yml"), "half")
    expect(await contents(open(root), web)).toMatchObject(aRole)
    expect(readdirSync(join(root, ".staging"))).toEqual([])
  })

  test("before the old copy moved leaves the old copy; between the two moves, the new one", async () => {
    const root = temporary()
    await open(root)(place(web, aRole))
    const [work, target] = [join(root, ".staging/work-x"), join(root, "users/JD/roles/web")]
    const begin = () => {
      mkdirSync(join(work, "tree/tasks"), { recursive: true })
      writeFileSync(join(work, "tree/tasks/main.yml"), "new")
      writeFileSync(join(work, "intent.json"), JSON.stringify(web))
    }
    begin()
    expect(await contents(open(root), web)).toMatchObject(aRole)
    begin()
    renameSync(target, join(work, "old"))
    expect(await contents(open(root), web)).toEqual({ "tasks/main.yml": "new" })
    expect(readdirSync(join(root, ".staging"))).toEqual([])
  })

  test.each([
    "{",
    "[]",
    '{"scope":{"type":"global"},"kind":"role","name":"../../x"}',
    '{"scope":{"type":"user","userId":"../.."},"kind":"role","name":"x"}',
  ])("a note of planned moves with the content %s moves nothing", async (note) => {
    const root = temporary()
    mkdirSync(join(root, "library/.staging/work-x/tree"), { recursive: true })
    writeFileSync(join(root, "library/.staging/work-x/intent.json"), note)
    expect(await open(join(root, "library"))(list)).toEqual({ templates: [], roles: [], collections: [] })
    expect([readdirSync(root), readdirSync(join(root, "library")), readdirSync(join(root, "library/.staging"))]).toEqual([
      ["library"],
      [".staging"],
      [],
    ])
  })

  test("at any moment of any change leaves a complete copy", async () => {
    const root = temporary()
    await open(root)(place(web, { ...aRole, "files/which": "0" }))
    let counted = 0
    for (let round = 0; round < 6; round += 1) {
      const child = fork(join(import.meta.dirname, "place-program.ts"), [root], { silent: true })
      await once(child, "message")
      // each round is killed a little later in its work: after the round's number of replacements
      for (let placed = 0; placed < round; placed += 1) await once(child, "message")
      child.kill("SIGKILL")
      await once(child, "exit")
      const {
        "meta/.galaxy_install_info": receipt,
        "files/which": which,
        "files/copy": copy,
        ...rest
      } = await contents(open(root), web)
      expect(rest).toEqual(aRole)
      expect(String(receipt)).toContain("version: ")
      if (which !== "0") {
        expect(copy).toBe(which)
        counted += 1
      }
      expect(readdirSync(join(root, ".staging"))).toEqual([])
    }
    expect(counted).toBeGreaterThan(0)
  })
})

describe("templates that ship with the service", () => {
  const global = { type: "global" } as const
  const builder = (text: string) =>
    `variable "vm_name" {\n  default = "linux"\n}\nvariable "description" {\n  default = "${text}"\n}\n`
  const source = (text: string): string => {
    const folder = temporary()
    mkdirSync(join(folder, "templates", "a-linux", "http"), { recursive: true })
    writeFileSync(join(folder, "templates", "a-linux", "linux.pkr.hcl"), builder(text))
    writeFileSync(join(folder, "templates", "a-linux", "http", "answers"), "yes")
    return folder
  }
  const start = (folder: string, shipped?: string) => {
    const layer = libraryLayer({ folder, ...(shipped === undefined ? {} : { shipped }) })
    return <A, E>(effect: Effect.Effect<A, E, ArtifactLibrary>): Promise<A> => Effect.runPromise(Effect.provide(effect, layer))
  }
  const linux: ArtifactRef = { scope: global, kind: "template", name: "linux" }
  const listed = ArtifactLibrary.use((port) => Effect.map(port.list(global), ({ templates }) => templates))

  test("belong to everybody without a step, are updated by an upgrade, and disappear when they are switched off", async () => {
    const folder = temporary()
    const run = start(folder, source("first"))
    expect(await run(listed)).toEqual([{ name: "linux", system: undefined, description: "first" }])
    expect(await contents(run, linux)).toEqual({ "http/answers": "yes", "linux.pkr.hcl": builder("first") })
    expect(await run(list)).toMatchObject({ templates: [] })
    const upgraded = start(folder, source("second"))
    expect(await upgraded(listed)).toMatchObject([{ description: "second" }])
    expect(await start(folder)(listed)).toEqual([])
  })

  test("are hidden by those installed for everybody under the same names, and are not removed with them", async () => {
    const run = start(temporary(), source("shipped"))
    const own = entriesOf({ "own.pkr.hcl": builder("own") })
    const told = { template: { system: "linux", description: "own" }, replace: false } as const
    expect(await run(ArtifactLibrary.use((port) => port.place(linux, own, told)))).toBe("placed")
    await run(place({ ...linux, name: "another" }, aTemplate))
    expect(await run(listed)).toMatchObject([{ name: "another" }, { name: "linux", description: "own" }])
    expect(await contents(run, linux)).toHaveProperty("own.pkr.hcl")
    const remove = ArtifactLibrary.use((port) => port.remove(linux))
    expect(await run(remove)).toBe(true)
    expect(await run(remove)).toBe(false)
    expect(await run(listed)).toMatchObject([{ name: "another" }, { name: "linux", description: "shipped" }])
  })
})

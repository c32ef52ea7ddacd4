import { contentLayer } from "@rangewright/adapter-git"
import { apiDescriptionLayer } from "@rangewright/adapter-http"
import { commitTo, makeMemoryWorld, memoryHypervisorLayer } from "@rangewright/adapter-memory"
import { type AppServices, operations, pruneContent, Settings } from "@rangewright/application"
import type { SourceCatalog } from "@rangewright/domain"
import { Archives, ContentFetcher } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Service, type ServiceOptions, startService, type Who } from "../../packages/adapter-http/test/support.ts"
import { settings } from "../../packages/application/test/support/app.ts"
import { scriptedRuns, scriptedRunsLayer } from "../../packages/application/test/support/scripted-runs.ts"
import { tarGz, zip } from "../contracts/content/support/archives.ts"
import { gitHttp, wantsPassword } from "../contracts/content/support/git-http.ts"
import { type Files, testRepository, type TestRepository } from "../contracts/content/support/repository.ts"
import { loopback } from "../contracts/content/support/world.ts"

const files: Files = {
  "source.yml": "name: Acme Labs\n",
  "blueprints/web/blueprint.yml": "id: web\nname: Web\nversion: 1.0.0\nconfig: config.yml\n",
  "blueprints/web/config.yml": "ludus:\n  - {vm_name: web, template: debian-12}\n",
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n",
  "ansible/roles/hello/files/shared": { link: "../tasks/main.yml" },
  "ansible/roles/hello/tasks/main.yml": "[]\n",
}

let root: string
let served: string
let service: Service
/** Files of snapshots that were read. */
let reads: string[]

/** Real git, real archives; files read from a snapshot are recorded. */
const content = (): Layer.Layer<Archives | ContentFetcher> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const fetcher = yield* ContentFetcher
      const noted = ContentFetcher.of({
        ...fetcher,
        read: (id, path, most) => {
          reads.push(path)
          return fetcher.read(id, path, most)
        },
      })
      return Context.make(ContentFetcher, noted).pipe(Context.add(Archives, yield* Archives))
    }),
  ).pipe(
    Layer.provide(
      contentLayer({
        folder: join(root, "content"),
        schemes: ["http", "file"],
        networks: loopback,
        folders: [served],
        tree: { files: 200, fileBytes: 2 * 1024 * 1024, totalBytes: 4 * 1024 * 1024 },
      }),
    ),
    Layer.orDie,
  )

const start = (more: Partial<ServiceOptions> = {}): Promise<Service> =>
  startService({
    operations,
    http: { uploads: join(root, "uploads") },
    services: scriptedRunsLayer(scriptedRuns("R1")).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          memoryHypervisorLayer(makeMemoryWorld()),
          Layer.succeed(Settings, settings),
          apiDescriptionLayer(operations, settings),
          Layer.succeed(References.MinimumLogLevel, "None"),
        ),
      ),
    ) as unknown as Layer.Layer<AppServices>,
    ...more,
  })

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "sources-"))
  served = join(root, "served")
  mkdirSync(served)
  mkdirSync(join(root, "uploads"))
  reads = []
  service = await start({ content: content() })
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
})

interface Answer {
  readonly status: number
  readonly text: string
  // every test reads its operation's answers
  readonly json: Record<string, never> & { readonly catalog: SourceCatalog; readonly error: string; readonly sourceID: string }
}
const call = async (method: string, path: string, body?: object, who: Who = "member"): Promise<Answer> => {
  const isForm = body instanceof FormData
  const response = await fetch(`${service.url}/api/v2${path}`, {
    method,
    headers: { "x-api-key": service.keys[who], ...(isForm || body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, text, json: JSON.parse(text) as Answer["json"] }
}
const form = (bytes: Uint8Array, name: string, fields: Readonly<Record<string, string>> = {}): FormData => {
  const data = new FormData()
  for (const [key, value] of Object.entries(fields)) data.append(key, value)
  data.append("archive", new Blob([new Uint8Array(bytes)]), name)
  return data
}
const fileUrl = ({ folder }: TestRepository): string => `file://${folder}`
const roles = (catalog: SourceCatalog): readonly string[] => catalog.localRoles.map(({ name }) => name)
const catalogOf = async (id: string): Promise<SourceCatalog> =>
  (await call("GET", `/sources/${id}/catalog`)).json as unknown as SourceCatalog
const snapshots = (): readonly string[] => readdirSync(join(root, "content", "snapshots"))
const prune = () => Effect.runPromise(Fiber.await(service.run(pruneContent)))

/** Nothing of a refused source is left: no source, no content, no upload, nothing half done. */
const expectNothingLeft = async () => {
  expect((await call("GET", "/sources")).json).toEqual([])
  await prune()
  expect(snapshots()).toEqual([])
  expect(readdirSync(join(root, "uploads"))).toEqual([])
  expect(readdirSync(join(root, "content", "scratch"))).toEqual([])
  expect(existsSync(join(root, "mark"))).toBe(false)
}

describe("a repository", () => {
  it("is registered, followed and pinned; a sync with nothing new reads no file again", async () => {
    const repository = testRepository(served, "labs", files)
    const registered = await call("POST", "/sources", { type: "git", url: fileUrl(repository), id: "labs" })
    expect(registered).toMatchObject({ status: 200, json: { sourceID: "labs", catalog: { sourceName: "Acme Labs" } } })
    expect(roles(registered.json.catalog)).toEqual(["acme.hello"])
    expect(reads.length).toBeGreaterThan(0)

    reads = []
    const [before] = snapshots()
    expect((await call("POST", "/sources/labs/sync", {})).status).toBe(200)
    await catalogOf("labs")
    expect(reads).toEqual([])
    expect(snapshots()).toEqual([before])

    repository.tag("v1")
    const first = repository.git("rev-parse", "HEAD")
    repository.commit({ "ansible/roles/more/tasks/main.yml": "[]\n" })
    expect((await call("POST", "/sources/labs/sync")).json).toMatchObject({ sourceID: "labs", templateResults: [] })
    expect(roles(await catalogOf("labs"))).toEqual(["acme.hello", "more"])

    for (const ref of ["v1", first]) {
      expect((await call("PATCH", "/sources/labs", { ref })).status).toBe(200)
      expect((await call("POST", "/sources/labs/sync")).status).toBe(200)
      expect(roles(await catalogOf("labs"))).toEqual(["acme.hello"])
    }
    await prune()
    expect(snapshots()).toHaveLength(1)

    await call("PATCH", "/sources/labs", { ref: "gone" })
    const failed = await call("POST", "/sources/labs/sync")
    expect(failed).toMatchObject({ status: 500, json: { error: expect.stringContaining("no such branch, tag or commit") } })
    expect((await call("GET", "/sources/labs")).json).toMatchObject({ lastSyncStatus: "error" })
    expect(roles(await catalogOf("labs"))).toEqual(["acme.hello"])

    expect((await call("DELETE", "/sources/labs")).json).toMatchObject({ status: "deleted" })
    await expectNothingLeft()
  })

  it("that is private is opened with its own token, which is shown to nobody", async () => {
    const server = await gitHttp(served, wantsPassword("hunter2"))
    try {
      testRepository(served, "labs", files)
      const url = `http://127.0.0.1:${server.port}/labs.git`
      const without = await call("POST", "/sources", { type: "git", url, id: "labs" })
      expect(without.status).toBe(400)
      const inUrl = await call("POST", "/sources", { type: "git", url: url.replace("//", "//joe:hunter2@"), id: "labs" })
      expect(inUrl.status).toBe(400)
      expect(inUrl.json.error).toContain("separately, not in the URL")
      const wrong = await call("POST", "/sources", { type: "git", url, id: "labs", username: "joe", token: "wr0ng" })
      expect(wrong.status).toBe(400)
      const right = await call("POST", "/sources", { type: "git", url, id: "labs", username: "joe", token: "hunter2" })
      expect(right.status).toBe(200)
      const runs = await call("GET", "/runs")
      const told = [without, inUrl, wrong, right, runs, await call("GET", "/sources/labs"), await call("GET", "/sources")]
      expect(told.map(({ text }) => text).join("")).not.toMatch(/hunter2|wr0ng/u)
      expect(JSON.stringify([...service.store.sources.values()])).not.toContain("hunter2")
      expect((await call("PATCH", "/sources/labs", { access: "none" })).status).toBe(200)
      expect((await call("POST", "/sources/labs/sync")).status).toBe(500)
    } finally {
      await server.close()
    }
  })
})

describe("a large source", () => {
  it("is parsed with a pause after each part, so that other requests proceed", async () => {
    const parts = 300
    const large: Record<string, string> = {}
    for (let n = 0; n < parts; n++) {
      large[`blueprints/b${n}/blueprint.yml`] = `id: b${n}\nname: B\nversion: 1.0.0\nconfig: config.yml\n`
      large[`blueprints/b${n}/config.yml`] = "ludus: []\n"
    }
    // in memory, only the parsing itself yields to others
    const inMemory = await start()
    const url = "https://git.example/large.git"
    commitTo(inMemory.artifacts.content, url, large)
    let [turns, reading] = [0, true]
    const others = (): void => {
      turns++
      if (reading) setImmediate(others)
    }
    others()
    const { status } = await fetch(`${inMemory.url}/api/v2/sources`, {
      method: "POST",
      headers: { "x-api-key": inMemory.keys.member, "content-type": "application/json" },
      body: JSON.stringify({ type: "git", url }),
    })
    reading = false
    await inMemory.stop()
    expect(status).toBe(200)
    expect(turns).toBeGreaterThan(2 * parts)
  })
})

describe("an archive", () => {
  const packed = Object.entries(files).flatMap(([path, content]) =>
    typeof content === "string" ? [{ name: `labs-main/${path}`, content }] : [],
  )

  it("is sent as a form, unwrapped, and replaced by a valid one but not by an invalid one", async () => {
    const sent = await call("POST", "/sources", form(tarGz(packed), "My Labs.tar.gz", { type: "upload", force: "true" }))
    expect(sent).toMatchObject({ status: 200, json: { sourceID: "ME-my-labs" } })
    expect(roles(sent.json.catalog)).toEqual(["acme.hello"])
    const next = tarGz([...packed, { name: "labs-main/ansible/roles/more/tasks/main.yml", content: "[]\n" }])
    expect((await call("PATCH", "/sources/ME-my-labs", form(next, "next.tgz"))).json).toMatchObject({
      sourceID: "ME-my-labs",
      templateResults: [],
    })
    expect(roles(await catalogOf("ME-my-labs"))).toEqual(["acme.hello", "more"])
    for (const [bytes, name, told] of [
      [next.subarray(0, 200), "cut.tgz", "cut.tgz"],
      [Buffer.from("nonsense"), "nonsense.zip", "nonsense.zip"],
      [next, "labs.rar", "labs.rar"],
    ] as const) {
      const worse = await call("PATCH", "/sources/ME-my-labs", form(bytes, name))
      expect([name, worse.status]).toEqual([name, 400])
      expect(worse.json.error).toContain(told)
    }
    expect(roles(await catalogOf("ME-my-labs"))).toEqual(["acme.hello", "more"])
    expect((await call("DELETE", "/sources/ME-my-labs")).status).toBe(200)
    await expectNothingLeft()
  })
})

const manifest = "id: web\nname: Web\nversion: 1.0.0\nconfig: config.yml\n"
const bomb = `a0: &a0 [x, x, x, x, x, x, x, x, x]\n${Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}, *a${n}, *a${n}, *a${n}, *a${n}, *a${n}]\n`).join("")}`

describe("hostile archives", () => {
  it.each([
    ["a path that climbs", [{ name: "../mark", content: "x" }], "mark"],
    ["an absolute path", [{ name: "/tmp/mark", content: "x" }], "mark"],
    ["a link out of the tree", [{ name: "ansible/roles/r/tasks", type: "2", link: "../../../../etc" }], "ansible/roles/r/tasks"],
    ["a hard link", [{ name: "ansible/roles/r/x", type: "1", link: "/etc/passwd" }], "ansible/roles/r/x"],
    ["a device", [{ name: "ansible/roles/r/null", type: "3" }], "ansible/roles/r/null"],
    ["a pipe", [{ name: "ansible/roles/r/pipe", type: "6" }], "ansible/roles/r/pipe"],
    ["a set-id bit", [{ name: "ansible/roles/r/x", content: "x", mode: 0o4755 }], "ansible/roles/r/x"],
    [
      "names that are one on some systems",
      [
        { name: "ansible/roles/r/tasks/main.yml", content: "[]" },
        { name: "ansible/roles/R/tasks/main.yml", content: "[]" },
      ],
      "roles/R",
    ],
    ["one file too many", Array.from({ length: 201 }, (_, n) => ({ name: `ansible/roles/r/${n}`, content: "x" })), "200 files"],
    ["a file that is too large", [{ name: "ansible/roles/r/large", content: "x".repeat(2 * 1024 * 1024 + 1) }], "large"],
    [
      "more than fits",
      Array.from({ length: 3 }, (_, n) => ({ name: `ansible/roles/r/${n}`, content: "x".repeat(1_900_000) })),
      "bytes",
    ],
    [
      "a manifest that leads elsewhere",
      [{ name: "blueprints/web/blueprint.yml", type: "2", link: "../../x.yml" }],
      "ships nothing",
    ],
    [
      "a configuration elsewhere",
      [{ name: "blueprints/web/blueprint.yml", content: manifest.replace("config.yml", "../../../../etc/passwd") }],
      "blueprints/web/blueprint.yml",
    ],
    [
      "a manifest that grows without end",
      [
        { name: "blueprints/web/blueprint.yml", content: `${manifest}${bomb}` },
        { name: "blueprints/web/config.yml", content: "ludus: []\n" },
      ],
      "blueprints/web/blueprint.yml",
    ],
    [
      "a template that would be written elsewhere",
      [{ name: "templates/t/t.pkr.hcl", content: 'variable "vm_name" {\n  default = "../../mark"\n}\n' }],
      "templates/t",
    ],
    [
      "a collection that would be written elsewhere",
      [{ name: "ansible/collections/c/galaxy.yml", content: "namespace: ../..\nname: mark\nversion: 1.0.0\n" }],
      "ansible/collections/c",
    ],
    ["nothing", [{ name: "readme.md", content: "x" }], "ships nothing"],
  ])("with %s are refused with one error that names it, and leave nothing behind", async (_what, entries, told) => {
    const { status, json } = await call("POST", "/sources", form(tarGz(entries), "labs.tar.gz", { type: "upload", id: "labs" }))
    expect([status, json.error]).toEqual([400, expect.stringContaining(told)])
    await expectNothingLeft()
  })

  it("with invalid items next to valid ones are listed, the invalid ones with the reason, and never installed", async () => {
    const template = (name: string) => `variable "vm_name" {\n  default = "${name}"\n}\n`
    const collection = "namespace: x\nname: y\nversion: 1.0.0\n"
    const entries = [
      { name: "templates/a/a.pkr.hcl", content: template("debian") },
      { name: "templates/b/b.pkr.hcl", content: template("debian") },
      { name: "templates/c/c.pkr.hcl", content: template("../../mark") },
      { name: "templates/d/d.pkr.hcl", content: template("kali") },
      { name: "ansible/collections/a/galaxy.yml", content: collection },
      { name: "ansible/collections/b/galaxy.yml", content: collection },
      { name: "ansible/roles/-rf/tasks/main.yml", content: "[]\n" },
      { name: "blueprints/lab/blueprint.yml", content: "id: [" },
    ]
    expect((await call("POST", "/sources", form(tarGz(entries), "labs.tar.gz", { type: "upload", id: "labs" }))).status).toBe(200)
    const { json: catalog } = await call("GET", "/sources/labs/catalog")
    const states = (list: unknown) =>
      (list as { name: string; state: string; problem?: string }[]).map(({ name, state, problem }) => [name, state, problem])
    const because = (text: string): unknown => expect.stringContaining(text)
    expect(states(catalog["templates"])).toEqual([
      ["c", "invalid", because("templates/c/c.pkr.hcl")],
      ["debian", "not_installed", undefined],
      ["debian", "conflict", because("the one in templates/a keeps the name")],
      ["kali", "not_installed", undefined],
    ])
    expect(states(catalog["localCollections"])).toEqual([
      ["x.y", "not_installed", undefined],
      ["x.y", "conflict", because("ansible/collections/a")],
    ])
    expect(states(catalog["localRoles"])).toEqual([["-rf", "invalid", because("a role cannot be named")]])
    expect(states((catalog["blueprints"] as unknown as { items: unknown }).items)).toEqual([
      ["lab", "invalid", because("blueprints/lab")],
    ])
    const { json: all } = await call("GET", "/catalog")
    expect(states(all["items"])).toHaveLength(8)

    const { json: asked } = await call("POST", "/sources/labs/install", {
      selection: { templates: ["kali"], localRoles: ["-rf"], blueprints: ["lab"] },
    })
    expect(asked).toMatchObject({
      templateResults: [{ name: "kali", ok: true }],
      localAnsibleResults: { roleResults: [{ name: "-rf", ok: false, message: because("a role cannot be named") }] },
      blueprintResults: { results: [{ name: "labs/lab", ok: false, message: because("blueprints/lab/blueprint.yml") }] },
    })
    const { json: done } = await call("POST", "/sources/labs/install", {})
    const results = (list: unknown) => (list as { name: string; ok: boolean }[]).map(({ name, ok }) => [name, ok])
    expect(results(done["templateResults"])).toEqual([
      ["debian", true],
      ["kali", true],
      ["c", false],
      ["templates/b", false],
    ])
  })

  it("that are small and unpack to very much are refused", async () => {
    const huge = zip({ "ansible/roles/r/x": { content: "0".repeat(60_000_000) } })
    const { status, json } = await call("POST", "/sources", form(huge, "labs.zip", { type: "upload", id: "labs" }))
    expect([status, json.error]).toEqual([400, expect.stringContaining("ansible/roles/r/x")])
    await expectNothingLeft()
  })

  it("that exceed the upload limit are refused before anything is unpacked", async () => {
    const large = new Uint8Array(53 * 1024 * 1024)
    expect((await call("POST", "/sources", form(large, "labs.zip", { type: "upload", id: "labs" }))).status).toBe(413)
    await expectNothingLeft()
  })
})

describe("hostile repositories", () => {
  it.each([
    ["an option in place of a URL", { url: "--upload-pack=MARK" }, "begins with -"],
    ["a transport that runs programs", { url: "ext::MARK" }, "transport helpers run programs"],
    ["an option for ssh", { url: "ssh://-oProxyCommand=MARK/x" }, "would be taken for an option"],
    ["a transport that is not allowed", { url: "git://127.0.0.1/x" }, "git is not allowed"],
    ["an address that is not public", { url: "http://10.0.0.1/x.git" }, "not public"],
    ["the address that clouds tell secrets at", { url: "http://169.254.169.254/latest" }, "not public"],
    ["a file outside of the allowed folders", { url: "file:///etc" }, "not inside a folder"],
    ["two lines", { url: "http://127.0.0.1/x\ntouch MARK" }, "control character"],
    ["a ref that is an option", { url: "http://127.0.0.1/x.git", ref: "--upload-pack=MARK" }, "ref"],
    ["a ref that climbs", { url: "http://127.0.0.1/x.git", ref: "../../x" }, "ref"],
  ])("%s is refused, and nothing is executed", async (_what, wish, because) => {
    const mark = join(root, "mark")
    const told = JSON.parse(JSON.stringify(wish).replace("MARK", mark)) as object
    const { status, json } = await call("POST", "/sources", { type: "git", id: "labs", ...told })
    expect([status, json.error]).toEqual([400, expect.stringContaining(because)])
    await expectNothingLeft()
  })

  it("with a link out of the tree are refused by its name; a valid link is kept", async () => {
    const repository = testRepository(served, "labs", { ...files, "ansible/roles/hello/files/away": { link: "/etc/passwd" } })
    const wish = { type: "git", url: fileUrl(repository), id: "labs" }
    const { status, json } = await call("POST", "/sources", wish)
    expect([status, json.error]).toEqual([400, expect.stringContaining("ansible/roles/hello/files/away")])
    await expectNothingLeft()
    repository.commit({ "ansible/roles/hello/files/away": undefined })
    expect((await call("POST", "/sources", wish)).status).toBe(200)
  })
})

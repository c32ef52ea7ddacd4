import { commitTo, memoryArtifactsLayer, type MemoryFiles } from "@rangewright/adapter-memory"
import { RunEngine } from "@rangewright/run-engine"
import type { RecordId, RunHead, RunId, SnapshotId, SourceCatalog, SourceId, User } from "@rangewright/domain"
import { Archives, ContentFetcher, RunJournal, Sources } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

const url = "https://git.example/acme/labs.git"
const files: MemoryFiles = {
  "source.yml": "name: Acme Labs\ndescription: Practice\nauthors: [Acme]\n",
  "blueprints/web/blueprint.yml": "id: web\nname: Web\nversion: 1.0.0\nconfig: config.yml\n",
  "blueprints/web/config.yml": "ludus:\n  - {vm_name: web, template: debian-12, roles: [lonely]}\n",
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n",
}

let app: TestApp
let root: User
let ada: User
let bea: User
beforeEach(async () => {
  app = makeTestApp()
  root = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bea = await app.addUser("Bea")
  commitTo(app.artifacts.content, url, files)
})

const register = (user: User, body: object, file?: object) =>
  app.call("createSource", user, { body, ...(file === undefined ? {} : { file: file as never }) }) as Promise<{
    readonly sourceID: string
    readonly catalog: SourceCatalog
  }>
const refused = (user: User, body: object, file?: object) =>
  app.fails("createSource", user, { body, ...(file === undefined ? {} : { file: file as never }) })
const show = (id: string, user: User = ada) => app.call("getSource", user, { path: { sourceID: id } })
const catalog = async (id: string, user: User = ada) =>
  JSON.parse((await app.call("getSourceCatalog", user, { path: { sourceID: id } })) as string) as SourceCatalog
const sync = (id: string, user: User = ada) => app.call("syncSource", user, { path: { sourceID: id } })
const change = (id: string, body: object, user: User = ada) => app.call("updateSource", user, { path: { sourceID: id }, body })
const pinned = () => [...app.artifacts.content.pins].filter(([, holders]) => holders.size > 0).map(([id]) => id)
const upload = (name: string, content: MemoryFiles) => {
  const path = `/uploads/${name}`
  app.artifacts.content.archives.set(path, content)
  return { filename: name, contentType: "application/gzip", size: 1, path }
}

describe("registering a source", () => {
  it("fetches it, tells what it ships, and installs nothing", async () => {
    const { sourceID, catalog: shipped } = await register(ada, { type: "git", url })
    expect(sourceID).toBe("Ada-acme-labs")
    expect(shipped).toMatchObject({
      sourceID,
      sourceName: "Acme Labs",
      sourceType: "git",
      blueprints: { items: [{ id: "web", state: "not_installed" }] },
      localRoles: [{ name: "acme.hello", state: "not_installed" }],
    })
    expect(await show(sourceID)).toMatchObject({ name: "Acme Labs", authors: ["Acme"], ref: "HEAD", ownerUserID: "Ada" })
    expect(await show(sourceID)).toMatchObject({ homepage: url })
    expect(await show(sourceID)).not.toHaveProperty("lastSyncStatus")
    expect(await app.call("listBlueprints", ada)).toEqual([])
  })

  it("takes the id that is given, and derives one where it is blank", async () => {
    expect((await register(ada, { type: "git", url, id: " bsl " })).sourceID).toBe("bsl")
    expect((await register(bea, { type: "git", url, id: "  " })).sourceID).toBe("Bea-acme-labs")
  })

  it("again, by the same user, fetches the current content and keeps the description", async () => {
    await register(ada, { type: "git", url })
    commitTo(app.artifacts.content, url, { ...files, "source.yml": "name: Renamed\n", "templates/t/t.pkr.json": "{}" })
    const { catalog: again } = await register(ada, { type: "git", url, ref: "ignored" })
    expect(again).toMatchObject({ sourceName: "Acme Labs", templates: [{ name: "t" }] })
    expect(await app.call("listSources", ada)).toHaveLength(1)
  })

  it("refuses in the order of the contract", async () => {
    await register(bea, { type: "git", url, id: "taken" })
    await register(ada, { type: "git", url, id: "mine" })
    expect(await refused(ada, { type: "nonsense", global: true })).toMatchObject({ kind: "forbidden" })
    expect(await refused(ada, { type: "nonsense", id: "9" })).toMatchObject({ kind: "invalid", issues: [{ path: "type" }] })
    expect(await refused(ada, { type: "git", id: "a/b" })).toMatchObject({ kind: "invalid", issues: [{ path: "id" }] })
    expect(await refused(ada, { type: "git" })).toMatchObject({ kind: "invalid", issues: [{ path: "url" }] })
    expect(await refused(ada, { type: "upload" })).toMatchObject({ kind: "invalid", issues: [{ path: "archive" }] })
    expect((await refused(ada, { type: "svn" })).message).toBe('Cannot register the source: type "svn" is unknown')
    expect(await refused(ada, { type: "upload", id: "mine" })).toMatchObject({ kind: "conflict" })
    expect(await refused(ada, { type: "git", id: "mine", url: "https://git.example/other" })).toMatchObject({ kind: "conflict" })
    const taken = await refused(ada, { type: "git", id: "taken" })
    expect(taken).toMatchObject({ kind: "conflict", message: expect.stringContaining("already in use") })
    expect(await refused(ada, { type: "git", id: "new" })).toMatchObject({ kind: "invalid", issues: [{ path: "url" }] })
    expect(await refused(ada, { type: "upload", id: "new" })).toMatchObject({ kind: "invalid", issues: [{ path: "archive" }] })
    expect(await app.call("listSources", ada)).toHaveLength(1)
  })

  it.each([
    ["what is not there", { url: "https://git.example/none.git" }, "no such repository"],
    ["a ref that is not there", { url, ref: "none" }, "no such branch, tag or commit"],
    ["a ref that would be an option", { url, ref: "--upload-pack=touch x" }, "ref"],
    ["another transport", { url: "ext::sh", id: "x" }, "transport helpers run programs"],
    ["a URL that would be an option", { url: "--upload-pack=x", id: "x" }, "would be taken for an option"],
    ["two lines", { url: "https://git.example/a\nb", id: "x" }, "control character"],
  ])("of %s leaves nothing behind and says why", async (_what, wish, told) => {
    const fault = await refused(ada, { type: "git", ...wish })
    expect(fault).toMatchObject({ kind: "invalid" })
    expect(fault.message).toContain(told)
    expect(await app.call("listSources", ada)).toEqual([])
    expect(pinned()).toEqual([])
  })

  it("of content that is not a valid source leaves nothing behind and names every file", async () => {
    commitTo(app.artifacts.content, url, {
      "blueprints/web/blueprint.yml": "id: other\nname: Web\nversion: 1.0.0\nconfig: ../../etc/passwd\n",
    })
    const fault = await refused(ada, { type: "git", url })
    expect(fault).toMatchObject({ kind: "invalid" })
    expect(fault.message).toContain("blueprints/web/blueprint.yml")
    expect(fault.issues.map(({ path }) => path).some((path) => path.includes("blueprints/web"))).toBe(true)
    expect(await app.call("listSources", ada)).toEqual([])
    expect(pinned()).toEqual([])
  })

  it("refuses a URL with credentials without repeating them, and tells where they go", async () => {
    const fault = await refused(ada, { type: "git", url: "https://joe:hunter2@git.example/acme/labs.git" })
    expect(fault).toMatchObject({ kind: "invalid", hint: expect.stringContaining("not in the URL") })
    expect(JSON.stringify([fault.message, fault.issues, fault.hint])).not.toContain("hunter2")
  })

  it("creates only one of several that are registered concurrently under one ID", async () => {
    const results = await Promise.allSettled([ada, bea, ada, bea].map((user) => register(user, { type: "git", url, id: "same" })))
    const owner = (await show("same", root)) as { readonly ownerUserID: string }
    const won = results.filter(({ status }) => status === "fulfilled")
    expect(won.length).toBeGreaterThan(0)
    expect(await app.call("listSources", owner.ownerUserID === "Ada" ? bea : ada)).toEqual([])
  })
})

describe("uploads", () => {
  it("are unwrapped, and synced by reading again what was sent", async () => {
    const wrapped = Object.fromEntries(Object.entries(files).map(([path, text]) => [`labs-1.0/${path}`, text]))
    const { sourceID } = await register(ada, { type: "upload" }, upload("My Labs.tar.gz", wrapped))
    expect(sourceID).toBe("Ada-my-labs")
    const before = (await show(sourceID)) as { readonly lastSyncedAt: string }
    await sync(sourceID)
    expect(await show(sourceID)).toMatchObject({ lastSyncStatus: "ok", lastSyncedAt: before.lastSyncedAt })
    expect((await catalog(sourceID)).localRoles).toHaveLength(1)
  })

  it("keep a top-level folder that is part of the layout", async () => {
    const archive = upload("roles.zip", { "ansible/roles/hello/meta/main.yml": "galaxy_info: {}\n" })
    const { catalog: shipped } = await register(ada, { type: "upload" }, archive)
    expect(shipped.localRoles).toMatchObject([{ name: "hello" }])
  })

  it("take another archive, which a bad one does not replace", async () => {
    const { sourceID } = await register(ada, { type: "upload" }, upload("labs.zip", files))
    const patch = (archive: object) => app.call("updateSource", ada, { path: { sourceID }, body: {}, file: archive as never })
    const next = upload("next.zip", { "templates/t/t.pkr.json": "{}" })
    expect(await patch(next)).toMatchObject({ sourceID, templateResults: [] })
    expect((await catalog(sourceID)).templates).toMatchObject([{ name: "t" }])
    const fault = await app.fails("updateSource", ada, {
      path: { sourceID },
      body: {},
      file: upload("bad.zip", { "readme.md": "x" }) as never,
    })
    expect(fault).toMatchObject({ kind: "invalid", message: expect.stringContaining("ships nothing") })
    expect((await catalog(sourceID)).templates).toMatchObject([{ name: "t" }])
    expect(pinned()).toHaveLength(1)
  })
})

describe("folders of the host", () => {
  beforeEach(() => void app.artifacts.content.folders.set("/srv/labs", files))

  it("are for administrators, and only those that the operator allowed", async () => {
    expect(await refused(ada, { type: "folder", path: "/srv/labs" })).toMatchObject({ kind: "forbidden" })
    expect(await refused(root, { type: "folder", path: "srv/labs", id: "x" })).toMatchObject({ kind: "invalid" })
    expect(await refused(root, { type: "folder", path: "/etc", id: "x" })).toMatchObject({ kind: "invalid" })
    expect(await register(root, { type: "folder", path: "/srv/labs/", id: "x" }).catch((fault: unknown) => fault)).toMatchObject({
      kind: "invalid",
    })
    expect((await register(root, { type: "folder", path: "/srv/labs" })).sourceID).toBe("Root1-labs")
  })

  it("are read again by a sync", async () => {
    const { sourceID } = await register(root, { type: "folder", path: "/srv/labs" })
    app.artifacts.content.folders.set("/srv/labs", { ...files, "templates/t/t.pkr.json": "{}" })
    await sync(sourceID, root)
    expect((await catalog(sourceID, root)).templates).toMatchObject([{ name: "t" }])
  })
})

describe("sources", () => {
  it("are seen by their owners, and by administrators who act for themselves", async () => {
    await register(ada, { type: "git", url, id: "adas" })
    await register(root, { type: "git", url, id: "roots" })
    const ids = async (user: User, query = {}) =>
      ((await app.call("listSources", user, { query })) as readonly { readonly sourceID: string }[]).map(
        ({ sourceID }) => sourceID,
      )
    expect(await ids(ada)).toEqual(["adas"])
    expect(await ids(bea)).toEqual([])
    expect((await ids(root)).sort()).toEqual(["adas", "roots"])
    expect(await ids(root, { userID: "Root1" })).toEqual(["roots"])
    for (const operation of ["getSource", "getSourceCatalog", "syncSource", "deleteSource", "updateSource"]) {
      const hidden = await app.fails(operation, bea, { path: { sourceID: "adas" }, body: {} })
      expect([operation, hidden.kind, hidden.message]).toEqual([operation, "not-found", "Source adas not found"])
    }
    expect(await app.fails("getSource", root, { path: { sourceID: "adas" }, query: { userID: "Root1" } })).toMatchObject({
      kind: "not-found",
    })
  })

  it("change only in the given members; with a new location the catalog is empty until the next sync", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    const before = await show(sourceID)
    expect(await change(sourceID, { url: "", ref: "" })).toEqual(before)
    expect(await change(sourceID, { ref: "next" })).toMatchObject({ ref: "next" })
    expect((await catalog(sourceID)).localRoles).toHaveLength(1)
    const elsewhere = "https://git.example/acme/other.git"
    expect(await change(sourceID, { url: elsewhere, ref: "HEAD" })).toMatchObject({ url: elsewhere })
    expect(await catalog(sourceID)).toMatchObject({
      blueprints: { items: [] },
      templates: [],
      localRoles: [],
      localCollections: [],
    })
    expect(pinned()).toEqual([])
    commitTo(app.artifacts.content, elsewhere, files)
    await sync(sourceID)
    expect((await catalog(sourceID)).localRoles).toHaveLength(1)
  })

  it("refuse what does not fit their type", async () => {
    await register(ada, { type: "git", url, id: "repo" })
    await register(ada, { type: "upload", id: "sent" }, upload("labs.zip", files))
    const fails = (id: string, body: object, file?: object) =>
      app.fails("updateSource", ada, { path: { sourceID: id }, body, ...(file === undefined ? {} : { file: file as never }) })
    expect(await fails("repo", { global: true })).toMatchObject({ kind: "forbidden" })
    expect(await fails("repo", {}, upload("x.zip", files))).toMatchObject({ kind: "invalid", issues: [{ path: "archive" }] })
    expect(await fails("sent", { ref: "x", url })).toMatchObject({ kind: "invalid", issues: [{ path: "ref" }] })
    expect(await fails("sent", { url })).toMatchObject({ kind: "invalid", issues: [{ path: "url" }] })
    expect(await fails("repo", { path: "/srv" })).toMatchObject({ kind: "invalid", issues: [{ path: "path" }] })
    expect(await fails("repo", { ref: "-x" })).toMatchObject({ kind: "invalid", issues: [{ path: "ref" }] })
    expect(await fails("repo", { schedule: "1s" })).toMatchObject({ kind: "invalid", issues: [{ path: "schedule" }] })
    expect(await fails("sent", { schedule: "12h" })).toMatchObject({ kind: "invalid", issues: [{ path: "schedule" }] })
  })

  it("report the use of what they brought when they are deleted, and are removed with their blueprints", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    await app.call("installSource", ada, { path: { sourceID }, body: {} })
    const planned = await app.call("deleteSource", ada, { path: { sourceID }, query: { dryRun: true } })
    expect(planned).toMatchObject({
      status: "planned",
      removedBlueprints: [{ blueprintID: `${sourceID}/web` }],
      stillInstalled: [{ kind: "local_role", name: "acme.hello", userID: "Ada" }],
    })
    expect(await app.call("deleteSource", ada, { path: { sourceID } })).toMatchObject({
      ...(planned as object),
      status: "deleted",
      result: "1 blueprint was deleted with it; none was shared; what was installed from it stays: 1 item of 1 user",
    })
    expect(await app.call("listSources", ada)).toEqual([])
    expect(await app.call("listBlueprints", ada)).toEqual([])
    expect(app.artifacts.library.artifacts.size).toBe(1)
    expect(pinned()).toEqual([])
    expect(await app.fails("deleteSource", ada, { path: { sourceID } })).toMatchObject({ kind: "not-found" })
  })
})

describe("a sync", () => {
  it("fetches what the source ships now and its manifest, and installs nothing", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    const old = pinned()
    commitTo(app.artifacts.content, url, { ...files, "source.yml": "name: Renamed\n", "templates/t/t.pkr.json": "{}" })
    expect(await sync(sourceID)).toEqual({
      sourceID,
      templateResults: [],
      localAnsibleResults: { roleResults: [], collectionResults: [] },
      blueprintResults: {
        ansibleResults: [],
        undeclaredDependencies: [{ blueprintID: "web", role: "lonely", kind: "missing_role" }],
      },
    })
    expect(await show(sourceID)).toMatchObject({ name: "Renamed", description: "Practice", lastSyncStatus: "ok" })
    expect((await catalog(sourceID)).templates).toMatchObject([{ name: "t", state: "not_installed" }])
    expect(pinned()).toHaveLength(1)
    expect(pinned()).not.toEqual(old)
  })

  it("that fails keeps the content, and reports why", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    commitTo(app.artifacts.content, url, { "blueprints/web/blueprint.yml": "id: [" })
    const fault = await app.fails("syncSource", ada, { path: { sourceID } })
    expect(fault).toMatchObject({ kind: "failed", message: expect.stringContaining("blueprints/web/blueprint.yml") })
    expect(await show(sourceID)).toMatchObject({ lastSyncStatus: "error", lastSyncError: fault.message })
    expect((await catalog(sourceID)).localRoles).toHaveLength(1)
    expect(pinned()).toHaveLength(1)
    commitTo(app.artifacts.content, url, files)
    await sync(sourceID)
    expect(await show(sourceID)).toMatchObject({ lastSyncStatus: "ok" })
    expect(await show(sourceID)).not.toHaveProperty("lastSyncError")
  })

  it("with nothing new, and every catalog after the first, reads no file", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    const [id] = pinned()
    const stored = app.artifacts.content.snapshots.get(id as SnapshotId)
    if (stored === undefined) throw new Error("nothing was fetched")
    // from now on reading a file fails
    app.artifacts.content.snapshots.set(id as SnapshotId, { ...stored, bytes: new Map() })
    await sync(sourceID)
    expect((await catalog(sourceID)).localRoles).toHaveLength(1)
    expect((await register(bea, { type: "git", url })).catalog.localRoles).toHaveLength(1)
  })
})

describe("content that is no longer stored here", () => {
  it("is fetched again as it was, not as it is now", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    const id = pinned()[0] as SnapshotId
    commitTo(app.artifacts.content, url, { "templates/t/t.pkr.json": "{}" })
    app.artifacts.content.snapshots.clear()
    app.artifacts.content.pins.clear()
    const restarted = makeTestApp({ after: app })
    const shown = JSON.parse((await restarted.call("getSourceCatalog", ada, { path: { sourceID } })) as string) as SourceCatalog
    expect(shown.localRoles).toHaveLength(1)
    expect([...app.artifacts.content.snapshots.keys()]).toEqual([id])
  })
})

describe("an upload whose content is lost", () => {
  it("says how to restore it", async () => {
    const { sourceID } = await register(ada, { type: "upload" }, upload("labs.zip", files))
    app.artifacts.content.snapshots.clear()
    const restarted = makeTestApp({ after: app })
    for (const operation of ["getSourceCatalog", "syncSource"])
      expect(await restarted.fails(operation, ada, { path: { sourceID } })).toMatchObject({
        kind: "failed",
        hint: expect.stringContaining(`PATCH /sources/${sourceID}`),
      })
  })
})

describe("unusable content of a source", () => {
  it("is reported when it is fetched, in the answer and in the log of the run", async () => {
    commitTo(app.artifacts.content, url, { ...files, "templates/empty/readme.md": "nothing to build here" })
    const told = { warnings: [{ file: "templates/empty", message: expect.stringContaining("0 builder files") }] }
    expect(await register(ada, { type: "git", url })).toMatchObject(told)
    expect(await sync("Ada-acme-labs")).toMatchObject(told)
    const printed = await app.run(
      Effect.gen(function* () {
        const journal = yield* RunJournal
        const [run] = yield* journal.list({ kinds: ["source-fetch"], limit: 1 })
        const entries = run === undefined ? [] : yield* journal.read(run.id, 0)
        return entries.flatMap(({ event }) => (event.type === "Output" ? [event.text] : []))
      }),
    )
    expect(printed.join("\n")).toContain("templates/empty: has 0 builder files")
  })
})

describe("a large source", () => {
  it("is refused when its texts are too much to be read", async () => {
    const large: Record<string, string> = {}
    for (let n = 0; n < 35; n++) {
      large[`blueprints/b${n}/blueprint.yml`] = `id: b${n}\nname: B\nversion: 1.0.0\nconfig: config.yml\n`
      large[`blueprints/b${n}/config.yml`] = `# ${"x".repeat(500_000)}\n`
    }
    commitTo(app.artifacts.content, url, large)
    expect(await refused(ada, { type: "git", url })).toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("more than 16 MiB in total"),
    })
    expect(await app.call("listSources", ada)).toEqual([])
  })
})

describe("credentials of a source", () => {
  const wanted = () =>
    app.run(
      Effect.gen(function* () {
        const source = yield* (yield* Sources).find("private" as SourceId)
        return source === undefined ? undefined : yield* (yield* Sources).access(source.recordId)
      }),
    )

  it("are stored sealed, can be changed and removed, and are never shown", async () => {
    const { catalog: shipped } = await register(ada, { type: "git", url, id: "private", token: "t0ken", username: "joe" })
    expect(JSON.parse((await wanted()) ?? "")).toEqual({ type: "token", username: "joe", token: "t0ken" })
    const shown = [shipped, await show("private"), await app.call("listSources", ada), await catalog("private")]
    expect(JSON.stringify(shown)).not.toMatch(/t0ken|joe/u)
    const sshKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n"
    const hostKey = `SHA256:${"A".repeat(43)}`
    await change("private", { sshKey, hostKey: `${hostKey}=` })
    expect(JSON.parse((await wanted()) ?? "")).toEqual({ type: "ssh-key", privateKey: sshKey, hostKey })
    await change("private", { ref: "main" })
    expect(await wanted()).toBeDefined()
    await change("private", { access: "none" })
    expect(await wanted()).toBeUndefined()
  })

  it("are not sent to another server", async () => {
    await register(ada, { type: "git", url, id: "private", token: "t0ken" })
    await change("private", { url: "https://git.example/elsewhere.git" })
    expect(await wanted()).toBeDefined()
    await change("private", { url: "https://evil.example/acme/labs.git" })
    expect(await wanted()).toBeUndefined()
    await change("private", { url, token: "another" })
    expect(await wanted()).toBeDefined()
  })

  it.each([
    ["a token and a key", { token: "a", sshKey: "b" }, "sshKey"],
    ["a key without the server's own", { sshKey: "-----BEGIN OPENSSH PRIVATE KEY-----\nx" }, "hostKey"],
    [
      "a key of OpenSSH's with a passphrase",
      {
        sshKey: "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHI=\n",
        hostKey: `SHA256:${"A".repeat(43)}`,
      },
      "sshKey",
    ],
    [
      "a PEM key with a passphrase",
      { sshKey: "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n", hostKey: `SHA256:${"A".repeat(43)}` },
      "sshKey",
    ],
    ["what is no key", { sshKey: "/root/.ssh/id_rsa", hostKey: `SHA256:${"A".repeat(43)}` }, "sshKey"],
    ["a token of two lines", { token: "a\nb" }, "token"],
    ["a token that is too long", { token: "a".repeat(8193) }, "token"],
    ["a login that is too long", { token: "a", username: "a".repeat(256) }, "username"],
    ["a login alone", { username: "joe" }, "username"],
  ])("are refused: %s", async (_what, access, path) => {
    const fault = await refused(ada, { type: "git", url, ...access })
    expect(fault).toMatchObject({ kind: "invalid", issues: [{ path }] })
    expect(await app.call("listSources", ada)).toEqual([])
  })
})

describe("the catalog of all sources", () => {
  it("lists each item with its state and source; a source that cannot be read does not affect the others", async () => {
    await register(ada, { type: "git", url, id: "one" })
    await register(ada, { type: "upload", id: "two" }, upload("two.zip", { "templates/t/t.pkr.json": "{}" }))
    await register(bea, { type: "git", url, id: "beas" })
    await app.call("installSource", ada, { path: { sourceID: "one" }, body: { selection: { localRoles: ["acme.hello"] } } })
    const all = async (user: User) => JSON.parse((await app.call("getCatalog", user)) as string) as Record<string, object[]>
    const { sources, items } = await all(ada)
    expect(sources).toMatchObject([{ sourceID: "two" }, { sourceID: "one", sourceName: "Acme Labs" }])
    expect(items).toEqual([
      { sourceID: "two", kind: "template", name: "t", state: "not_installed", status: "missing" },
      expect.objectContaining({ sourceID: "one", kind: "blueprint", id: "web", state: "not_installed" }),
      expect.objectContaining({ sourceID: "one", kind: "local_role", name: "acme.hello", state: "installed" }),
    ])
    const [two] = pinned().filter((id) => id.startsWith("sha256-"))
    app.artifacts.content.snapshots.delete(two as SnapshotId)
    const restarted = makeTestApp({ after: app })
    const partial = JSON.parse((await restarted.call("getCatalog", ada)) as string) as Record<string, object[]>
    expect(partial["sources"]).toMatchObject([{ sourceID: "two", error: expect.any(String) }, { sourceID: "one" }])
    expect(partial["items"]).toHaveLength(2)
  })
})

describe("a user who is removed", () => {
  it("is removed together with their sources, and the blueprints and content of those", async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    await app.call("installSource", ada, { path: { sourceID }, body: { selection: { blueprints: ["web"] } } })
    await app.call("deleteUser", root, { path: { userID: "Ada" } })
    expect(await app.call("listSources", root)).toEqual([])
    expect(await app.call("listBlueprints", root)).toEqual([])
    expect(pinned()).toEqual([])
    expect(await app.run(Effect.flatMap(ContentFetcher, ({ prune }) => prune))).toHaveLength(1)
  })
})

describe("a fetch as a run", () => {
  const runs = async (user: User) =>
    (await app.call("listRuns", user, { query: {} })) as readonly { readonly id: string; readonly kind: string }[]

  it("can be followed by whoever has the source, and by nobody else", async () => {
    await register(ada, { type: "git", url })
    const [fetch] = (await runs(ada)).filter(({ kind }) => kind === "source-fetch")
    const path = { runID: fetch?.id ?? "" }
    expect(await app.call("getRun", ada, { path })).toMatchObject({
      kind: "source-fetch",
      status: "success",
      steps: [{ title: "Fetch source Ada-acme-labs", phase: "settled" }],
    })
    expect(await app.fails("getRun", bea, { path })).toMatchObject({ kind: "forbidden" })
    expect(await app.call("getRun", root, { path })).toMatchObject({ status: "success" })
    expect((await runs(bea)).filter(({ kind }) => kind === "source-fetch")).toEqual([])
  })

  it("that died with its process is continued; a registration that cannot be completed then leaves nothing", async () => {
    const recordId = "recordofsource0" as RecordId
    const create = (id: string) =>
      Effect.flatMap(Sources, (sources) =>
        sources.create({
          recordId,
          id: id as SourceId,
          owner: ada.id,
          type: "upload",
          url: "",
          ref: "",
          path: "",
          name: id,
          access: undefined,
          schedule: undefined,
          nextSyncAt: undefined,
          createdAt: new Date(),
        }),
      )
    const archive = { filename: "labs.zip", contentType: "", size: 1, path: "/uploads/gone" }
    const head: RunHead = {
      id: "diedinthemiddle" as RunId,
      kind: "source-fetch",
      subject: { type: "source", id: recordId },
      by: ada.id,
      options: { recordId, manifest: true, discard: true, archive },
      startedAt: new Date(),
    }
    await app.run(
      Effect.andThen(
        create("labs"),
        Effect.flatMap(RunJournal, (journal) => journal.open(head, undefined)),
      ),
    )
    const restarted = makeTestApp({ after: app })
    await restarted.run(
      Effect.gen(function* () {
        const engine = yield* RunEngine
        expect(yield* engine.recover).toBe(1)
        expect((yield* engine.wait(head.id)).status).toBe("failure")
      }),
    )
    expect(await app.call("listSources", ada)).toEqual([])
  })

  /** A sync of a source of Ada's that hangs, and the app in which it does. */
  const standingStill = async () => {
    const { sourceID } = await register(ada, { type: "git", url })
    const before = await show(sourceID)
    const hanging = await Effect.runPromise(
      Effect.gen(function* () {
        const fetcher = yield* ContentFetcher
        return Context.make(ContentFetcher, { ...fetcher, fetch: () => Effect.never }).pipe(
          Context.add(Archives, yield* Archives),
        )
      }).pipe(Effect.provide(memoryArtifactsLayer(app.artifacts))),
    )
    const stuck = makeTestApp({ after: app, content: hanging })
    const synced = stuck.fails("syncSource", ada, { path: { sourceID } })
    const running = () =>
      stuck.run(Effect.flatMap(RunJournal, (journal) => Effect.map(journal.unfinished, ([run]) => run?.lastSeq ?? 0)))
    // planned and started
    await expect.poll(running).toBeGreaterThan(1)
    return { sourceID, before, stuck, synced }
  }

  it("that is cancelled leaves a source as it was", async () => {
    const { sourceID, before, stuck, synced } = await standingStill()
    await stuck.run(
      Effect.gen(function* () {
        const [run] = yield* (yield* RunJournal).unfinished
        if (run !== undefined) yield* (yield* RunEngine).cancel(run.id, ada.id)
      }),
    )
    expect(await synced).toMatchObject({ kind: "conflict", message: expect.stringContaining("cancelled") })
    expect(await show(sourceID)).toMatchObject({ snapshot: (before as { readonly snapshot: string }).snapshot })
  })

  it("that is cancelled because its source is deleted says so", async () => {
    const { sourceID, stuck, synced } = await standingStill()
    await stuck.call("deleteSource", ada, { path: { sourceID } })
    const fault = await synced
    expect(["conflict", "not-found"]).toContain(fault.kind)
    expect(fault.message).toMatch(/cancelled|not found/u)
  })
})

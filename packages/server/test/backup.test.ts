import { loadKey, markOf } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { gunzipSync } from "node:zlib"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { failed } from "../src/backup/failed.ts"
import { databaseName } from "../src/backup/parts.ts"
import { type BackupHead, readHead } from "../src/backup/read-archive.ts"
import { fileToKeep, type Tree, writeArchive } from "../src/backup/write-archive.ts"
import { restoreInto } from "../src/backup/restore-into.ts"
import { holdFolder } from "../src/compose/data-folder.ts"
import { namesFiles } from "../src/backup/left-out.ts"
import { loadConfig } from "../src/config/config.ts"
import { keys } from "../src/config/keys.ts"
import { addUser, makeFolder, newKeyText, statusOf } from "./support.ts"

vi.setConfig({ testTimeout: 120_000 })

const isSame = (compressed: Buffer, plain: Buffer): boolean => {
  try {
    return gunzipSync(compressed).equals(plain)
  } catch {
    return false
  }
}

let folder: ReturnType<typeof makeFolder>
beforeEach(() => void (folder = makeFolder()))

const snapshot = `content/snapshots/${"a".repeat(40)}`
const role = "library/global/roles/web"
const [long, odd] = [`${"deep/".repeat(30)}file`, "größe 文件.txt"]

const write = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(dirname(folder.path(path)), { recursive: true })
  writeFileSync(folder.path(path), text, { mode })
}

/** What is kept of a folder, to the last byte and bit of its modes that counts. */
const treeOf = (path: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (existsSync(path) ? readdirSync(path, { recursive: true, withFileTypes: true }) : []).flatMap((entry) => {
      const at = join(entry.parentPath, entry.name)
      const name = at.slice(path.length)
      if (entry.isSymbolicLink()) return [[name, "link"]]
      return entry.isFile() ? [[name, `${statSync(at).mode & 0o777} ${readFileSync(at, "latin1")}`]] : []
    }),
  )

interface Site {
  readonly root: string
  readonly key: string
}

/** A service that was used and stopped, with content of all kinds. */
const used = async (more: Record<string, string> = {}): Promise<Site> => {
  const service = await folder.start(more)
  const key = await addUser(service)
  await folder.stop()
  write(`${snapshot}/files.json`, "[]", 0o400)
  write(`${snapshot}/tree/${long}`, "a file far below", 0o444)
  write(`${snapshot}/tree/run`, "#!/bin/sh\n", 0o555)
  write(`content/pins/${"a".repeat(40)}/pin`, "source x")
  write(`content/repositories/big/pack`, "comes back with the next fetch")
  write(`${role}/tasks/main.yml`, "[]\n")
  write(`${role}/files/${odd}`, "\0\u0001")
  write(`${role}/files/run`, "#!/bin/sh\n", 0o755)
  write("playbook-runs/role-facts/LAB/x", "sealed", 0o600)
  write("playbook-runs/workspaces/UMA/left", "not kept")
  write("subscription/index-1.json", "{}", 0o600)
  symlinkSync("main.yml", folder.path(`${role}/tasks/other.yml`))
  write("elsewhere/file", "not kept")
  symlinkSync(folder.path("elsewhere"), folder.path("library/global/roles/elsewhere"))
  return { root: folder.text("root-api-key"), key }
}
const kept = ["content/snapshots", "content/pins", "library", "playbook-runs/role-facts", "subscription"]

const copy = (): string => folder.path("copy.tar.gz")
const backup = (...more: readonly string[]) => folder.command(["backup", copy(), ...more]).ended
const bare = () => ({ RANGEWRIGHT_DATA: folder.path("bare") })
const restore = (args: readonly string[] = [], more: Record<string, string> = bare()) =>
  folder.command(["restore", copy(), ...args], more).ended
const keyFile = (): string => folder.path("secret-key")

/** The restored folder is what the first one was, and a service works in it. */
const expectWhole = async ({ root, key }: Site, more: Record<string, string> = {}): Promise<void> => {
  for (const name of kept) expect(treeOf(folder.path(`bare/${name}`)), name).toEqual(treeOf(folder.path(name)))
  expect(folder.text("bare/certificate.pem")).toBe(folder.text("certificate.pem"))
  expect(folder.text("bare/root-api-key")).toBe(root)
  const service = await folder.start({ ...bare(), ...more })
  expect([await statusOf(service, root), await statusOf(service, key)]).toEqual([200, 200])
  expect(readFileSync(folder.path("bare/instance"), "utf8")).toBe(readFileSync(folder.path("instance"), "utf8"))
  await folder.stop()
  expect(readdirSync(folder.path("bare")).filter((name) => /restore|set-aside/u.test(name))).toEqual([])
}

describe("a backup", () => {
  test("is one file with everything, for its owner only, and says what is not in it", async () => {
    await used()
    const { status, output } = await backup()
    expect([status, statSync(copy()).mode & 0o777]).toEqual([0, 0o600])
    expect(output).toMatch(/the database, 1 snapshot of content, 3 files of installed.*what 1 role set/u)
    expect(output).toMatch(
      /Not in it:\n- the key .{8}, without which it cannot be restored.*secret-key.*\n- the configuration.*\n- .*workspaces/u,
    )
    expect(readdirSync(folder.data).filter((name) => name.includes("partial"))).toEqual([])
    const { manifest } = await readHead(copy())
    const paths = [...manifest.files, ...manifest.links].map(({ path }) => path)
    expect(paths.filter((path) => /repositories|workspaces|secret-key|root-api-key|certificate|lock/u.test(path))).toEqual([])
    expect(await backup()).toMatchObject({ status: 1, output: expect.stringContaining("the file exists") })
    const onFolder = await folder.command(["backup", folder.data]).ended
    expect(onFolder).toMatchObject({ status: 1, output: expect.stringMatching(/it is a folder\nName a new file, such as /u) })
  })

  test("names every file and folder elsewhere that the configuration names", () => {
    const elsewhere = Object.keys(keys).filter((key) => /(?:File|Folders?|Directory|Plugins|Collections)$/u.test(key))
    // the page is built anew, and the older installation is imported once
    expect(elsewhere.filter((key) => !(namesFiles as readonly string[]).includes(key))).toEqual(["webFolder", "legacyDirectory"])
  })

  test("is refused without the key that is needed to restore it", async () => {
    await used()
    rmSync(keyFile())
    expect(await backup()).toMatchObject({ status: 1, output: expect.stringMatching(/there is no .*secret-key/u) })
    writeFileSync(keyFile(), newKeyText(), { mode: 0o600 })
    expect(await backup()).toMatchObject({ status: 1, output: expect.stringContaining("does not belong to the database") })
    expect(readdirSync(folder.data).filter((name) => name.startsWith("copy"))).toEqual([])
  })

  test("leaves the database of an older version as it is, which that version may be using, and so do root-key and rotate-key", async () => {
    await used()
    const file = folder.path(databaseName)
    const older = new DatabaseSync(file)
    older.exec("drop table step_durations; delete from schema_migrations where name = '0048-step-durations'")
    older.close()
    const before = readFileSync(file)
    const refused = { status: 1, output: expect.stringMatching(/is not up to date: .*the version that wrote it/u) }
    expect(await backup()).toMatchObject(refused)
    const key = folder.text("secret-key")
    expect(await folder.command(["root-key"]).ended).toMatchObject(refused)
    expect(await folder.command(["rotate-key"]).ended).toMatchObject(refused)
    expect([folder.text("secret-key"), existsSync(folder.path("secret-key.next"))]).toEqual([key, false])
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(existsSync(copy())).toBe(false)
  })

  test("restore and begin-anew set the database of an older version aside as it is, unless it is in the middle of a migration", async () => {
    await used()
    expect(await backup()).toMatchObject({ status: 0 })
    const file = folder.path(databaseName)
    const onDatabase = (sql: string) => {
      const older = new DatabaseSync(file)
      older.exec(sql)
      older.close()
    }
    const olderVersion = "drop table step_durations; delete from schema_migrations where name = '0048-step-durations'"
    const migrating = (busy: string) =>
      `insert into runs (id, kind, subject, busy_subject, by_user, options, started_at, status, last_seq, cancel_requested, generation, ordinal)
        values ('migration000000', 'migrate-sdn', 'installation:this', ${busy}, 'ROOT', 'null', 0, 'running', 0, 0, 0, 1000)`
    onDatabase(`${olderVersion}; ${migrating("'installation:this'")}`)
    const replace = () => folder.command(["restore", copy(), "--replace"]).ended
    expect(await replace()).toMatchObject({
      status: 1,
      output: expect.stringContaining("run migration000000 (migrate-sdn) is changing"),
    })
    onDatabase("delete from runs where id = 'migration000000'")
    const before = readFileSync(file)
    const aside = () => readdirSync(folder.data).filter((name) => name.startsWith("set-aside-"))
    expect(await replace()).toMatchObject({ status: 0 })
    const [first = ""] = aside()
    expect(readFileSync(folder.path(`${first}/${databaseName}`)).equals(before)).toBe(true)
    onDatabase(olderVersion)
    const again = readFileSync(file)
    const begun = await folder.command(["begin-anew"]).ended
    expect(begun).toMatchObject({ status: 0, output: expect.stringMatching(/could not be recorded .* is not up to date/u) })
    const second = aside().find((name) => name !== first) ?? ""
    expect(readFileSync(folder.path(`${second}/${databaseName}`)).equals(again)).toBe(true)
  }, 120_000)

  test("killed after any change of a folder, it leaves no file or a complete one, and cleans up the next time", async () => {
    const site = await used()
    for (const change of await folder.momentsOf(["backup", copy()])) {
      rmSync(copy(), { force: true })
      await folder.killedAfter(change, ["backup", copy()])
      if (existsSync(copy())) await readHead(copy())
    }
    rmSync(copy(), { force: true })
    expect(await backup()).toMatchObject({ status: 0 })
    expect(readdirSync(folder.data).filter((name) => name.includes("partial"))).toEqual([])
    expect(await restore(["--secret-key", keyFile()])).toMatchObject({ status: 0 })
    await expectWhole(site)
  }, 240_000)
})

describe("a restore onto an empty folder", () => {
  test("asks for the key before it writes anything, and with it brings back everything", async () => {
    const site = await used()
    await backup()
    const id = (await readHead(copy())).manifest.keyId
    expect(await restore()).toMatchObject({
      status: 1,
      output: expect.stringMatching(new RegExp(`encrypted with the key ${id}, which is not here\\n.*--secret-key FILE`, "u")),
    })
    writeFileSync(folder.path("wrong"), newKeyText(), { mode: 0o600 })
    expect(await restore(["--secret-key", folder.path("wrong")])).toMatchObject({
      status: 1,
      output: expect.stringMatching(/which is not here \(what is here: .{8}\)/u),
    })
    expect(readdirSync(folder.path("bare")).filter((name) => !name.startsWith("lock.db"))).toEqual([])
    const { status, output } = await restore(["--secret-key", keyFile()])
    expect([status, output]).toEqual([0, expect.stringMatching(/made at 20.*Not in it:\n- the configuration/su)])
    expect(folder.text("bare/secret-key")).toBe(folder.text("secret-key"))
    await expectWhole(site)
  })

  test("takes the key that lies in the folder, and the configured one", async () => {
    const site = await used()
    await backup()
    mkdirSync(folder.path("bare"))
    copyFileSync(keyFile(), folder.path("bare/secret-key"))
    expect(await restore()).toMatchObject({ status: 0 })
    await expectWhole(site)
    rmSync(folder.path("bare"), { recursive: true })
    const configured = { ...bare(), RANGEWRIGHT_SECRET_KEY: folder.text("secret-key") }
    expect(await restore([], configured)).toMatchObject({ status: 0 })
    expect(existsSync(folder.path("bare/secret-key"))).toBe(false)
    await expectWhole(site, configured)
  })

  test("takes the key from the backup, by its passphrase", async () => {
    const site = await used()
    const [passphrase, wrong, short] = ["right", "wrong", "short"].map(folder.path) as [string, string, string]
    writeFileSync(passphrase, "correct horse battery staple\n", { mode: 0o600 })
    writeFileSync(wrong, "incorrect horse battery staple\n", { mode: 0o600 })
    writeFileSync(short, "hunter2\n", { mode: 0o600 })
    expect(await backup("--key-passphrase", short)).toMatchObject({
      status: 1,
      output: expect.stringContaining("fewer than 12 characters"),
    })
    chmodSync(passphrase, 0o644)
    expect(await backup("--key-passphrase", passphrase)).toMatchObject({ status: 1, output: expect.stringContaining("0644") })
    chmodSync(passphrase, 0o600)
    expect(await backup("--key-passphrase", passphrase)).toMatchObject({
      status: 0,
      output: expect.stringContaining("- the passphrase for the key"),
    })
    expect(await restore()).toMatchObject({ status: 1, output: expect.stringContaining("--key-passphrase FILE") })
    expect(await restore(["--key-passphrase", wrong])).toMatchObject({
      status: 1,
      output: expect.stringContaining("the passphrase is wrong, or the backup is damaged"),
    })
    expect(await restore(["--key-passphrase", passphrase])).toMatchObject({ status: 0 })
    expect(folder.text("bare/secret-key")).toBe(folder.text("secret-key"))
    await expectWhole(site)
  })

  test("killed after any change of the folder, it leaves nothing, or the whole backup at the next start", async () => {
    const site = await used()
    await backup()
    const outcomes = { nothing: 0, whole: 0 }
    const command = ["restore", copy(), "--secret-key", keyFile()]
    for (const change of await folder.momentsOf(command, bare())) {
      rmSync(folder.path("bare"), { recursive: true, force: true })
      await folder.killedAfter(change, command, bare())
      // where nothing is, this one does it all; where all is, it is refused
      const again = await restore(["--secret-key", keyFile()])
      if (again.status === 0) outcomes.nothing++
      else {
        expect(again).toMatchObject({ output: expect.stringContaining("it is in use") })
        outcomes.whole++
      }
      await expectWhole(site)
    }
    expect(outcomes.nothing).toBeGreaterThan(3)
    expect(outcomes.whole).toBeGreaterThan(3)
  }, 240_000)

  test("takes a copy of the database that an earlier version made, and says what is not in it", async () => {
    const site = await used()
    const database = new DatabaseSync(folder.path(databaseName))
    database.prepare("vacuum into ?").run(copy())
    database.close()
    expect(await restore(["--secret-key", keyFile()])).toMatchObject({
      status: 1,
      output: expect.stringMatching(/nothing shows that it is unchanged\n.*--unmarked-database/u),
    })
    expect(existsSync(folder.path("bare"))).toBe(false)
    expect(await restore(["--unmarked-database"])).toMatchObject({
      status: 1,
      output: expect.stringMatching(/encrypted with the key .{8}, which is not here/u),
    })
    const { status, output } = await restore(["--unmarked-database", "--secret-key", keyFile()])
    expect([status, output]).toEqual([0, expect.stringMatching(/only a copy of the database, as earlier versions made them/u)])
    const service = await folder.start(bare())
    expect([await statusOf(service, site.root), await statusOf(service, site.key)]).toEqual([200, 200])
    expect(folder.text("bare/root-api-key")).toBe(site.root)
  })
})

describe("links in what is restored", () => {
  test("are given to the folder's owner and never followed, neither in circles nor to the outside", async () => {
    await used()
    write("outside/below/file", "root's")
    symlinkSync(".", folder.path(`${role}/tasks/a`))
    symlinkSync(".", folder.path(`${role}/tasks/b`))
    symlinkSync(folder.path("outside"), folder.path(`${role}/tasks/out`))
    await backup()
    mkdirSync(folder.path("bare"))
    // only root can give a folder away; for anybody else the owner stays
    const [uid, gid] = process.getuid?.() === 0 ? [12_345, 12_346] : [process.getuid?.(), process.getgid?.()]
    chownSync(folder.path("bare"), uid ?? 0, gid ?? 0)
    expect(await restore(["--secret-key", keyFile()])).toMatchObject({ status: 0 })
    const ownerOf = (path: string): number => lstatSync(folder.path(path)).uid
    for (const name of ["", "tasks", "tasks/main.yml", "tasks/a", "tasks/b", "tasks/out"])
      expect(ownerOf(`bare/${role}/${name}`), name).toBe(uid)
    for (const name of ["outside", "outside/below", "outside/below/file"]) expect(ownerOf(name), name).toBe(process.getuid?.())
  })
})

describe("a restore onto a folder in use", () => {
  test("is refused; with --replace it sets aside what it replaces, and keeps key, certificate and registry state", async () => {
    const site = await used()
    await backup()
    const own = bare()
    await folder.start(own)
    expect(await restore(["--secret-key", keyFile()])).toMatchObject({
      status: 1,
      output: expect.stringContaining("a service is running on the data folder"),
    })
    await folder.stop()
    const before = ["secret-key", "certificate.pem", "instance", "root-api-key"].map((name) => folder.text(`bare/${name}`))
    mkdirSync(folder.path("bare/library/global/roles/later"), { recursive: true })
    expect(await restore(["--secret-key", keyFile()])).toMatchObject({ status: 1, output: expect.stringContaining("--replace") })
    const { status, output } = await restore(["--secret-key", keyFile(), "--replace"])
    expect([status, output]).toEqual([0, expect.stringMatching(/What it replaced is in .*set-aside-/u)])
    const [aside = ""] = readdirSync(folder.path("bare")).filter((name) => name.startsWith("set-aside-"))
    expect(["secret-key", "certificate.pem", "instance"].map((name) => folder.text(`bare/${name}`))).toEqual(before.slice(0, 3))
    expect(folder.text(`bare/${aside}/root-api-key`)).toBe(before[3])
    expect(existsSync(folder.path(`bare/${aside}/library/global/roles/later`))).toBe(true)
    expect(treeOf(folder.path("bare/library"))).toEqual(treeOf(folder.path("library")))
    const service = await folder.start(own)
    expect([await statusOf(service, site.root), await statusOf(service, site.key), await statusOf(service, before[3])]).toEqual([
      200, 200, 401,
    ])
  })

  test("works where the database is damaged, and leaves content where a copy of the database alone is restored", async () => {
    const site = await used()
    const database = new DatabaseSync(folder.path(databaseName))
    database.prepare("vacuum into ?").run(copy())
    database.close()
    writeFileSync(folder.path(databaseName), "this is no database".repeat(1000))
    const library = treeOf(folder.path("library"))
    const said = await restore(["--replace", "--unmarked-database"], {})
    expect([said.status, said.output]).toEqual([0, expect.stringContaining("What it replaced is in")])
    expect(treeOf(folder.path("library"))).toEqual(library)
    const service = await folder.start()
    expect([await statusOf(service, site.root), await statusOf(service, site.key)]).toEqual([200, 200])
  })
})

describe("a file that is not what a backup was", () => {
  let made: ReturnType<typeof makeFolder>
  let whole: Buffer
  let head: BackupHead
  let key: NonNullable<Effect.Success<ReturnType<typeof loadKey>>>
  beforeEach(async () => {
    await used()
    made = folder
    expect(await backup()).toMatchObject({ status: 0 })
    whole = readFileSync(copy())
    head = await readHead(copy())
    const found = await Effect.runPromise(loadKey(keyFile()))
    if (found === undefined) throw new Error("no key")
    key = found
  })

  /** In this process: starting one for each of so many would take longer than all the rest. */
  const expectRefused = async (reason: RegExp): Promise<void> => {
    const held = holdFolder(made.path("bare"))
    const config = loadConfig({ file: undefined, environment: bare() })
    const wish = { secretKey: made.path("secret-key"), keyPassphrase: undefined }
    const said = await restoreInto(config, held, copy(), wish).then(
      () => "restored",
      (cause: unknown) => String(failed(`restore ${copy()}`, cause)),
    )
    held.release()
    expect(said).toMatch(reason)
    expect(readdirSync(made.path("bare")).filter((name) => !name.startsWith("lock.db"))).toEqual([])
  }

  test("cut off or changed anywhere, it is refused, and nothing is left", async () => {
    for (const part of [0, 1, 11, 200, 1000, whole.length >> 1, whole.length - 9, whole.length - 1]) {
      writeFileSync(copy(), whole)
      truncateSync(copy(), part)
      await expectRefused(/Cannot (?:restore|use) .*copy\.tar\.gz: /u)
    }
    const plain = gunzipSync(whole)
    for (let at = 20; at < whole.length; at += Math.ceil(whole.length / 50)) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 4
      // the compression has bits that mean nothing
      if (isSame(changed, plain)) continue
      writeFileSync(copy(), changed)
      await expectRefused(/Cannot (?:restore|use) .*copy\.tar\.gz: /u)
    }
    writeFileSync(copy(), Buffer.concat([whole, Buffer.from("more")]))
    await expectRefused(/more bytes follow/u)
    writeFileSync(copy(), "not even close")
    await expectRefused(/not a backup of this service/u)
    // as a person meets it
    expect(await folder.command(["restore", folder.data], bare()).ended).toMatchObject({
      status: 1,
      output: expect.stringContaining("it is a folder, not a file"),
    })
    expect(await folder.command(["backup", "/nosuch/x"]).ended).toMatchObject({
      status: 1,
      output: expect.stringContaining("there is no such file or folder"),
    })
    expect(await backup("--key-passphrase=")).toMatchObject({ status: 2 })
    expect(await restore(["--secret-key", keyFile()])).toEqual({
      status: 1,
      output: `Cannot restore ${copy()}: it is not a backup of this service\n`,
    })
  }, 120_000)

  /** Writes an archive whose manifest bears the mark of the real key. */
  const forge = async (change: (manifest: BackupHead["manifest"]) => unknown, tree?: Tree, mark?: string): Promise<void> => {
    rmSync(copy(), { force: true })
    const text = JSON.stringify(change(head.manifest))
    await writeArchive(copy(), text, mark ?? markOf(key, text), tree ?? { files: [], links: [] })
  }
  const file = (path: string, source: string) => fileToKeep(made.path(source), path)

  test("without the key's mark it is refused, whatever it holds", async () => {
    await forge((manifest) => ({ ...manifest, notIncluded: ["nothing at all"] }), undefined, head.mark)
    await expectRefused(/it has been changed/u)
  })

  test("that leads elsewhere, holds too much, too little or something else is refused, even with the mark", async () => {
    const database = file(databaseName, databaseName)
    const listed = ({ path, size, sha256, mode }: typeof database) => ({ path, size, sha256, mode })
    const hostile = async (path: string, more: object = {}) => {
      const extra = { ...database, path }
      const files = [database, extra].map(listed)
      await forge((manifest) => ({ ...manifest, files, links: [], ...more }), { files: [database, extra], links: [] })
      await expectRefused(/an unknown entry|an entry twice|inside another|cannot be read/u)
    }
    for (const path of [
      "../outside",
      "library/../../outside",
      "/etc/passwd",
      "secret-key",
      "library",
      "library//x",
      "library/./x",
      "library/a\0b",
      "content/repositories/x",
      databaseName,
    ])
      await hostile(path)
    await hostile("library/link/x", { links: [{ path: "library/link", target: "/tmp" }] })
    const one = { files: [database], links: [] }
    const of = (files: readonly object[]) => (manifest: object) => ({ ...manifest, files, links: [] })
    await forge(of([{ ...listed(database), sha256: "0".repeat(64) }]), one)
    await expectRefused(/differs from what was written into the backup/u)
    await forge(of([{ ...listed(database), size: 1 }]), one)
    await expectRefused(/an entry differs from its manifest/u)
    await forge(of([listed(database), { ...listed(database), path: "instance" }]), one)
    await expectRefused(/it ends before everything/u)
    await forge(of([listed(database)]), { files: [database, { ...database, path: "instance" }], links: [] })
    await expectRefused(/an entry differs from its manifest/u)
    await forge(of([{ ...listed(database), size: 1e15 }]), one)
    await expectRefused(/are free there/u)
    await forge(of([{ ...listed(database), mode: 0o4755 }]), one)
    await expectRefused(/cannot be read/u)
    await forge(of([]), { files: [], links: [] })
    await expectRefused(/it has no database/u)
    await forge((manifest) => ({ ...manifest, version: 2 }), one)
    await expectRefused(/only a newer version of the service knows/u)
  }, 120_000)
})

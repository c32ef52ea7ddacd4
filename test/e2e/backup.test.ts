import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { tarGz } from "../contracts/content/support/archives.ts"
import { createDatabase, noServer, testServer } from "../contracts/storage/postgres-server.ts"
import { accountObstacle, asOrdinary, giveToOrdinary, installed } from "./support/account.ts"
import { mountFileSystem, unmountAll } from "./support/file-system.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll, start } from "./support/program.ts"
import { type Environment, launch, type ServiceProcess, serviceEnvironment, startService } from "./support/service.ts"

const drops: (() => Promise<void>)[] = []
afterAll(async () => {
  await endAll()
  for (const drop of drops) await drop()
  unmountAll()
  removeFolders()
})

const roles = ["alpha", "beta", "gamma"]
const filesOfRole = 20

/** A repository with roles; every file says which version it belongs to. */
const writeRoles = (folder: string, version: string): void => {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write("source.yml", "manifest_version: 1\nname: Roles\n")
  for (const name of roles) {
    write(`ansible/roles/${name}/meta/main.yml`, `galaxy_info: {description: "${version}"}\n`)
    write(`ansible/roles/${name}/tasks/main.yml`, `# ${version}\n[]\n`)
    for (let n = 0; n < filesOfRole; n += 1) write(`ansible/roles/${name}/files/f${n}`, version)
  }
}
const commit = (folder: string, version: string): void => {
  writeRoles(folder, version)
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: folder, stdio: "ignore" })
  if (!existsSync(join(folder, ".git"))) git("init", "--initial-branch=main")
  git("add", "--all")
  git("commit", "--message=all")
}

/** A service with data of every kind, and the repository of its source. */
const openSite = async (more: Environment = {}) => {
  const [data, repository] = [temporaryFolder(), temporaryFolder()]
  commit(repository, "one")
  const environment = { RANGEWRIGHT_SOURCE_SCHEMES: "file", RANGEWRIGHT_SOURCE_FOLDERS: dirname(repository), ...more }
  const service = await startService(data, environment)
  const key = await addUser(service.root, "ADA", true)
  const client = service.as(key)
  await client.send("POST", "/sources", { type: "git", url: `file://${repository}`, id: "roles" })
  await client.send("POST", "/sources/roles/install", {})
  const form = new FormData()
  const archive = tarGz([
    { name: "lab/blueprint.yml", content: "id: lab\nname: Lab\nversion: 1.0.0\nconfig: lab.yml\n" },
    { name: "lab/lab.yml", content: "ludus: []\n" },
    { name: "lab/files/tool", content: Uint8Array.from([0, 1, 254, 255]), mode: 0o755 },
  ])
  form.set("archive", new File([new Uint8Array(archive)], "lab.tar.gz"))
  const imported = await fetch(`${service.url}/api/v2/blueprints/import`, {
    method: "POST",
    headers: { "X-API-KEY": key },
    body: form,
  })
  expect(imported.status).toBe(201)
  return { data, repository, environment, service, key, rootKey: readFileSync(join(data, "root-api-key"), "utf8") }
}

/** What its users see of the content kept in folders. */
const seen = async (service: ServiceProcess, key: string) => {
  const client = service.as(key)
  const bundle = await fetch(`${service.url}/api/v2/blueprints/lab/export`, { headers: { "X-API-KEY": key } })
  return {
    catalog: await client.get("/sources/roles/catalog"),
    plan: await client.send("POST", "/sources/roles/install", { dryRun: true }),
    blueprints: await client.get("/blueprints"),
    bundle: Buffer.from(await bundle.arrayBuffer()).toString("base64"),
    users: ((await client.get("/user/all")) as readonly { readonly userID: string }[]).map(({ userID }) => userID),
  }
}

const stop = async ({ program }: ServiceProcess): Promise<void> => {
  program.signal("SIGTERM")
  await program.ended
}

const done = async (data: string, args: readonly string[], environment: Environment = {}): Promise<string> => {
  const program = launch(data, environment, args)
  const { code } = await program.ended
  expect([code, program.stderr()]).toEqual([0, ""])
  return program.stdout()
}

/** Every installed role is complete and of one version. */
const versionsIn = (data: string): readonly string[] =>
  roles.map((name) => {
    const folder = join(data, "library/users/ADA/roles", name)
    const files = readdirSync(join(folder, "files")).map((file) => readFileSync(join(folder, "files", file), "utf8"))
    expect([name, files.length, new Set(files).size]).toEqual([name, filesOfRole, 1])
    return files[0] ?? ""
  })

describe("after losing a host", { timeout: 300_000 }, () => {
  test("one command restores users, keys, roles and blueprints without fetching anything", async () => {
    const site = await openSite()
    const before = await seen(site.service, site.key)
    const file = join(temporaryFolder(), "backup.tar.gz")
    expect(await done(site.data, ["backup", file], site.environment)).toContain("Not in it:")
    await stop(site.service)
    rmSync(site.repository, { recursive: true })
    // any host can list it
    const open = temporaryFolder()
    execFileSync("tar", ["-xzf", file], { cwd: open })
    expect(versionsIn(open)).toEqual(["one", "one", "one"])
    const data = join(temporaryFolder(), "data")
    const key = join(site.data, "secret-key")
    const said = await done(data, ["restore", file, "--secret-key", key], site.environment)
    expect(said).toMatch(/Not in it:\n- the configuration.*\(source_folders\)/su)
    rmSync(join(site.data, "content"), { recursive: true })
    rmSync(join(site.data, "library"), { recursive: true })

    const service = await startService(data, site.environment)
    expect(service.certificate).toBe(site.service.certificate)
    expect(readFileSync(join(data, "root-api-key"), "utf8")).toBe(site.rootKey)
    expect((await service.root.ask("GET", "/user")).status).toBe(200)
    expect(await seen(service, site.key)).toEqual(before)
    expect(versionsIn(data)).toEqual(["one", "one", "one"])
  })

  test("a backup taken while roles were replaced restores the state of one moment", async () => {
    const site = await openSite()
    const client = site.service.as(site.key)
    const folder = temporaryFolder()
    let [ended, changes] = [false, 0]
    const changing = (async () => {
      for (let n = 2; !ended; n++) {
        commit(site.repository, `version ${n}`)
        await client.send("POST", "/sources/roles/sync")
        await client.send("POST", "/sources/roles/install", { force: true })
        changes++
      }
    })()
    const backups: string[] = []
    while (backups.length < 4 || changes < 4) {
      const file = join(folder, `${backups.length}.tar.gz`)
      await done(site.data, ["backup", file], site.environment)
      backups.push(file)
    }
    ended = true
    await changing
    const { bundle } = await seen(site.service, site.key)
    await stop(site.service)
    rmSync(site.repository, { recursive: true })
    for (const file of backups.slice(-4)) {
      const data = join(folder, `${file}.data`)
      await done(data, ["restore", file, "--secret-key", join(site.data, "secret-key")], site.environment)
      const service = await startService(data, site.environment)
      versionsIn(data)
      // the content that the database names is present: nothing can be fetched
      expect((await seen(service, site.key)).bundle).toBe(bundle)
      await stop(service)
    }
  })
})

const obstacle = accountObstacle()
test.skipIf(obstacle !== undefined)("an ordinary account restores into a folder that it owns", { timeout: 300_000 }, async () => {
  const site = await openSite()
  const place = temporaryFolder()
  const file = join(place, "backup.tar.gz")
  await done(site.data, ["backup", file], site.environment)
  await stop(site.service)
  writeFileSync(join(place, "key"), readFileSync(join(site.data, "secret-key")), { mode: 0o600 })
  const data = join(place, "data")
  mkdirSync(data, { mode: 0o700 })
  giveToOrdinary(place)
  const ordinary = { launcher: asOrdinary(place), seenAt: installed }
  const env = { ...serviceEnvironment(data), ...site.environment }
  const restoring = start("server", ["restore", file, "--secret-key", join(place, "key")], { env, ...ordinary })
  expect([(await restoring.ended).code, restoring.stderr()]).toEqual([0, ""])
  const service = start("server", [], { env, ...ordinary })
  await service.says(/^\{.*"msg":"ready"\}$/mu)
  service.signal("SIGTERM")
  await service.ended
  // what root restores for the account also belongs to the account
  rmSync(data, { recursive: true })
  mkdirSync(data, { mode: 0o700 })
  giveToOrdinary(place)
  await done(data, ["restore", file, "--secret-key", join(place, "key")], site.environment)
  const owners = readdirSync(data, { recursive: true, encoding: "utf8" }).map((name) => statSync(join(data, name)).uid)
  expect(new Set(owners)).toEqual(new Set([statSync(data).uid]))
  const again = start("server", [], { env, ...ordinary })
  await again.says(/^\{.*"msg":"ready"\}$/mu)
})

test("a full disk ends a backup and a restore, and leaves nothing of either", { timeout: 300_000 }, async ({ skip }) => {
  const disk = mountFileSystem("size=1m")
  if (disk === undefined) return skip("only root can mount a small file system")
  const site = await openSite()
  const refused = async (data: string, args: readonly string[]) => {
    const program = launch(data, site.environment, args)
    expect((await program.ended).code).toBe(1)
    return program.stderr()
  }
  writeFileSync(join(disk, "ballast"), Buffer.alloc(900 * 1024))
  expect(await refused(site.data, ["backup", join(disk, "backup.tar.gz")])).toContain("the disk is full")
  expect(readdirSync(disk)).toEqual(["ballast"])
  rmSync(join(disk, "ballast"))
  const file = join(temporaryFolder(), "backup.tar.gz")
  await done(site.data, ["backup", file], site.environment)
  const data = join(disk, "data")
  const said = await refused(data, ["restore", file, "--secret-key", join(site.data, "secret-key")])
  expect(said).toMatch(/Cannot restore into .*: it takes \d+ bytes, and \d+ are free there/u)
  expect(readdirSync(data).filter((name) => !name.startsWith("lock.db"))).toEqual([])
})

describe.skipIf(testServer === undefined)(
  `a backup of a service on PostgreSQL (${testServer === undefined ? noServer : "given"})`,
  { timeout: 300_000 },
  () => {
    const newDatabase = async (): Promise<Environment> => {
      const { url, drop } = await createDatabase(testServer ?? "")
      drops.push(drop)
      return { RANGEWRIGHT_DATABASE_URL: url }
    }

    test("has its rows, and restores them to another server or to SQLite, but never over existing ones", async () => {
      const site = await openSite(await newDatabase())
      const before = await seen(site.service, site.key)
      const file = join(temporaryFolder(), "backup.tar.gz")
      await done(site.data, ["backup", file], site.environment)
      const args = ["restore", file, "--secret-key", join(site.data, "secret-key")]
      const over = launch(join(temporaryFolder(), "data"), site.environment, args)
      expect([(await over.ended).code, over.stderr()]).toEqual([1, expect.stringContaining("it contains data")])
      await stop(site.service)
      const elsewhere: readonly Environment[] = [await newDatabase(), { RANGEWRIGHT_DATABASE_URL: undefined }]
      for (const target of elsewhere) {
        const data = join(temporaryFolder(), "data")
        const environment = { ...site.environment, ...target }
        await done(data, args, environment)
        expect(existsSync(join(data, "rangewright.db"))).toBe(target["RANGEWRIGHT_DATABASE_URL"] === undefined)
        const service = await startService(data, environment)
        expect(await seen(service, site.key)).toEqual(before)
        expect((await service.root.ask("GET", "/user")).status).toBe(200)
        await addUser(service.root, "BOB")
        await stop(service)
      }
    })
  },
)

import { type LegacyInstallation, planImport } from "@rangewright/domain"
import { LegacyData } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { legacyLayer } from "../src/index.ts"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "legacy-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const read = (): Promise<LegacyInstallation | undefined> =>
  Effect.runPromise(LegacyData.use((data) => data.read).pipe(Effect.provide(legacyLayer(folder))))
const installation = async (): Promise<LegacyInstallation> => {
  const found = await read()
  if (found === undefined) throw new Error("there is no database")
  return found
}

const change = (use: (database: DatabaseSync) => void): void => {
  const database = new DatabaseSync(join(folder, "ludus.db"))
  database.exec("pragma synchronous = off")
  use(database)
  database.close()
}
const make = (sql: string): void => change((database) => database.exec(sql))

/** The old tables, one user with a range. */
const tables = `
  create table user_objects (name text, user_id text, date_created datetime, date_last_active datetime, is_admin numeric,
    hashed_api_key text, proxmox_username text, portforwarding_enabled numeric);
  create table range_objects (user_id text, range_number integer, last_deployment datetime, number_of_vms integer,
    testing_enabled numeric, allowed_domains text, allowed_ips text, range_state text);
  create table vm_objects (id integer, proxmox_id integer, range_number integer, name text, powered_on numeric, ip text);
  create table range_access_objects (target_user_id text, source_user_ids text);
`
const ann = `insert into user_objects values ('Ann', 'AB', null, null, 1, 'h', 'ann', 0);`

/** Makes a file of Ann's, with the folders above it. */
const file = (name: string, content: string | Uint8Array): void => {
  mkdirSync(join(folder, "users/ann"), { recursive: true })
  writeFileSync(join(folder, "users/ann", name), content)
}

describe("the data of an older installation", () => {
  it("are its rows, in the order in which they were written", async () => {
    make(`${tables}${ann}
      insert into range_objects values ('AB', 7, '2024-05-06 07:08:09.123456789+02:00', 3, 1, 'a.example (192.0.2.1) | b.example', '192.0.2.2', 'SUCCESS');
      insert into vm_objects values (1, 104, 7, 'AB-win', 1, '10.7.10.11'), (2, 105, 7, 'AB-kali', 0, null);
      insert into range_access_objects values ('AB', 'CD|EF | ');`)
    expect(await read()).toEqual({
      users: [
        {
          id: "AB",
          name: "Ann",
          isAdmin: true,
          apiKeyHash: "h",
          hypervisorUsername: "ann",
          createdAt: undefined,
          password: undefined,
          config: undefined,
          unread: [],
        },
      ],
      ranges: [
        {
          userId: "AB",
          number: 7,
          state: "SUCCESS",
          testing: { enabled: true, domains: ["a.example (192.0.2.1)", "b.example"], addresses: ["192.0.2.2"] },
          lastDeploymentAt: new Date("2024-05-06T05:08:09.123Z"),
        },
      ],
      machines: [
        { vmid: 104, rangeNumber: 7, name: "AB-win", poweredOn: true, address: "10.7.10.11" },
        { vmid: 105, rangeNumber: 7, name: "AB-kali", poweredOn: false, address: "" },
      ],
      access: [{ targetUserId: "AB", sourceUserIds: ["CD", "EF"] }],
      takenOver: undefined,
      unread: [],
    })
  })

  it.each([
    ["2024-02-03 04:05:06", "2024-02-03T04:05:06.000Z"],
    ["2024-02-03T04:05:06Z", "2024-02-03T04:05:06.000Z"],
    ["2024-02-03 04:05:06.789012345-05:30", "2024-02-03T09:35:06.789Z"],
    ["2024-02-03 04:05:06.7 +0000 UTC", "2024-02-03T04:05:06.700Z"],
    ["0001-01-01 00:00:00+00:00", undefined],
    ["2024-13-45 99:99:99", undefined],
    ["soon", undefined],
  ])("know the time %s", async (written, meant) => {
    make(`${tables} insert into range_objects values ('AB', 7, '${written}', 0, 0, '', '', '');`)
    expect((await installation()).ranges[0]?.lastDeploymentAt?.toISOString()).toBe(meant)
  })

  it("tell which service has taken them over", async () => {
    make(tables)
    mkdirSync(join(folder, "install"))
    writeFileSync(join(folder, "install/.sqlite_db_migrated"), "")
    expect((await installation()).takenOver).toBe(join(folder, "install/.sqlite_db_migrated"))
  })

  it("are read also where tables and columns are missing, or are something else", async () => {
    make(`
      create table user_objects (user_id text, extra blob);
      insert into user_objects values ('AB', x'00'), (x'ff00', null), (null, null), (9223372036854775807, 1);
      create view range_objects as select 'AB' as user_id, 1 as range_number;
      create table vm_objects (other text);
      insert into vm_objects values ('x');`)
    const { users, ranges, machines, unread } = await installation()
    expect(users.map(({ id }) => id)).toEqual(["AB", "", "", "9223372036854775807"])
    expect(ranges).toEqual([])
    expect(machines).toEqual([])
    expect(unread).toEqual([
      "the table range_objects: the database has none",
      "the table range_access_objects: the database has none",
    ])
  })

  it("are cut where a field or a table is larger than any real one", async () => {
    make(`${tables}
      insert into user_objects (user_id) values (printf('%.*c', 20000000, 'x'));
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 20005)
        insert into vm_objects (proxmox_id) select i from n;`)
    const { users, machines, unread } = await installation()
    expect(users[0]?.id.length).toBe(32_768)
    expect(machines).toHaveLength(20_000)
    expect(unread).toEqual(["the table vm_objects: only its first 20000 rows were read"])
  })

  it("keep a NUL in a field where it is, so that it does not look like another one", async () => {
    make(`${tables} insert into user_objects (user_id) values ('AB' || char(0) || 'evil');`)
    expect((await installation()).users[0]?.id).toBe("AB\0evil")
  })

  it("are a failure that names the folder where the database is a folder, a pipe or no database", async () => {
    const failure = `Cannot read the older installation in ${folder}`
    mkdirSync(join(folder, "ludus.db"))
    await expect(read()).rejects.toThrow(failure)
    rmSync(join(folder, "ludus.db"), { recursive: true })
    expect(spawnSync("mkfifo", [join(folder, "ludus.db")]).status).toBe(0)
    await expect(read()).rejects.toThrow(failure)
    rmSync(join(folder, "ludus.db"))
    writeFileSync(join(folder, "ludus.db"), "no database at all, but long enough for a head ".repeat(20))
    await expect(read()).rejects.toThrow(failure)
  })

  it("leave nothing behind in the folder for temporary files", async () => {
    const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith("rangewright-legacy-"))
    const before = leftovers()
    make(tables)
    await read()
    expect(leftovers().filter((name) => !before.includes(name))).toEqual([])
  })

  it("finish on the copy what the old service had not finished, and leave the database alone", async () => {
    make(`pragma journal_mode = delete; ${tables}${ann}`)
    const other = new DatabaseSync(join(folder, "ludus.db"))
    // spilled to the file before the transaction ends, so that only its journal tells what was there
    other.exec("pragma cache_size = 1; pragma cache_spill = 1; begin; update user_objects set name = 'half'")
    other.exec(`insert into vm_objects (name) select printf('%.*c', 100000, 'x') from user_objects`)
    const bytes = readFileSync(join(folder, "ludus.db"))
    const { users, machines } = await installation()
    expect(users[0]?.name).toBe("Ann")
    expect(machines).toEqual([])
    expect(readFileSync(join(folder, "ludus.db")).equals(bytes)).toBe(true)
    other.close()
  })

  it("never crash, whatever is in the rows, and are planned from", async () => {
    const field = fc.oneof(
      fc.constantFrom<string | number | null>(
        "AB",
        "ab",
        "../x",
        "ROOT",
        "__proto__",
        "ann",
        "constructor",
        "1|2",
        null,
        7,
        -1,
        1e308,
      ),
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.double(),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.uint8Array({ maxLength: 10 }),
    )
    const rows = fc.array(fc.array(field, { minLength: 8, maxLength: 8 }), { maxLength: 8 })
    const widths = { user_objects: 8, range_objects: 8, vm_objects: 6, range_access_objects: 2 }
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { minLength: 4, maxLength: 4 }), async (content) => {
        rmSync(join(folder, "ludus.db"), { force: true })
        change((database) => {
          database.exec(`begin; ${tables}`)
          Object.entries(widths).forEach(([table, width], i) => {
            const insert = database.prepare(`insert into ${table} values (${Array(width).fill("?").join(", ")})`)
            for (const row of content[i] ?? []) insert.run(...row.slice(0, width))
          })
          database.exec("commit")
        })
        const { users, ranges, grants } = planImport(await installation(), { users: [], ranges: [], grants: [] })
        for (const { id } of users) expect(id).toMatch(/^[A-Za-z][A-Za-z0-9]{0,19}$/u)
        expect(new Set(ranges.map(({ number }) => number)).size).toBe(ranges.length)
        for (const { userId } of grants) expect(users.map(({ id }) => id)).toContain(userId)
      }),
      { numRuns: 60 },
    )
  })
})

describe("the files of an older installation's user", () => {
  const found = async () => (await installation()).users[0]
  const config = "users/ann/range-config.yml was left out"
  beforeEach(() => make(`${tables}${ann}`))

  it("are taken byte for byte, the password without its line end", async () => {
    file("range-config.yml", "\ufeffludus: []\r\n\0\n")
    file("proxmox_password", "a good one\n")
    expect(await found()).toMatchObject({ config: "\ufeffludus: []\r\n\0\n", password: "a good one", unread: [] })
  })

  it("are named where they cannot be taken: too large, not UTF-8, a folder", async () => {
    file("range-config.yml", "x".repeat(1024 * 1024 + 1))
    expect((await found())?.unread).toEqual([`the file ${config}: it is larger than 1048576 bytes`])
    file("range-config.yml", new Uint8Array([0x61, 0xff]))
    expect((await found())?.unread).toEqual([`the file ${config}: it is not UTF-8 text`])
    rmSync(join(folder, "users/ann/range-config.yml"))
    mkdirSync(join(folder, "users/ann/range-config.yml"))
    expect((await found())?.unread).toEqual([`the file ${config}: it is not a regular file`])
  })

  it("are not read through links, whether of the file, its folder, or in a circle", async () => {
    mkdirSync(join(folder, "users/ann"), { recursive: true })
    mkdirSync(join(folder, "elsewhere"))
    writeFileSync(join(folder, "elsewhere/range-config.yml"), "secret")
    symlinkSync(join(folder, "elsewhere/range-config.yml"), join(folder, "users/ann/range-config.yml"))
    expect(await found()).toMatchObject({ config: undefined, unread: [`the file ${config}: it is a link`] })
    rmSync(join(folder, "users/ann"), { recursive: true })
    symlinkSync(join(folder, "elsewhere"), join(folder, "users/ann"))
    expect(await found()).toMatchObject({
      config: undefined,
      unread: [expect.any(String), `the file ${config}: its folder is a link`],
    })
    rmSync(join(folder, "users/ann"))
    symlinkSync(join(folder, "users/ann"), join(folder, "users/ann"))
    expect(await found()).toMatchObject({ config: undefined, unread: [expect.any(String), `the file ${config}: it is a link`] })
  })

  it("do not hold the service up where one is a pipe", async () => {
    mkdirSync(join(folder, "users/ann"), { recursive: true })
    expect(spawnSync("mkfifo", [join(folder, "users/ann/range-config.yml")]).status).toBe(0)
    expect((await found())?.unread).toEqual([`the file ${config}: it is not a regular file`])
  })

  it("are looked for nowhere but below the folder of users, whatever the account is called", async () => {
    make("update user_objects set proxmox_username = '../elsewhere'")
    mkdirSync(join(folder, "elsewhere"))
    writeFileSync(join(folder, "elsewhere/proxmox_password"), "secret")
    expect(await found()).toMatchObject({ hypervisorUsername: "../elsewhere", password: undefined, unread: [] })
  })
})

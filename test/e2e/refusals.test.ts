import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, describe, expect, test } from "vitest"
import { mountFileSystem, unmountAll } from "./support/file-system.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { endAll, entries, type Program, repository, start } from "./support/program.ts"
import { type Environment, launch, startService } from "./support/service.ts"

afterEach(async () => {
  await endAll()
  unmountAll()
  removeFolders()
})

/** The lines on standard error that are not log entries: those for people. */
const said = (program: Program): readonly string[] =>
  program
    .stderr()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("{"))

/** The service exits by itself with this status and exactly this output. */
const expectRefusal = async (program: Program, code: number, lines: readonly (string | RegExp)[]): Promise<void> => {
  expect(await program.ended).toEqual({ code, signal: null })
  expect(said(program)).toEqual(lines.map((line) => (typeof line === "string" ? line : expect.stringMatching(line))))
  expect(program.stdout()).toBe("")
}

const withFile = (text: string): readonly string[] => {
  const path = join(temporaryFolder(), "service.yml")
  writeFileSync(path, text)
  return ["--config", path]
}

interface Refusal {
  readonly env?: Environment
  readonly file?: string
  readonly says: readonly (string | RegExp)[]
}

describe("an invalid configuration ends the start with status 1, with one line for each problem", { timeout: 300_000 }, () => {
  const intro = "The configuration cannot be used:"
  const refusals: Readonly<Record<string, Refusal>> = {
    "misspelt names": {
      env: { RANGEWRIGHT_PROT: "8080" },
      file: "prot: 8080\n",
      says: [
        intro,
        "  - prot: no such key; did you mean port? (docs/configuration.md lists all)",
        "  - RANGEWRIGHT_PROT: no such variable; did you mean RANGEWRIGHT_PORT? (docs/configuration.md lists all)",
      ],
    },
    "values of the wrong kind, all of them at once": {
      env: { RANGEWRIGHT_PORT: "http", RANGEWRIGHT_VMID_FROM: "1" },
      file: "log_level: loud\n",
      says: [
        intro,
        /- RANGEWRIGHT_PORT: must be a whole number/u,
        /- RANGEWRIGHT_VMID_FROM: must be a whole number from 100/u,
        /- log_level: must be one of debug/u,
      ],
    },
    "a file that is not valid YAML": {
      file: 'port: [1\nproxmox_token_secret: "',
      says: [intro, /^ {2}- \S+service\.yml: .* at line 2, column \d+$/u],
    },
    "a Proxmox without its token, with a fingerprint of another kind": {
      env: { RANGEWRIGHT_PROXMOX_URL: "https://127.0.0.1:8006", RANGEWRIGHT_PROXMOX_FINGERPRINT: "SHA256:abc" },
      says: [
        intro,
        /- proxmox_fingerprint: must be 32 bytes in hex/u,
        "  - proxmox_token_id: needed with proxmox_url",
        "  - proxmox_token_secret: needed with proxmox_url",
      ],
    },
    "a certificate that is not there": {
      env: { RANGEWRIGHT_TLS_CERT: "/nowhere/cert.pem", RANGEWRIGHT_TLS_KEY: "/nowhere/key.pem" },
      says: [/^Cannot read the file that tls_cert names: there is no file .*\/nowhere\/cert\.pem/u],
    },
    "a sealing key that is none": {
      env: { RANGEWRIGHT_SECRET_KEY: "hunter2" },
      says: [/^Cannot use the key from secret_key: /u, "Create one with: openssl rand -base64 32"],
    },
    "a database server that is not there": {
      env: { RANGEWRIGHT_DATABASE_URL: "postgres://rangewright:hunter2@127.0.0.1:1/rangewright" },
      says: [/^Cannot open the database: .*refuses connections/u],
    },
  }

  test.for(Object.entries(refusals))("%s", async ([, { env = {}, file, says }]) => {
    const program = launch(temporaryFolder(), env, file === undefined ? [] : withFile(file))
    await expectRefusal(program, 1, says)
    expect(program.stderr()).not.toContain("hunter2")
  })

  test("a configuration file that does not exist", async () => {
    await expectRefusal(launch(temporaryFolder(), {}, ["--config", "/nowhere/service.yml"]), 1, [
      intro,
      /there is no file \/nowhere\/service\.yml/u,
    ])
  })
})

test("an invalid command line exits with status 2 and points to the help", { timeout: 300_000 }, async () => {
  await expectRefusal(start("server", ["deploy"]), 2, [/^Unknown command deploy\. Commands: serve, /u, "Try --help."])
  await expectRefusal(start("server", ["serve", "--port", "many"]), 2, [/^--port needs a whole number/u, "Try --help."])
  await expectRefusal(start("server", ["backup"]), 2, [/^backup needs a file/u, "Try --help."])
})

describe("an unusable data folder ends the start with status 1 and one line", { timeout: 300_000 }, () => {
  const another = "Choose one that the service's account may write to (data, RANGEWRIGHT_DATA)."

  test("because another service runs on it, which continues undisturbed", async () => {
    const data = temporaryFolder()
    const first = await startService(data)
    await expectRefusal(launch(data), 1, [/^Cannot use the data folder .*: another service is running on it\./u])
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200)
    await first.crash()
    const second = await startService(data)
    expect((await fetch(`${second.url}/readyz`)).status).toBe(200)
  })

  test("because it is a file", async () => {
    const path = join(temporaryFolder(), "data")
    writeFileSync(path, "")
    await expectRefusal(launch(path), 1, [`Cannot use the data folder ${path}: it is not a folder. ${another}`])
  })

  test("because it cannot be created", async () => {
    await expectRefusal(launch("/proc/rangewright"), 1, [/^Cannot use the data folder \/proc\/rangewright: ENOENT/u])
  })

  test("because it is not writable", async () => {
    // root may write to any folder, except on a read-only file system
    const path = mountFileSystem("ro") ?? temporaryFolder()
    if (process.getuid?.() !== 0) chmodSync(path, 0o500)
    await expectRefusal(launch(path), 1, [`Cannot use the data folder ${path}: it cannot be written to. ${another}`])
  })

  test("because a newer version wrote it, which stays as it is", async () => {
    const data = temporaryFolder()
    const first = await startService(data)
    first.program.signal("SIGTERM")
    await first.program.ended
    const database = new DatabaseSync(join(data, "rangewright.db"))
    database.exec("insert into schema_migrations (name) values ('9999-tomorrow')")
    database.close()
    // the lock of the folder comes and goes with each process, and its journal may stay
    const files = () =>
      readdirSync(data, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.startsWith("lock.db"))
        .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name)).toString("base64")])
    const before = files()
    const backup = join(temporaryFolder(), "backup.tar.gz")
    for (const args of [[], ["root-key"], ["rotate-key"], ["backup", backup]])
      await expectRefusal(launch(data, {}, args), 1, [
        /^Cannot open the database .*it was written by a newer version, which applied 9999-tomorrow: start that version, or restore an older backup/u,
      ])
    expect(files()).toEqual(before)
    expect(existsSync(backup)).toBe(false)
  })

  test("because its database is some other file", async () => {
    const data = temporaryFolder()
    const letter = "Dear grandmother, this file must not be lost.\n".repeat(100)
    writeFileSync(join(data, "rangewright.db"), letter)
    await expectRefusal(launch(data), 1, [/^Cannot open the database .*rangewright\.db: .*not a database/u])
    expect(readFileSync(join(data, "rangewright.db"), "utf8")).toBe(letter)
  })
})

test("a host without an address ends the start with status 1 and names the setting to change", { timeout: 300_000 }, async () => {
  await expectRefusal(launch(temporaryFolder(), { RANGEWRIGHT_HOST: "999.1.1.1" }), 1, [
    /^Cannot listen on 999\.1\.1\.1 port \d+: this host name .*\. Choose an address of this machine, .* \(host\)\.$/u,
  ])
})

test("a port in use by another program ends the start with status 1 and is named", { timeout: 300_000 }, async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  const { port } = other.address() as AddressInfo
  await expectRefusal(launch(temporaryFolder(), { RANGEWRIGHT_PORT: String(port) }), 1, [
    `Cannot listen on 127.0.0.1 port ${port}: another program listens there. Stop it, or choose another port (port).`,
  ])
  // a folder of temporary files of its own: in the shared one it may find, and name, the data of a killed demo
  const env = { TMPDIR: temporaryFolder() }
  await expectRefusal(start("server", ["demo", "--once", "--port", String(port)], { env }), 1, [
    /^Cannot listen on 127\.0\.0\.1 port \d+: another .* choose another port \(--port\)\.$/u,
  ])
  other.close()
})

test("a command whose output is closed early exits with status 0 and prints no error", { timeout: 300_000 }, () => {
  const read = `"$0" ${entries.server} openapi | head -c 10`
  const options = { cwd: repository, encoding: "utf8" } as const
  const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", read, process.execPath], options)
  expect({ status, read: stdout.length, stderr }).toEqual({ status: 0, read: 10, stderr: "" })
})

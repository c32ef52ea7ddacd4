import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { parse } from "yaml"
import { DataFolderError, openDataFolder } from "../src/compose/data-folder.ts"
import type { RunningService } from "../src/compose/service.ts"
import { T } from "../src/compose/tokens.ts"
import { addUser, makeFolder, statusOf } from "./support.ts"

const main = fileURLToPath(new URL("../dist/bundle/main.js", import.meta.url))
let data: string
let start: ReturnType<typeof makeFolder>["start"]
let stopAll: () => Promise<void>

/** The command as a process of its own. The service is in this one and goes on: it may be in the middle of a write. */
const rootKey = (...args: readonly string[]) =>
  promisify(execFile)(process.execPath, [main, "root-key", ...args], { env: { ...process.env, RANGEWRIGHT_DATA: data } })

beforeEach(() => {
  const folder = makeFolder()
  ;({ data, start, stop: stopAll } = folder)
})

describe("the composition", () => {
  test("resolves every binding", async () => {
    const { container } = await start()
    for (const token of Object.values(T)) expect(container.get(token), String(token)).toBeDefined()
  })

  test("keeps its secrets in files that only their owner can read", async () => {
    await start()
    expect(statSync(join(data, "root-api-key")).mode & 0o777).toBe(0o400)
    expect(statSync(join(data, "secret-key")).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, "certificate.pem")).mode & 0o777).toBe(0o600)
  })

  test("keeps ROOT's key across restarts, and restores its file when it was removed", async () => {
    const file = (await start()).rootKeyFile
    const first = readFileSync(file, "utf8")
    await stopAll()
    await start()
    expect(readFileSync(file, "utf8")).toBe(first)
    await stopAll()
    rmSync(file)
    const { plainUrl } = await start()
    expect(readFileSync(file, "utf8")).toBe(first)
    expect(statSync(file).mode & 0o777).toBe(0o400)
    expect((await fetch(`${plainUrl}/api/v2/user`, { headers: { "X-API-KEY": first.trim() } })).status).toBe(200)
  })

  test("keeps the built-in simulator's cluster across restarts, and names a broken one when refusing it", async () => {
    const pools = ({ hypervisor }: RunningService) => [...(hypervisor.simulator?.state.pools.keys() ?? [])]
    const first = await start()
    const token = first.hypervisor.simulator?.rootToken ?? ""
    await first.hypervisor.simulator?.handle({
      method: "POST",
      path: "/api2/json/pools",
      headers: { authorization: `PVEAPIToken=${token}`, "content-type": "application/x-www-form-urlencoded" },
      body: Buffer.from("poolid=kept"),
    })
    expect(pools(first)).toContain("kept")
    await stopAll()
    expect(pools(await start())).toContain("kept")
    await stopAll()
    writeFileSync(join(data, "simulator.json"), "{")
    await expect(start()).rejects.toThrow(/simulator\.json.*move it elsewhere/u)
  })

  test("leaves no partial clone behind when the built-in simulator ends during one", async () => {
    const { hypervisor } = await start({ RANGEWRIGHT_SIMULATOR_SPEED: "1" })
    const { simulator } = hypervisor
    const answer = await simulator?.handle({
      method: "POST",
      path: "/api2/json/nodes/pve/qemu/101/clone",
      headers: { authorization: `PVEAPIToken=${simulator.rootToken}`, "content-type": "application/x-www-form-urlencoded" },
      body: "newid=300",
    })
    expect(answer?.status).toBe(200)
    await expect.poll(() => simulator?.guest(300)?.config["lock"]).toBe("clone")
    await stopAll()
    expect(readFileSync(join(data, "simulator.json"), "utf8")).toContain('"lock":"clone"')
    const again = await start()
    await expect.poll(() => again.hypervisor.simulator?.guest(300)).toBeUndefined()
  })

  test("gives ROOT a new key on demand, while it works", async () => {
    const { plainUrl, rootKeyFile } = await start()
    const first = readFileSync(rootKeyFile, "utf8").trim()
    await rootKey()
    const second = readFileSync(rootKeyFile, "utf8").trim()
    const status = async (key: string) => (await fetch(`${plainUrl}/api/v2/user`, { headers: { "X-API-KEY": key } })).status
    expect([await status(first), await status(second)]).toEqual([401, 200])
  })

  test("gives ROOT the key in a file, while it works", async () => {
    const { plainUrl, rootKeyFile } = await start()
    const file = join(data, "older-key")
    const older = "ROOT._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"
    writeFileSync(file, `${older}\n`)
    await rootKey(file)
    const answer = await fetch(`${plainUrl}/api/v2/user`, { headers: { "X-API-KEY": older } })
    expect(answer.status).toBe(200)
    expect(readFileSync(rootKeyFile, "utf8").trim()).toBe(older)
  })

  test("a second service on the same folder is refused, and the folder is free after the first one ended", async () => {
    await start()
    await expect(start()).rejects.toThrow(DataFolderError)
    await stopAll()
    openDataFolder(data).release()
  })

  test("answers while another program holds the database's lock; what is written meanwhile waits, and succeeds", async () => {
    const service = await start()
    const other = new DatabaseSync(join(data, "rangewright.db"))
    await vi.waitFor(() => other.exec("begin exclusive"))
    const made = addUser(service)
    const probes = await Promise.all(["/healthz", "/metrics"].map((path) => fetch(`${service.plainUrl}${path}`)))
    expect([...probes.map(({ status }) => status), await statusOf(service)]).toEqual([200, 200, 200])
    other.exec("rollback")
    other.close()
    expect(await statusOf(service, await made)).toBe(200)
  })

  test("a port in use leaves nothing behind", async () => {
    const { plainUrl } = await start()
    const other = mkdtempSync(join(tmpdir(), "rangewright-boot-"))
    await expect(start({ RANGEWRIGHT_DATA: other, RANGEWRIGHT_PORT: new URL(plainUrl).port })).rejects.toThrow(
      "another program listens there",
    )
    openDataFolder(other).release()
    rmSync(other, { recursive: true, force: true })
  })

  test("reports that it is ready, and serves its metrics", async () => {
    const { plainUrl } = await start()
    expect(await (await fetch(`${plainUrl}/readyz`)).json()).toMatchObject({ status: "ready", store: "ok" })
    // The start itself reconciles the access to pools, as a run.
    const metrics = await vi.waitFor(async () => {
      const text = await (await fetch(`${plainUrl}/metrics`)).text()
      expect(text).toContain("rangewright_runs_active 0")
      return text
    })
    expect(metrics).toContain("rangewright_hypervisor_away 0")
    expect(metrics).toContain("rangewright_run_oldest_seconds 0")
    expect(metrics).toMatch(/^rangewright_hypervisor_call_seconds_count\{method="GET",result="ok"\} [1-9]/mu)
  })

  test("its metrics say which runs ended, so that an alert can name what fails", async () => {
    const service = await start()
    const headers = { "X-API-KEY": await addUser(service) }
    const deploy = await fetch(`${service.plainUrl}/api/v2/range/deploy`, { method: "POST", headers })
    expect(deploy.status).toBe(200)
    const ended = /^rangewright_runs_ended_last_hour\{kind="deploy",status="success"\} 1$/mu
    const metricsNow = async () => (await fetch(`${service.plainUrl}/metrics`)).text()
    await vi.waitFor(async () => expect(await metricsNow()).toMatch(ended), { timeout: 20_000, interval: 200 })
  })

  test("its metrics count runs by their end, however long ago they started and however many there are", async () => {
    const { plainUrl } = await start()
    const database = new DatabaseSync(join(data, "rangewright.db"))
    const add = database.prepare(
      `insert into runs (id, kind, subject, by_user, options, started_at, status, ended_at, last_seq, cancel_requested, generation, ordinal)
       values (?, ?, 'installation:', 'ROOT', 'damaged', ?, 'failure', ?, 0, 0, 0, (select coalesce(max(ordinal), 0) + 1 from runs))`,
    )
    const [now, hour] = [Date.now(), 3_600_000]
    // the service, in this process, may be in the middle of a write of its own
    await vi.waitFor(() => database.exec("begin immediate"), { timeout: 20_000, interval: 20 })
    add.run("long00000000000", "migrate-sdn", now - 50 * hour, now)
    add.run("old000000000000", "migrate-sdn", now - 50 * hour, now - 2 * hour)
    for (let i = 0; i < 2100; i += 1) add.run(`fetch${String(i).padStart(10, "0")}`, "source-fetch", now, now)
    database.exec("commit")
    database.close()
    const metrics = await (await fetch(`${plainUrl}/metrics`)).text()
    expect(metrics).toMatch(/^rangewright_runs_ended_last_hour\{kind="migrate-sdn",status="failure"\} 1$/mu)
    expect(metrics).toMatch(/^rangewright_runs_ended_last_hour\{kind="source-fetch",status="failure"\} 2100$/mu)
  })

  test("the example's alerts use only metrics that it has", async () => {
    const { plainUrl } = await start()
    const metrics = await (await fetch(`${plainUrl}/metrics`)).text()
    const rules = readFileSync(new URL("../../../examples/prometheus-alerts.yml", import.meta.url), "utf8")
    const { groups } = parse(rules) as { readonly groups: readonly { readonly rules: readonly object[] }[] }
    for (const rule of groups.flatMap((group) => group.rules))
      expect(rule).toMatchObject({
        alert: expect.any(String),
        expr: expect.any(String),
        annotations: { summary: expect.stringMatching(/\.$/u) },
      })
    const used = new Set(rules.match(/\brangewright_\w+/gu))
    expect(used.size).toBeGreaterThan(4)
    for (const name of used) expect(metrics).toContain(`# TYPE ${name.replace(/_(?:count|bucket|sum)$/u, "")} `)
  })
})

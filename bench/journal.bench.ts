/**
 * Bytes that twelve simultaneous deploys write to disk per journal entry: the service's process on SQLite, with a simulator that is twenty
 * times as fast as real machines.
 */
import { createSimulator } from "@rangewright/pve-simulator"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { linuxRange } from "./fairness.bench.ts"

const deploys = process.argv.includes("--quick") ? 3 : 12
const machines = 3
/** KiB per entry. */
const most = 8

// ranges without machines; set here because modules read it when they are loaded
process.env["BENCH_STOCK"] = "100x0"
const { keyOf } = await import("./stock.ts")
const { startService, withSimulator } = await import("./stocked-service.ts")

/** Bytes that a process has written to disks, as Linux counts them. */
const writtenBy = (pid: number | undefined): number =>
  Number(/^write_bytes: (\d+)$/mu.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1])

const entriesIn = (folder: string): number => {
  const database = new DatabaseSync(join(folder, "rangewright.db"), { readOnly: true })
  try {
    return Number(database.prepare("select count(*) as entries from journal_entries").get()?.["entries"])
  } finally {
    database.close()
  }
}

const measure = (): Promise<{ readonly entries: number; readonly kib: number }> =>
  withSimulator(createSimulator({ speed: 20 }), async (environment) => {
    const { process: child, url } = await startService({ ...environment, RANGEWRIGHT_GUEST_AUTOMATION: "guest-program" })
    const ask = async (method: string, path: string, body?: FormData): Promise<unknown> => {
      const headers = { "x-api-key": keyOf("AD") }
      const answer = await fetch(`${url}/api/v2${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
      return JSON.parse(text)
    }
    const state = async (id: string): Promise<string> =>
      ((await ask("GET", `/range?rangeID=${id}`)) as { readonly rangeState: string }).rangeState
    try {
      // R7 is the member's, and has machines
      const ids = Array.from({ length: deploys }, (_, n) => `R${n + 10}`)
      for (const id of ids) {
        const form = new FormData()
        form.set("file", new Blob([linuxRange(machines)]), "range-config.yml")
        await ask("PUT", `/range/config?rangeID=${id}`, form)
      }
      const before = writtenBy(child.pid)
      await Promise.all(ids.map((id) => ask("POST", `/range/deploy?rangeID=${id}`)))
      for (const id of ids) {
        let now = await state(id)
        for (; now === "DEPLOYING"; now = await state(id)) await setTimeout(500)
        if (now !== "SUCCESS") throw new Error(`the deploy of ${id} ended as ${now}`)
      }
      const entries = entriesIn(environment["RANGEWRIGHT_DATA"] ?? "")
      return { entries, kib: (writtenBy(child.pid) - before) / 1024 / entries }
    } finally {
      child.kill("SIGTERM")
      await once(child, "exit")
    }
  })

if (import.meta.main) {
  const { entries, kib } = await measure()
  const verdict = kib <= most ? "reached" : "MISSED"
  console.log(`${deploys} deploys at once: ${entries} entries, ${kib.toFixed(1)} KiB for each (goal <= ${most}: ${verdict})`)
}

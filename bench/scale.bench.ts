/**
 * Requests about one range in installations of 100 and of 9,900 VMs: the service's process on SQLite, observing a simulator that has the
 * same VMs. One range is deployed by the service; another one with the same configuration is not.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { keyOf, stockVariable } from "./stock.ts"
import { stockedSimulator } from "./stocked-simulator.ts"
import { processorMillis, startService, withSimulator } from "./stocked-service.ts"

const quick = process.argv.includes("--quick")
const times = quick ? 5 : 30
const few = { stock: "10x10", vms: 100 }
const many = quick ? { stock: "20x50", vms: 960 } : { stock: "100x100", vms: 9910 }

const reads = {
  "GET /metrics": "/metrics",
  "GET /range": "/api/v2/range?rangeID=DONE",
  "plan, nothing to do": "/api/v2/range/plan?rangeID=DONE",
  "drift, none": "/api/v2/range/drift?rangeID=DONE",
  "plan, everything to make": "/api/v2/range/plan?rangeID=NEW",
  "topology of a range": "/api/v2/range/topology?rangeID=DONE",
} as const
type Read = keyof typeof reads

const template = "debian-12-x64-server-template"
const config = JSON.stringify({
  ludus: Array.from({ length: 9 }, (_, n) => ({
    vm_name: `{{ range_id }}-machine-${n}`,
    hostname: `machine-${n}`,
    template,
    vlan: 10,
    ip_last_octet: n + 1,
    ram_gb: 1,
    cpus: 1,
    linux: true,
  })),
})

/** Stores the configuration for DONE and NEW, and deploys DONE. */
const makeRanges = async (url: string): Promise<void> => {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { "x-api-key": keyOf("AD"), "content-type": "application/json" }
    const answer = await fetch(`${url}/api/v2${path}`, { method, headers, body: JSON.stringify(body) ?? null })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
  for (const rangeID of ["DONE", "NEW"]) {
    await call("POST", "/ranges/create", { rangeID, name: rangeID })
    const headers = { "x-api-key": keyOf("AD") }
    const form = new FormData()
    form.append("file", new Blob([config]), "range.yml")
    const answer = await fetch(`${url}/api/v2/range/config?rangeID=${rangeID}`, { method: "PUT", headers, body: form })
    if (!answer.ok) throw new Error(`the configuration was not taken: ${await answer.text()}`)
  }
  await call("POST", "/range/deploy?rangeID=DONE", {})
  for (let state = ""; state !== "SUCCESS"; await setTimeout(500)) {
    ;({ rangeState: state } = (await call("GET", "/range?rangeID=DONE")) as { rangeState: string })
    if (state === "ERROR") throw new Error("the deploy failed")
  }
}

/** CPU milliseconds of the service for one request of each kind. */
type Costs = Readonly<Record<Read, number>>

const measure = async (): Promise<Costs> =>
  withSimulator(await stockedSimulator(20), async (environment) => {
    const { process: child, url } = await startService({
      ...environment,
      RANGEWRIGHT_OBSERVE_EVERY: "600",
      RANGEWRIGHT_GUEST_AUTOMATION: "none",
    })
    try {
      await makeRanges(url)
      // background work of the service must not count as the requests'
      for (let before = -1; before !== processorMillis(child.pid); await setTimeout(1000)) before = processorMillis(child.pid)
      const headers = { "x-api-key": keyOf("AD") }
      const costs: Partial<Record<Read, number>> = {}
      for (const [read, path] of Object.entries(reads) as [Read, string][]) {
        const ask = async (): Promise<void> => {
          const answer = await fetch(url + path, { headers })
          const text = await answer.text()
          if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${text}`)
        }
        for (let n = 0; n < times; n++) await ask()
        const before = processorMillis(child.pid)
        for (let n = 0; n < times; n++) await ask()
        costs[read] = (processorMillis(child.pid) - before) / times
      }
      return costs as Costs
    } finally {
      child.kill("SIGTERM")
      await once(child, "exit")
    }
  })

if (import.meta.main) {
  if (process.argv.includes("--measure")) {
    console.log(JSON.stringify(await measure()))
    process.exit(0)
  }
  const of = ({ stock }: { readonly stock: string }): Costs => {
    const args = [fileURLToPath(import.meta.url), "--measure", ...(quick ? ["--quick"] : [])]
    const env = { ...process.env, [stockVariable]: stock }
    return JSON.parse(
      execFileSync(process.execPath, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
    ) as Costs
  }
  const [small, large] = [of(few), of(many)]
  console.log(`${"ms on processors".padEnd(28)}${`${few.vms} VMs`.padStart(12)}${`${many.vms} VMs`.padStart(12)}`)
  for (const read of Object.keys(reads) as Read[])
    console.log(`${read.padEnd(28)}${small[read].toFixed(1).padStart(12)}${large[read].toFixed(1).padStart(12)}`)
}

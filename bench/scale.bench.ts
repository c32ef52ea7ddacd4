/**
 * What concerns one range, where there are 100 VMs and where there are 9,900: the service's process on SQLite, observing a simulator that has
 * the same VMs.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { keyOf, stockVariable } from "./stock.ts"
import { processorMillis, startService, withStock } from "./stocked-service.ts"

const quick = process.argv.includes("--quick")
const times = quick ? 5 : 30
const few = { stock: "10x10", vms: 100 }
const many = quick ? { stock: "20x50", vms: 960 } : { stock: "100x100", vms: 9910 }

const reads = {
  "GET /metrics": "/metrics",
  "GET /range": "/api/v2/range",
  "plan of a range": "/api/v2/range/plan",
  "drift of a range": "/api/v2/range/drift",
  "topology of a range": "/api/v2/range/topology",
} as const
type Read = keyof typeof reads

/** Milliseconds on processors of the service for each of them, once. */
type Costs = Readonly<Record<Read, number>>

const measure = (): Promise<Costs> =>
  withStock(async (environment) => {
    const { process: child, url } = await startService({ ...environment, RANGEWRIGHT_OBSERVE_EVERY: "600" })
    try {
      // what the service does by itself is not the requests'
      for (let before = -1; before !== processorMillis(child.pid); await setTimeout(1000)) before = processorMillis(child.pid)
      const headers = { "x-api-key": keyOf("ME") }
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

import type { EndedRuns } from "@rangewright/ports"
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client"

export interface RunFacts {
  readonly active: number
  /** 0 if there is none. */
  readonly oldestSeconds: number
  readonly endedLastHour: readonly EndedRuns[]
}

/** The service's metrics for Prometheus. */
export interface Metrics {
  readonly text: () => Promise<string>
  /** One answered request. `operation` is the operation's id, never a path, so that the number of series stays bounded. */
  readonly request: (operation: string, status: number, seconds: number) => void
  readonly consoles: (open: number) => void
  /** Password attempts since the process started, by result. */
  readonly passwords: (counts: Readonly<Record<string, number>>) => void
  /** One request to the hypervisor's API. */
  readonly hypervisorCall: (method: string, result: string, seconds: number) => void
  readonly runs: (facts: RunFacts) => void
  readonly observed: (facts: { readonly machines: number; readonly ageSeconds: number; readonly away: boolean }) => void
}

export const makeMetrics = (): Metrics => {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: "rangewright_" })
  const requests = new Histogram({
    name: "rangewright_http_request_seconds",
    help: "Time to answer, by operation and status.",
    labelNames: ["operation", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
    registers,
  })
  const passwords = new Counter({
    name: "rangewright_password_attempts_total",
    help: "Passwords tried: right, wrong, or throttled and not checked.",
    labelNames: ["result"],
    registers,
  })
  const consoles = new Gauge({ name: "rangewright_consoles_open", help: "Consoles that are open in this process.", registers })
  const active = new Gauge({ name: "rangewright_runs_active", help: "Runs that have not finished.", registers })
  const oldest = new Gauge({
    name: "rangewright_run_oldest_seconds",
    help: "Age of the oldest run that has not finished.",
    registers,
  })
  const ended = new Gauge({
    name: "rangewright_runs_ended_last_hour",
    help: "Runs of all instances that ended within the last hour, by kind and status.",
    labelNames: ["kind", "status"],
    registers,
  })
  const calls = new Histogram({
    name: "rangewright_hypervisor_call_seconds",
    help: "Time of each request to the hypervisor's API, by method and result.",
    labelNames: ["method", "result"],
    buckets: [0.01, 0.05, 0.2, 1, 5, 15, 30, 60],
    registers,
  })
  const machines = new Gauge({
    name: "rangewright_machines_observed",
    help: "VMs seen at the last observation of the cluster.",
    registers,
  })
  const age = new Gauge({
    name: "rangewright_observation_age_seconds",
    help: "Age of the last observation of the cluster.",
    registers,
  })
  const away = new Gauge({ name: "rangewright_hypervisor_away", help: "1 while the hypervisor does not answer.", registers })
  return {
    text: () => registry.metrics(),
    request: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
    consoles: (open) => consoles.set(open),
    passwords: (counts) => {
      passwords.reset()
      for (const [result, count] of Object.entries(counts)) passwords.inc({ result }, count)
    },
    hypervisorCall: (method, result, seconds) => calls.observe({ method, result }, seconds),
    runs: (facts) => {
      active.set(facts.active)
      oldest.set(facts.oldestSeconds)
      ended.reset()
      for (const { kind, status, count } of facts.endedLastHour) ended.set({ kind, status }, count)
    },
    observed: (facts) => {
      machines.set(facts.machines)
      age.set(facts.ageSeconds)
      away.set(facts.away ? 1 : 0)
    },
  }
}

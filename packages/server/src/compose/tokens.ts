import type { AppServices, Operation, SettingsShape } from "@rangewright/application"
import type { MasterKey } from "@rangewright/adapter-crypto"
import type { License } from "@rangewright/domain"
import type * as Layer from "effect/Layer"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import type { Config } from "../config/config.ts"
import type { Log } from "../observe/log.ts"
import type { Metrics } from "../observe/metrics.ts"
import type { StoragePorts } from "./assemble.ts"
import type { BoundHypervisor } from "./hypervisor.ts"

/** A token that remembers the type it stands for. */
export type Token<T> = symbol & { readonly _T?: T }
const token = <T>(name: string): Token<T> => Symbol.for(`rangewright/${name}`)

/** One thing that readiness depends on; resolves to undefined when it is well, else to what is wrong. */
export interface HealthCheck {
  readonly name: string
  readonly check: () => Promise<string | undefined>
}

export type AppRuntime = ManagedRuntime.ManagedRuntime<AppServices, unknown>

/** What inversify chooses between, by configuration. */
export const T = {
  config: token<Config>("config"),
  settings: token<SettingsShape>("settings"),
  log: token<Log>("log"),
  metrics: token<Metrics>("metrics"),
  masterKey: token<MasterKey>("master-key"),
  license: token<License>("license"),
  storage: token<Layer.Layer<StoragePorts, unknown>>("storage"),
  hypervisor: token<BoundHypervisor>("hypervisor"),
  operations: token<readonly Operation[]>("operations"),
  healthCheck: token<HealthCheck>("health-check"),
  runtime: token<AppRuntime>("runtime"),
} as const

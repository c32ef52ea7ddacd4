import type { Operation, SettingsShape } from "@rangewright/application"
import type { Database } from "@rangewright/adapter-storage"
import type * as Layer from "effect/Layer"
import type * as ManagedRuntime from "effect/ManagedRuntime"
import type { Config } from "../config/config.ts"
import type { Log } from "../observe/log.ts"
import type { Metrics } from "../observe/metrics.ts"
import type { CryptoPorts, Service, Storage } from "./assemble.ts"
import type { ContentPorts } from "./content.ts"
import type { SubscriptionPorts } from "./subscription.ts"
import type { LibraryNeeds, LibraryPorts } from "./library.ts"
import type { DataFolder } from "./data-folder.ts"
import type { BoundHypervisor } from "./hypervisor.ts"

/** A token that carries the type it stands for. */
export type Token<T> = symbol & { readonly _T?: T }
const token = <T>(name: string): Token<T> => Symbol.for(`rangewright/${name}`)

export type AppRuntime = ManagedRuntime.ManagedRuntime<Service, unknown>

/** The bindings that inversify chooses by configuration. */
export const T = {
  config: token<Config>("config"),
  folder: token<DataFolder>("data-folder"),
  settings: token<SettingsShape>("settings"),
  log: token<Log>("log"),
  metrics: token<Metrics>("metrics"),
  crypto: token<Layer.Layer<CryptoPorts, unknown, Database>>("crypto"),
  subscription: token<Layer.Layer<SubscriptionPorts, unknown, ContentPorts>>("subscription"),
  storage: token<Layer.Layer<Storage, unknown>>("storage"),
  content: token<Layer.Layer<ContentPorts, unknown>>("content"),
  library: token<Layer.Layer<LibraryPorts, unknown, LibraryNeeds>>("library"),
  hypervisor: token<BoundHypervisor>("hypervisor"),
  operations: token<readonly Operation[]>("operations"),
  runtime: token<AppRuntime>("runtime"),
} as const

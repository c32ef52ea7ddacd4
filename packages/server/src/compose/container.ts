import "reflect-metadata"
import { apiDescriptionLayer } from "@rangewright/adapter-http"
import { internetLayer } from "@rangewright/adapter-internet"
import { type Database, legacyLayer, storageLayer } from "@rangewright/adapter-storage"
import { operations, type Operation, type SettingsShape } from "@rangewright/application"
import type { Simulator } from "@rangewright/pve-simulator"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { Container, ContainerModule } from "inversify"
import type { Config } from "../config/config.ts"
import { effectLog, makeLog, type Log } from "../observe/log.ts"
import { makeMetrics, type Metrics } from "../observe/metrics.ts"
import { version } from "../version.ts"
import { assemble, type CryptoPorts, type Storage } from "./assemble.ts"
import { bindContent, type ContentPorts } from "./content.ts"
import type { DataFolder } from "./data-folder.ts"
import { doctorLayer } from "./doctor.ts"
import { bindGuest } from "./guest.ts"
import { bindHypervisor, type BoundHypervisor } from "./hypervisor.ts"
import { cryptoOf } from "./installation-key.ts"
import { bindLibrary, type LibraryNeeds, type LibraryPorts } from "./library.ts"
import { settingsOf } from "./settings.ts"
import { bindNodePackages } from "./node-packages.ts"
import { bindProvider } from "./oidc.ts"
import { bindSubscription, type SubscriptionPorts } from "./subscription.ts"
import { networksOf, toolOptions } from "./tools.ts"
import { T, type AppRuntime } from "./tokens.ts"
import { bindBuilder } from "./templates.ts"
import { bindVpn } from "./vpn.ts"

/** What exists before anything is chosen. */
export interface Given {
  readonly config: Config
  readonly folder: DataFolder
  /** The built-in simulator, if configured. */
  readonly simulator: Simulator | undefined
  /** Identifies this process among those that share the store. */
  readonly owner: string
  /** Whether it does background work as a service does: observe, continue runs, clean up. */
  readonly background: boolean
}

/** Process-wide values that are not ports: settings, log, metrics, the list of operations. */
const process = new ContainerModule(({ bind }) => {
  bind<SettingsShape>(T.settings)
    .toResolvedValue((config: Config) => settingsOf(config), [T.config])
    .inSingletonScope()
  bind<Log>(T.log)
    .toResolvedValue((config: Config) => makeLog({ level: config.logLevel, format: config.logFormat }), [T.config])
    .inSingletonScope()
  bind(T.metrics).toResolvedValue(makeMetrics, []).inSingletonScope()
  bind<readonly Operation[]>(T.operations).toConstantValue(operations)
})

/** The configured adapters. */
const adaptersWith = (simulator: Simulator | undefined) =>
  new ContainerModule(({ bind }) => {
    bind<Layer.Layer<Storage, unknown>>(T.storage)
      .toResolvedValue(
        (config: Config, folder: DataFolder): Layer.Layer<Storage, unknown> =>
          Layer.merge(
            storageLayer(config.databaseUrl === undefined ? { file: folder.database } : { databaseUrl: config.databaseUrl }),
            legacyLayer(config.legacyDirectory),
          ),
        [T.config, T.folder],
      )
      .inSingletonScope()
    bind<Layer.Layer<CryptoPorts, unknown, Database>>(T.crypto)
      .toResolvedValue((config: Config, folder: DataFolder) => cryptoOf(config, folder), [T.config, T.folder])
      .inSingletonScope()
    bind<Layer.Layer<ContentPorts, unknown>>(T.content)
      .toResolvedValue((config: Config, folder: DataFolder) => bindContent(config, folder.content), [T.config, T.folder])
      .inSingletonScope()
    bind<Layer.Layer<LibraryPorts, unknown, LibraryNeeds>>(T.library)
      .toResolvedValue((config: Config, folder: DataFolder) => bindLibrary(config, folder.path), [T.config, T.folder])
      .inSingletonScope()
    bind<Layer.Layer<SubscriptionPorts, unknown, ContentPorts>>(T.subscription)
      .toResolvedValue((config: Config, folder: DataFolder) => bindSubscription(config, folder), [T.config, T.folder])
      .inSingletonScope()
    bind<BoundHypervisor>(T.hypervisor)
      .toResolvedValue(
        (config: Config, metrics: Metrics) =>
          bindHypervisor(config, simulator, ({ method, result, seconds }) => metrics.hypervisorCall(method, result, seconds)),
        [T.config, T.metrics],
      )
      .inSingletonScope()
  })

/** Combines inversify's choices into one Effect runtime. Disposing it stops the run engine between two journal entries. */
const runtimeOf = ({ background, owner }: Given) =>
  new ContainerModule(({ bind }) => {
    bind<AppRuntime>(T.runtime)
      .toResolvedValue(
        (
          settings: SettingsShape,
          log: Log,
          crypto: Layer.Layer<CryptoPorts, unknown, Database>,
          subscription: Layer.Layer<SubscriptionPorts, unknown, ContentPorts>,
          storage: Layer.Layer<Storage, unknown>,
          hypervisor: BoundHypervisor,
          content: Layer.Layer<ContentPorts, unknown>,
          library: Layer.Layer<LibraryPorts, unknown, LibraryNeeds>,
          all: readonly Operation[],
          folder: DataFolder,
          config: Config,
        ): AppRuntime =>
          ManagedRuntime.make(
            assemble({
              settings,
              crypto,
              subscription,
              storage,
              hypervisor: hypervisor.layer,
              guest: bindGuest(config, folder.path),
              content,
              library,
              internet: internetLayer({ ...toolOptions(config), notificationNetworks: networksOf(config.notificationNetworks) }),
              vpn: bindVpn(config),
              packages: bindNodePackages(config),
              provider: bindProvider(config),
              builder: bindBuilder(config, folder.path),
              description: apiDescriptionLayer(all, { version }),
              doctor: doctorLayer(config, hypervisor),
              auditDays: config.auditDays,
              owner,
              deployShownSeconds: config.deployShown,
              background,
            }).pipe(Layer.provideMerge(effectLog(log))),
          ),
        [
          T.settings,
          T.log,
          T.crypto,
          T.subscription,
          T.storage,
          T.hypervisor,
          T.content,
          T.library,
          T.operations,
          T.folder,
          T.config,
        ],
      )
      .inSingletonScope()
      .onDeactivation((r) => r.dispose())
  })

export const buildContainer = (given: Given): Container => {
  const container = new Container()
  container.bind<Config>(T.config).toConstantValue(given.config)
  container.bind<DataFolder>(T.folder).toConstantValue(given.folder)
  container.load(process, adaptersWith(given.simulator), runtimeOf(given))
  return container
}

import { Settings } from "@rangewright/application"
import { type Fault, nothingHeldByVpn } from "@rangewright/domain"
import { type LegacyData, Ranges, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Storage } from "../compose/assemble.ts"
import type { BoundHypervisor } from "../compose/hypervisor.ts"
import { bindNodePackages } from "../compose/node-packages.ts"
import { settingsOf } from "../compose/settings.ts"
import { templateFindings } from "../compose/templates.ts"
import { bindVpn } from "../compose/vpn.ts"
import type { Config } from "../config/config.ts"
import { checkAccess, notCompared } from "./access-checks.ts"
import { checkContent } from "./content-checks.ts"
import { checkDatabase, notOpened } from "./database-checks.ts"
import { type Finding, warn } from "./finding.ts"
import { checkHypervisor } from "./hypervisor-checks.ts"
import { checkInside } from "./inside-checks.ts"
import { checkKms } from "./kms-checks.ts"
import { checkLeftovers } from "./leftover-checks.ts"
import { checkCertificate } from "./certificate-checks.ts"
import { checkDataFolder, checkHost } from "./local-checks.ts"
import { checkProvider } from "./oidc-checks.ts"
import { checkPackages } from "./packages-checks.ts"
import { checkSubscription } from "./subscription-checks.ts"
import { checkVpn, type StoredForVpn } from "./vpn-checks.ts"

/** Runs an effect on the database; fails when it cannot be opened. */
export type InStore = <A>(effect: Effect.Effect<A, Fault, Exclude<Storage, LegacyData>>) => Promise<A>

export interface Inspected {
  readonly hypervisor: BoundHypervisor
  /** Undefined before the service's first start, when there is nothing to compare. */
  readonly inStore: InStore | undefined
}

const accessFindings = async (config: Config, { hypervisor, inStore }: Inspected): Promise<readonly Finding[]> =>
  inStore === undefined
    ? []
    : inStore(checkAccess.pipe(Effect.provide(hypervisor.layer), Effect.provideService(Settings, settingsOf(config)))).catch(
        (fault: Error) => [notCompared(fault)],
      )

const leftoverFindings = async (config: Config, { hypervisor, inStore }: Inspected): Promise<readonly Finding[]> =>
  inStore === undefined
    ? []
    : inStore(checkLeftovers(config).pipe(Effect.provide(hypervisor.layer))).catch((fault: Error) => [
        warn("leftovers", fault.message, "Check the service's log, and run this again when the service is up."),
      ])

const storedForVpn = Effect.gen(function* () {
  const records = yield* VpnRecords
  const rangeStore = yield* Ranges
  const ranges = yield* rangeStore.list()
  const { held } = yield* records.held
  return { rangeNumbers: ranges.map(({ number }) => number), wanted: yield* records.members, held }
})

const vpnFindings = async (config: Config, { inStore }: Inspected): Promise<readonly Finding[]> => {
  if (config.wireguardEndpoint === undefined || config.wireguardServer === "none") return []
  const stored: StoredForVpn =
    inStore === undefined
      ? { rangeNumbers: [], wanted: [], held: nothingHeldByVpn }
      : await inStore(storedForVpn).catch(() => ({ rangeNumbers: [] }))
  return Effect.runPromise(Effect.provide(checkVpn(config, stored), bindVpn(config)))
}

const kmsFindings = async (config: Config, { inStore }: Inspected): Promise<readonly Finding[]> =>
  config.kmsServer === undefined || inStore === undefined
    ? []
    : inStore(checkKms(config)).catch((fault: Error) => [
        warn("kms_server", fault.message, "Start the service once, then run this again."),
      ])

/** Checks everything the service needs and says what to do. Changes nothing. */
export const inspect = async (config: Config, { hypervisor, inStore }: Inspected): Promise<readonly Finding[]> => {
  const database = inStore === undefined ? [] : [await inStore(checkDatabase).catch(notOpened)]
  // what cannot be read once is not read again for each comparison
  const inspected = { hypervisor, inStore: database.some(({ level }) => level === "fail") ? undefined : inStore }
  const findings = [
    ...checkDataFolder(config),
    ...database,
    ...(await checkHost(config)),
    ...checkCertificate(config, new Date()),
    ...(await Effect.runPromise(checkContent(config))),
    ...(await Effect.runPromise(checkInside(config))),
    ...(await Effect.runPromise(templateFindings(config))),
    ...(await Effect.runPromise(checkSubscription(config))),
    ...(await Effect.runPromise(checkProvider(config))),
    ...(await Effect.runPromise(checkHypervisor(config).pipe(Effect.provide(hypervisor.layer)))),
  ]
  const isReachable = findings.every(({ what }) => what !== "hypervisor")
  const packages = checkPackages.pipe(Effect.provide(Layer.merge(hypervisor.layer, bindNodePackages(config))))
  return [
    ...findings,
    ...(hypervisor.kind === "proxmox" && isReachable ? await accessFindings(config, inspected) : []),
    ...(hypervisor.kind === "proxmox" && isReachable ? await leftoverFindings(config, inspected) : []),
    ...(await vpnFindings(config, inspected)),
    ...(await kmsFindings(config, inspected)),
    ...(await Effect.runPromise(packages)),
  ]
}

import { Settings } from "@rangewright/application"
import { nothingHeldByVpn } from "@rangewright/domain"
import { Ranges, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { bindVpn } from "../compose/vpn.ts"
import { bindNodePackages } from "../compose/node-packages.ts"
import { bindHypervisor, type HypervisorPorts, makeSimulator } from "../compose/hypervisor.ts"
import { useTemporaryFolder } from "../compose/temporary-folder.ts"
import { templateFindings } from "../compose/templates.ts"
import { settingsOf } from "../compose/settings.ts"
import { checkAccess, notCompared } from "../doctor/access-checks.ts"
import { checkContent } from "../doctor/content-checks.ts"
import { checkInside } from "../doctor/inside-checks.ts"
import { checkKms } from "../doctor/kms-checks.ts"
import { checkHypervisor } from "../doctor/hypervisor-checks.ts"
import { type Finding, renderFinding, warn } from "../doctor/finding.ts"
import { checkProvider } from "../doctor/oidc-checks.ts"
import { checkPackages } from "../doctor/packages-checks.ts"
import { checkSubscription } from "../doctor/subscription-checks.ts"
import { checkDataFolder } from "../doctor/local-checks.ts"
import { checkVpn, type StoredForVpn } from "../doctor/vpn-checks.ts"
import type { Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"
import { databaseFile, withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** Nothing before the service's first start: then there is nothing to compare. */
const accessFindings = (config: Config, hypervisor: Layer.Layer<HypervisorPorts>): Promise<readonly Finding[]> => {
  const file = databaseFile(config)
  if (file !== undefined && !existsSync(file)) return Promise.resolve([])
  const checked = checkAccess.pipe(Effect.provide(hypervisor), Effect.provideService(Settings, settingsOf(config)))
  return withStore(config, checked, { look: true }).catch((fault: Error) => [notCompared(fault)])
}

/** Before the service's first start there are no ranges to look at. */
const vpnFindings = async (config: Config): Promise<readonly Finding[]> => {
  if (config.wireguardEndpoint === undefined || config.wireguardServer === "none") return []
  const file = databaseFile(config)
  const read = Effect.gen(function* () {
    const records = yield* VpnRecords
    const rangeStore = yield* Ranges
    const ranges = yield* rangeStore.list()
    const { held } = yield* records.held
    return { rangeNumbers: ranges.map(({ number }) => number), wanted: yield* records.members, held }
  })
  const nothing: StoredForVpn = { rangeNumbers: [], wanted: [], held: nothingHeldByVpn }
  const stored: StoredForVpn =
    file !== undefined && !existsSync(file)
      ? nothing
      : await withStore(config, read, { look: true }).catch(() => ({ rangeNumbers: [] }))
  return Effect.runPromise(Effect.provide(checkVpn(config, stored), bindVpn(config)))
}

const kmsFindings = async (config: Config): Promise<readonly Finding[]> => {
  if (config.kmsServer === undefined) return []
  const file = databaseFile(config)
  if (file !== undefined && !existsSync(file)) return []
  return withStore(config, checkKms(config), { look: true }).catch((fault: Error) => [
    warn("kms_server", fault.message, "Start the service once, then run this again."),
  ])
}

/** Looks at everything the service needs and says what to do. Status 1 when something would keep it from working. */
export const doctor = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  if (existsSync(config.data)) useTemporaryFolder(resolve(config.data))
  const hypervisor = bindHypervisor(config, await makeSimulator(config))
  const findings = [
    ...checkDataFolder(config),
    ...(await Effect.runPromise(checkContent(config))),
    ...(await Effect.runPromise(checkInside(config))),
    ...(await Effect.runPromise(templateFindings(config))),
    ...(await Effect.runPromise(checkSubscription(config))),
    ...(await Effect.runPromise(checkProvider(config))),
    ...(await Effect.runPromise(checkHypervisor(config).pipe(Effect.provide(hypervisor.layer)))),
  ]
  if (hypervisor.kind === "proxmox" && findings.every(({ what }) => what !== "hypervisor"))
    findings.push(...(await accessFindings(config, hypervisor.layer)))
  const packages = checkPackages.pipe(Effect.provide(Layer.merge(hypervisor.layer, bindNodePackages(config))))
  findings.push(...(await vpnFindings(config)), ...(await kmsFindings(config)), ...(await Effect.runPromise(packages)))
  if (hypervisor.kind === "simulator")
    process.stdout.write("The built-in simulator is the hypervisor: set proxmox_url to check a real one.\n")
  for (const finding of findings) process.stdout.write(`${renderFinding(finding)}\n`)
  const failed = findings.filter((f) => f.level === "fail").length
  const warned = findings.filter((f) => f.level === "warn").length
  const withWarnings = warned === 0 ? "" : `, with ${warned === 1 ? "1 warning" : `${warned} warnings`}`
  process.stdout.write(
    `${failed === 0 ? "All checks passed" : failed === 1 ? "1 check failed" : `${failed} checks failed`}${withWarnings}.\n`,
  )
  return failed === 0 ? 0 : 1
}

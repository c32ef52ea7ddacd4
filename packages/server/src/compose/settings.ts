import type { SettingsShape } from "@rangewright/application"
import { isIP } from "node:net"
import { type Config, hypervisorKind } from "../config/config.ts"
import { kmsOf } from "../config/kms.ts"
import { singleSignOnOf } from "../config/oidc.ts"
import { vpnEndpointOf } from "../config/vpn.ts"
import { version } from "../version.ts"

const addressOf = (url: string): string | undefined => {
  const host = new URL(url).hostname
  return isIP(host) === 4 && !host.startsWith("127.") ? host : undefined
}

export const settingsOf = (config: Config): SettingsShape => ({
  version,
  peerVersion: config.peerVersion,
  reservedRangeNumbers: config.reservedRangeNumbers.map(Number),
  hypervisorRealm: config.proxmoxRealm,
  clusterMode: config.clusterMode,
  sdnZone: config.sdnZone,
  vxlanTagBase: config.vxlanTagBase,
  natNetwork: config.natNetwork,
  defaultNode: config.proxmoxNode,
  vmStorage: config.vmStorage,
  vmidSpan: { from: config.vmidFrom, to: config.vmidTo },
  templateBuilds: config.templateBuilds,
  templateBuildAttempts: config.templateBuildAttempts,
  onlyAdminsBuildTemplates: config.templateBuilders === "administrators",
  maxLogHistory: config.maxLogHistory,
  inactivityShutdown: config.inactivityShutdown,
  rangeDefaults: config.rangeDefaults,
  templateLogins: config.templateLogins,
  quotaDefaults: { ram: config.quotaRam, cpus: config.quotaCpus, vms: config.quotaVms, ranges: config.quotaRanges },
  userDiskBytes: config.userDisk * 1024 ** 3,
  vpn: vpnEndpointOf(config),
  kms: kmsOf(config),
  singleSignOn: singleSignOnOf(config),
  consolesPerUser: config.consolesPerUser,
  onlyAdminsChangeArtifacts: config.preventUserAnsibleAdd,
  protectedAddresses:
    config.protectedAddresses.length > 0
      ? config.protectedAddresses
      : config.proxmoxUrl.map(addressOf).filter((a): a is string => a !== undefined),
  hypervisorUrl: config.proxmoxUrl[0] ?? "",
  observeEverySeconds: config.observeEvery,
  simulator: hypervisorKind(config) === "simulator",
})

import type { ProxmoxOptions, PveTls } from "@rangewright/adapter-proxmox"
import { natNetworkName } from "@rangewright/domain"
import type { Config } from "../config/config.ts"
import { readNamedFile } from "./named-file.ts"

/** How the nodes' certificates are verified. */
export const proxmoxTls = (config: Config): PveTls => ({
  fingerprint: config.proxmoxFingerprint.length > 0 ? config.proxmoxFingerprint : undefined,
  ca: config.proxmoxCaFile === undefined ? undefined : readNamedFile("proxmox_ca_file", config.proxmoxCaFile),
})

/** Storage for the disks of templates. */
export const diskStorage = ({ vmStorage = "local-lvm" }: Config): string => vmStorage

/** What builds may use of the hypervisor. */
export const buildPlaces = (config: Config): ProxmoxOptions["builds"] => ({
  diskStorage: diskStorage(config),
  isoStorage: config.isoStorage,
  nodeDownloads: config.templateNodeDownloads,
  networks:
    config.natNetwork === undefined
      ? [{ bridge: natNetworkName(false) }, { bridge: natNetworkName(true), zone: config.sdnZone }]
      : [{ bridge: config.natNetwork }, { bridge: config.natNetwork, zone: config.sdnZone }],
})

import type { GuestOs, GuestStage } from "./action.ts"

/** Seconds that work took in earlier runs of this installation, by the name under which it is remembered (`Step.timedAs`). */
export type Durations = ReadonlyMap<string, number>

/**
 * How long a step is expected to take, in seconds, before this installation has done one like it, and how many may run at once. All figures
 * of the planner are here. They are round figures for a mid-range server with SSDs and finished templates; a plan uses them to say how long
 * it will take and which step is worth starting first, never to decide what is done.
 */
export const timing = {
  /** A pool is one record in the cluster's file system. */
  pool: 1,
  /** Entries of the access list, one call per subject. */
  grant: 1,
  /** A bridge is a stanza and a reload of the node's network. */
  bridge: 3,
  /** A VNet is a reload on every node, in parallel, waited for together. */
  vnet: 4,
  /** A linked clone allocates one thin volume (0.5 s alone under the storage's lock) and writes a configuration. */
  linkedClone: 4,
  /** A full clone copies the used part of a disk: 20 to 30 GiB at 200 MiB a second. */
  fullClone: 120,
  /** One entry of the cluster's SDN or of a node's network, written and not applied. */
  networkEntry: 0.5,
  /** One node applies its network changes. */
  networkReload: 3,
  /** A running VM's network cards move to another network. */
  moveNics: 1,
  /** A check that things are as they should be. */
  look: 1,
  /** One call that touches one file. */
  configure: 1,
  /** A hard stop. */
  stop: 1,
  /** A guest that is asked to shut down ends its services first; Windows has more of them. */
  shutdown: { linux: 5, windows: 15, macos: 15 },
  /** A snapshot of thin volumes, its removal, or a rollback to it: a few storage calls, one disk after another. */
  snapshot: 4,
  /** MiB of memory that a snapshot writes, and a rollback reads, in a second. */
  snapshotMemoryMiB: 300,
  /** The VM and its thin volumes. */
  delete: 2,
  /** A start without waiting for the boot: until the process runs. */
  startOnly: 1,
  /** From power on until the guest agent answers. */
  boot: { linux: 25, windows: 75, macos: 75 },
  /** A static address and a host name, confirmed by a new connection. Windows changes its network profile and restarts. */
  address: { linux: 12, windows: 60, macos: 12 },
  /** Outer address, forwarding, leases and the name service of a router whose template includes the programs. */
  router: 30,
  /** One rule set, loaded at once. */
  firewall: 3,
  /** One list of names, loaded at once. */
  dns: 2,
  /** Generalizing an installation, with its restart, from a prepared answer file. */
  sysprep: 120,
  /** Common settings of a Windows machine: about sixty small ones, batched. */
  windowsBase: 60,
  /** Features, forest, restart, directory services up. */
  primaryDc: 330,
  /** Like the first one, with replication instead of the forest. */
  altDc: 300,
  /** Join, restart, policies, first log-on. */
  domainJoin: 110,
  /** A list of packages from a nearby mirror. */
  packages: 60,
  /** About a dozen programs, some of them large. */
  additionalTools: 300,
  /** One package with its download. */
  chocolateyPackage: 45,
  office: 600,
  visualStudio: 1800,
  /** The updates of some months, with the restarts that they require. */
  windowsUpdate: 3600,
  antiSandbox: 60,
  inspectRouter: 5,
  /** One query to the licensing service. */
  inspectWindows: 10,
  /** A product key, and a response of the KMS host. */
  activateWindows: 45,
  /** A role of Windows Server, a key, and a response of Microsoft's servers. */
  kmsServer: 180,
  /** An average role: packages and a service. */
  role: 120,
} as const

/** How many steps may use a limited resource at once. */
export const slots = {
  /** Clones on one storage: more wait for its lock, which gives up after 10 s. */
  clone: 4,
  /** VMs deleted from one storage. Each holds its lock for a fraction of a second; with the clones beside them, all get it within 10 s. */
  delete: 10,
  /** VMs on one storage whose snapshots are taken, removed or rolled back to. */
  snapshot: 4,
  /** Guests that one node boots at once before its disks become the limit. */
  boot: 8,
  /** Playbook processes on one control node. */
  automation: 20,
  /** VMs of one node that move to another network: its management handles this many calls at once. */
  move: 3,
} as const

/** Expected seconds of a stage. `items`: how many things it installs, if that matters. */
export const stageSeconds = (stage: GuestStage, os: GuestOs, items = 1): number => {
  switch (stage) {
    case "address":
      return timing.address[os]
    case "router":
      return timing.router
    case "firewall":
      return timing.firewall
    case "dns":
      return timing.dns
    case "sysprep":
      return timing.sysprep
    case "windows-base":
      return timing.windowsBase
    case "primary-dc":
      return timing.primaryDc
    case "alt-dc":
      return timing.altDc
    case "domain-join":
      return timing.domainJoin
    case "packages":
      return timing.packages
    case "additional-tools":
      return timing.additionalTools
    case "chocolatey":
      return timing.chocolateyPackage * Math.max(1, items)
    case "office":
      return timing.office
    case "visual-studio":
      return timing.visualStudio
    case "anti-sandbox":
      return timing.antiSandbox
    case "windows-update":
      return timing.windowsUpdate
    case "inspect-router":
      return timing.inspectRouter
    case "inspect-windows":
      return timing.inspectWindows
    case "activate-windows":
      return timing.activateWindows
    case "kms-server":
      return timing.kmsServer
    case "role":
      return timing.role
  }
}

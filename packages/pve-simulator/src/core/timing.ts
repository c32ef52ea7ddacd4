/**
 * All durations of the simulator, in simulated milliseconds, and all limits of parallel work. They are round figures for one mid-range
 * server with SSDs; a test may override any of them.
 */
export type Timing = { readonly [K in keyof typeof defaultTiming]: number }

const SECOND = 1000

/** The default figures. */
export const defaultTiming = {
  /** A linked clone on block storage, from the request to `TASK OK`: one new thin volume, new config, new cloud-init drive. */
  linkedClone: 4 * SECOND,
  /** The part of a clone that allocates a volume while the storage is locked. Users measured about half a second on LVM-thin. */
  allocation: 0.5 * SECOND,
  /** Linked clones that a storage makes at once; others wait as if for its lock, so a large burst hits the lock's timeout. */
  clonesPerStorage: 4,
  /** Full clones and moved disks copy the used part of a disk: 200 MiB a second, in bytes per millisecond. */
  copyBytesPerMs: (200 * 1024 * 1024) / SECOND,

  /** Timeout of waiting for the lock (flock) of a VM's config file. */
  configLock: 10 * SECOND,
  /** The same when a VM is created. */
  createLock: 5 * SECOND,
  /** The same when a VM is cloned, for source and target. */
  cloneLock: 1 * SECOND,
  /** Timeout of waiting for a storage lock, local or cluster-wide. */
  storageLock: 10 * SECOND,
  /** Timeout of waiting for the cluster-wide lock of SDN, users and pools. */
  clusterLock: 10 * SECOND,

  /** From the start request to a running QEMU process; part of the boot. */
  startTask: 1 * SECOND,
  /** Stopping a VM, like pulling the plug. */
  stopTask: 1 * SECOND,
  /** Shutdown of a guest that gets the request (through its agent, or by ACPI once it is up). */
  shutdownLinux: 5 * SECOND,
  shutdownWindows: 15 * SECOND,
  /** Default timeout of a shutdown. */
  shutdownTimeout: 60 * SECOND,
  /** Config edits, conversions to a template, resizes: they only change a file. */
  configTask: 0.2 * SECOND,
  /** Moving a network card of a running VM from one bridge to another; its link is down meanwhile. */
  moveCards: 0.3 * SECOND,
  /** Creating a VM with empty disks, without their allocation. */
  createTask: 0.5 * SECOND,
  /** Removing a VM and its thin volumes. */
  destroyTask: 2 * SECOND,
  /** Disk snapshots on thin storage: copy on write, hence fast; also their removal and rollback. */
  snapshotTask: 2 * SECOND,
  /** Saving memory with a snapshot: 500 MiB a second. */
  memoryBytesPerMs: (500 * 1024 * 1024) / SECOND,
  /** Migrating a VM with shared disks: only the config moves; a running VM also sends its memory. */
  migrateTask: 3 * SECOND,
  /** The high availability manager checks every 10 s, so half of that on average. */
  haReaction: 5 * SECOND,
  /** A lost node is fenced after its watchdog and its lock have expired, a minute each. */
  haFence: 120 * SECOND,
  /** ifreload of one node. */
  networkReload: 3 * SECOND,
  /** A whole SDN apply: the reloads of all nodes run in parallel, then the task ends. */
  sdnApply: 4 * SECOND,

  /** Guests that a node boots at once before its disks are the limit; further boots wait. */
  bootsPerNode: 8,
  /** From the request to start until the agent answers. Windows starts more services before it. */
  bootLinux: 25 * SECOND,
  bootWindows: 75 * SECOND,
  /** From fetching the answers to the end of an installation from a disc, with packages from a nearby mirror; then comes the first boot. */
  installLinux: 300 * SECOND,
  installWindows: 1200 * SECOND,
  /** The agent reports a DHCP lease a little after the agent itself is up. */
  dhcpLinux: 2 * SECOND,
  dhcpWindows: 4 * SECOND,

  /** Playbook processes at once over all guests: the forks of one control node. */
  guestStages: 20,
  /** Setting a static address, confirmed by a new connection. Windows also changes its network profile. */
  addressLinux: 12 * SECOND,
  addressWindows: 60 * SECOND,
  /** The first domain controller: features, forest, reboot, directory services up. */
  primaryDc: 330 * SECOND,
  /** One more controller: features, replication, reboot. */
  additionalDc: 300 * SECOND,
  /** Joining a domain: join, reboot, first logon. */
  domainJoin: 110 * SECOND,
  /** An average role: packages and a service. */
  role: 120 * SECOND,
  /** Setting up routing, DNS and firewall on a router from its template. */
  router: 30 * SECOND,
  /** Setting the host name: immediate on Linux; Windows shows it after a restart of the session. */
  hostnameLinux: 2 * SECOND,
  hostnameWindows: 10 * SECOND,
  /** Generalizing a Windows installation, with its reboot. */
  sysprep: 120 * SECOND,
  /** Installing a list of packages from a nearby mirror. */
  packages: 60 * SECOND,
  /** Common settings of a Windows machine. */
  windowsBase: 60 * SECOND,
  /** DNS records and firewall rules: a file and a reload. */
  dns: 2 * SECOND,
  firewall: 3 * SECOND,
  /** About a dozen programs, some of them large. */
  additionalTools: 300 * SECOND,
  /** One package with its download. */
  chocolateyPackage: 45 * SECOND,
  office: 600 * SECOND,
  visualStudio: 1800 * SECOND,
  windowsUpdate: 3600 * SECOND,
  inspectWindows: 10 * SECOND,
  activateWindows: 45 * SECOND,
  kmsServer: 180 * SECOND,
  /** A stage of any other name. */
  otherStage: 10 * SECOND,
  /** A stage that has nothing to do. */
  unchangedStage: 2 * SECOND,

  /** Worker processes of each API daemon (pveproxy and pvedaemon) on each node; a request occupies one until it is answered. */
  apiWorkers: 3,
  /** What a worker needs for any request besides the waits of the call itself. Real ones measured 8 to 60 ms; 0 makes calls instant. */
  request: 0,
  /** How long a daemon waits for the answer of another one to which it forwarded a request. */
  handOver: 30 * SECOND,
  /** Delay of a 401. */
  authenticationFailure: 3 * SECOND,
  /** Shutdown of a node's services; boot of a node with server firmware. */
  nodeHalt: 15 * SECOND,
  nodeBoot: 120 * SECOND,
  /** Timeout of the ping of an agent that does not answer. */
  agentPing: 3 * SECOND,
  /** Until a connection to a node that is down is refused. */
  nodeDown: 0,
  /** Interval at which the status daemon reports VMs to the cluster; 0 shows every change at once. */
  statusInterval: 10 * SECOND,
}

/** The default timing with some figures replaced. */
export const timingWith = (overrides: Partial<Timing> = {}): Timing => ({ ...defaultTiming, ...overrides })

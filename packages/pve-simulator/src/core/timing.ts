/**
 * How long things take, in simulated milliseconds, and how many happen at once. Every figure of the simulator is here.
 * They are round figures for one server of the middle class with SSDs; a test may override any of them.
 */
export type Timing = { readonly [K in keyof typeof defaultTiming]: number }

const SECOND = 1000

/** The figures as they are unless overridden. */
export const defaultTiming = {
  /** A linked clone on block storage, from the request to `TASK OK`: one new thin volume, new config, new cloud-init drive. */
  linkedClone: 4 * SECOND,
  /** The part of a clone that allocates a volume, alone on its storage. Users measured about half a second on LVM-thin. */
  allocation: 0.5 * SECOND,
  /** Linked clones a storage works on at once; the others wait as if for its lock, so a burst of many meets the lock's timeout. */
  clonesPerStorage: 4,
  /** Full clones and moved disks copy the used part of a disk: 200 MiB a second, in bytes per millisecond. */
  copyBytesPerMs: (200 * 1024 * 1024) / SECOND,

  /** Waiting for a VM's config file lock (flock) gives up after this. */
  configLock: 10 * SECOND,
  /** Creating a VM waits less for that lock. */
  createLock: 5 * SECOND,
  /** Cloning waits still less, for the source and the target. */
  cloneLock: 1 * SECOND,
  /** Waiting for a storage lock, local or cluster-wide. */
  storageLock: 10 * SECOND,
  /** Waiting for the cluster-wide lock of SDN, users and pools. */
  clusterLock: 10 * SECOND,

  /** From start to a running QEMU process; part of the boot. */
  startTask: 1 * SECOND,
  /** Pulling the plug. */
  stopTask: 1 * SECOND,
  /** A guest that hears the request (through its agent, or by ACPI once it is up) needs this to power off. */
  shutdownLinux: 5 * SECOND,
  shutdownWindows: 15 * SECOND,
  /** A shutdown gives up after this, unless told otherwise. */
  shutdownTimeout: 60 * SECOND,
  /** Config edits, conversions to a template, resizes: they touch a file. */
  configTask: 0.2 * SECOND,
  /** The network cards of a running VM leave their bridges and join others: its link is down meanwhile. */
  moveCards: 0.3 * SECOND,
  /** A new VM with empty disks, without its allocation. */
  createTask: 0.5 * SECOND,
  /** Removing a VM and its thin volumes. */
  destroyTask: 2 * SECOND,
  /** Disk snapshots on thin storage: copy on write, hence fast; also their removal and rollback. */
  snapshotTask: 2 * SECOND,
  /** Saving memory beside it: 500 MiB a second. */
  memoryBytesPerMs: (500 * 1024 * 1024) / SECOND,
  /** Moving a VM whose disks are shared: the config changes hands; a running one also sends its memory. */
  migrateTask: 3 * SECOND,
  /** The manager of high availability looks every 10 s, so half of that on the average. */
  haReaction: 5 * SECOND,
  /** A node that is gone is fenced when its watchdog and its lock have run out, a minute each. */
  haFence: 120 * SECOND,
  /** ifreload of one node. */
  networkReload: 3 * SECOND,
  /** The whole of an SDN apply: the reloads of all nodes run side by side, then the task ends. */
  sdnApply: 4 * SECOND,

  /** Guests a node boots at once before its disks are the limit; a boot beyond waits. */
  bootsPerNode: 8,
  /** From the request to start until the agent answers. Windows starts more services before it. */
  bootLinux: 25 * SECOND,
  bootWindows: 75 * SECOND,
  /** From the answers to the end of an installation from a disc, with packages from a near mirror; the first boot comes after. */
  installLinux: 300 * SECOND,
  installWindows: 1200 * SECOND,
  /** A DHCP lease shows in the agent's answer a little after the agent itself does. */
  dhcpLinux: 2 * SECOND,
  dhcpWindows: 4 * SECOND,

  /** Playbook processes at once over all guests: forks of one control node. */
  guestStages: 20,
  /** A static address, applied and confirmed by a new connection. Windows also changes its network profile. */
  addressLinux: 12 * SECOND,
  addressWindows: 60 * SECOND,
  /** The first domain controller: features, forest, reboot, directory services up. */
  primaryDc: 330 * SECOND,
  /** One more controller: features, replication, reboot. */
  additionalDc: 300 * SECOND,
  /** Joining a domain: join, reboot, first log-on. */
  domainJoin: 110 * SECOND,
  /** An average role: packages and a service. */
  role: 120 * SECOND,
  /** Routing, name service, firewall of a router from its template. */
  router: 30 * SECOND,
  /** A name: written at once on Linux; Windows shows it after a restart of the session. */
  hostnameLinux: 2 * SECOND,
  hostnameWindows: 10 * SECOND,
  /** Generalising a Windows installation, with its reboot. */
  sysprep: 120 * SECOND,
  /** A list of packages from a near mirror. */
  packages: 60 * SECOND,
  /** Common settings of a Windows machine. */
  windowsBase: 60 * SECOND,
  /** Records of a name server, rules of a firewall: a file and a reload. */
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
  /** A stage that finds everything in place. */
  unchangedStage: 2 * SECOND,

  /** Processes of each daemon of the API, pveproxy and pvedaemon, on each node; a request holds one as long as it takes. */
  apiWorkers: 3,
  /** What a worker needs for any request besides the waits of the call itself. Real ones measured 8 to 60 ms; 0 makes calls instant. */
  request: 0,
  /** How long one daemon waits for the answer of another that it has handed a request over to. */
  handOver: 30 * SECOND,
  /** An answer of 401 is held back. */
  authenticationFailure: 3 * SECOND,
  /** A node's services go down; a node with a server's firmware boots. */
  nodeHalt: 15 * SECOND,
  nodeBoot: 120 * SECOND,
  /** An agent that does not answer is pinged first. */
  agentPing: 3 * SECOND,
  /** A node that is down is noticed when the connection is refused. */
  nodeDown: 0,
  /** The status daemon tells the cluster about VMs at this pace; 0 shows every change at once. */
  statusInterval: 10 * SECOND,
}

/** A timing in which some figures are replaced. */
export const timingWith = (overrides: Partial<Timing> = {}): Timing => ({ ...defaultTiming, ...overrides })

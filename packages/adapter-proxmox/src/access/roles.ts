/** Privileges by the path that they are needed on. */
type ByPath = Readonly<Record<string, readonly string[]>>

export const buildsOfTemplates = "builds of templates"
export const nodeDownloads = "downloads of images by nodes"

/** The path of CPU models since PVE 9.2; unknown before. */
export const processorModels = "/mapping/cpu"

/** The privilege to create the roles for builds when they do not exist. */
export const makesRoles = { path: "/access", privilege: "Sys.Modify" } as const

/**
 * What the service itself needs, by feature: the minimum for each. A token with privilege separation needs these itself. Guest agent rights
 * are those of PVE 9; PVE 8 has `VM.Monitor` instead. All other features depend on the first.
 */
export const neededByFeature: Readonly<Record<string, ByPath>> = {
  "ranges and their machines": {
    "/": ["Sys.Audit"],
    "/vms": [
      "VM.Allocate",
      "VM.Audit",
      "VM.Clone",
      "VM.Config.CPU",
      "VM.Config.Memory",
      "VM.Config.Network",
      "VM.Config.Options",
      "VM.Config.HWType",
      "VM.PowerMgmt",
    ],
    "/pool": ["Pool.Allocate", "Pool.Audit"],
    "/storage": ["Datastore.AllocateSpace", "Datastore.Audit"],
  },
  "work inside machines": { "/vms": ["VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted"] },
  "snapshots and testing mode": { "/vms": ["VM.Snapshot", "VM.Snapshot.Rollback"] },
  consoles: { "/vms": ["VM.Console"] },
  "bridges of ranges on a single node": { "/nodes": ["Sys.Modify"] },
  "networks of ranges in a cluster": {
    "/sdn/zones": ["SDN.Allocate", "SDN.Audit", "SDN.Use", "Permissions.Modify"],
    "/sdn": ["SDN.Allocate"],
  },
  "accounts of users and their rights": {
    "/pool": ["Permissions.Modify"],
    "/access": ["Sys.Audit"],
    "/access/groups": ["User.Modify", "Group.Allocate"],
    "/access/realm/pve": ["Realm.AllocateUser"],
  },
  [buildsOfTemplates]: {
    "/pool": ["Permissions.Modify"],
    "/storage": ["Permissions.Modify", "Datastore.AllocateTemplate"],
    "/sdn/zones": ["Permissions.Modify"],
    "/access/groups": ["User.Modify"],
    "/access/realm/pve": ["Realm.AllocateUser"],
  },
  // without it, the hypervisor does not list disks of other VMs
  "naming the clones that need a template": { "/vms": ["VM.Config.Disk"] },
  [nodeDownloads]: { "/nodes": ["Permissions.Modify"] },
  "anti-sandbox mode of processors and disks": {
    [processorModels]: ["Mapping.Modify", "Mapping.Use"],
    "/vms": ["VM.Config.Disk"],
  },
}

const entries = Object.values(neededByFeature).flatMap((byPath) => Object.entries(byPath))

/** All of them, by path. */
export const neededPrivileges: ByPath = Object.fromEntries(
  [...Map.groupBy(entries, ([path]) => path)].map(([path, needed]) => [path, [...new Set(needed.flatMap(([, names]) => names))]]),
)

/** Groups of users on the hypervisor. The names are facts of the wire: other tools grant rights to them (contract A 12.2). */
export const userGroup = "ludus_users"
export const adminGroup = "ludus_admins"

/** Roles on a range's pool, and on its VNet (contract B 4.5). All of them come with Proxmox. */
export const poolRoles: readonly string[] = ["PVEVMAdmin", "PVESDNAdmin", "PVEPoolUser"]
export const vnetRoles: readonly string[] = ["PVESDNUser"]

/**
 * What the service itself needs, by path: the least it can work with. A token with privilege separation needs these itself. Guest agent
 * rights are those of PVE 9; on 8 `VM.Monitor` stands for them.
 */
export const neededPrivileges: Readonly<Record<string, readonly string[]>> = {
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
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.Unrestricted",
    "VM.PowerMgmt",
  ],
  "/pool": ["Pool.Allocate", "Pool.Audit", "Permissions.Modify"],
  "/storage": ["Datastore.AllocateSpace", "Datastore.Audit"],
  "/nodes": ["Sys.Modify"],
  "/sdn/zones": ["SDN.Allocate", "SDN.Audit", "SDN.Use", "Permissions.Modify"],
  "/sdn": ["SDN.Allocate"],
  "/access": ["User.Modify", "Group.Allocate"],
  "/access/realm/pve": ["Realm.AllocateUser"],
}

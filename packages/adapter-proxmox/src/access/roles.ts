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
    "VM.Console",
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.Unrestricted",
    "VM.PowerMgmt",
    "VM.Snapshot",
    "VM.Snapshot.Rollback",
  ],
  "/pool": ["Pool.Allocate", "Pool.Audit", "Permissions.Modify"],
  "/storage": ["Datastore.AllocateSpace", "Datastore.Audit"],
  "/nodes": ["Sys.Modify"],
  "/sdn/zones": ["SDN.Allocate", "SDN.Audit", "SDN.Use", "Permissions.Modify"],
  "/sdn": ["SDN.Allocate"],
  "/access": ["Sys.Audit"],
  "/access/groups": ["User.Modify", "Group.Allocate"],
  "/access/realm/pve": ["Realm.AllocateUser"],
}

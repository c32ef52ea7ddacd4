import { privileges } from "../schema/formats.ts"

const all = (...starts: string[]): string[] =>
  privileges.filter((privilege) => starts.some((start) => privilege.startsWith(start)))

const vmUser = [
  "VM.Audit",
  "VM.Backup",
  "VM.Config.CDROM",
  "VM.Config.Cloudinit",
  "VM.Console",
  "VM.GuestAgent.Audit",
  "VM.PowerMgmt",
]

/** The roles that come with the server. */
export const builtInRoles: Readonly<Record<string, readonly string[]>> = {
  Administrator: privileges,
  NoAccess: [],
  PVEAdmin: privileges.filter(
    (privilege) =>
      !["Permissions.Modify", "Realm.Allocate", "Sys.Modify", "Sys.PowerMgmt", "Sys.Incoming", "Sys.AccessNetwork"].includes(
        privilege,
      ),
  ),
  PVEAuditor: privileges.filter((privilege) => privilege.endsWith(".Audit") && !privilege.startsWith("VM.GuestAgent")),
  PVEDatastoreAdmin: all("Datastore."),
  PVEDatastoreUser: ["Datastore.AllocateSpace", "Datastore.Audit"],
  PVEMappingAdmin: all("Mapping."),
  PVEMappingAuditor: ["Mapping.Audit"],
  PVEMappingUser: ["Mapping.Audit", "Mapping.Use"],
  PVEPoolAdmin: all("Pool."),
  PVEPoolUser: ["Pool.Audit"],
  PVESDNAdmin: all("SDN."),
  PVESDNUser: ["SDN.Audit", "SDN.Use"],
  PVESysAdmin: ["Sys.Audit", "Sys.Console", "Sys.Syslog"],
  PVETemplateUser: ["VM.Audit", "VM.Clone"],
  PVEUserAdmin: ["Group.Allocate", "Realm.AllocateUser", "User.Modify"],
  PVEVMAdmin: all("VM."),
  PVEVMUser: vmUser,
}

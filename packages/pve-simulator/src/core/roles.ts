import { privileges } from "../schema/formats.ts"

/** Privileges by kind of object, and by who usually has them: administrators, users or auditors. */
interface Kind {
  readonly admin: readonly string[]
  readonly user: readonly string[]
  readonly audit: readonly string[]
}

const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "")

const kind = (name: string, admin: string, user: string, audit: string): readonly [string, Kind] => [
  name,
  { admin: words(admin), user: words(user), audit: words(audit) },
]

/** Privileges in none of these (`Sys.Modify`, `Permissions.Modify`, …) belong to administrators only. */
const kinds: readonly (readonly [string, Kind])[] = [
  kind(
    "VM",
    `VM.Config.Disk VM.Config.CPU VM.Config.Memory VM.Config.Network VM.Config.HWType VM.Config.Options VM.Allocate VM.Clone VM.GuestAgent.Unrestricted VM.Migrate VM.Replicate VM.Snapshot VM.Snapshot.Rollback`,
    `VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.Backup VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.PowerMgmt`,
    "VM.Audit VM.GuestAgent.Audit",
  ),
  kind("Sys", "Sys.Console Sys.Syslog", "", "Sys.Audit"),
  kind("Datastore", "Datastore.Allocate Datastore.AllocateTemplate", "Datastore.AllocateSpace", "Datastore.Audit"),
  kind("SDN", "SDN.Allocate", "SDN.Use", "SDN.Audit"),
  kind("User", "User.Modify Group.Allocate Realm.AllocateUser", "", ""),
  kind("Pool", "Pool.Allocate", "Pool.Audit", "Pool.Audit"),
  kind("Mapping", "Mapping.Modify", "Mapping.Use", "Mapping.Audit"),
]

const sorted = (...parts: (readonly string[])[]): readonly string[] => [...new Set(parts.flat())].toSorted()

/** The built-in roles. */
export const builtInRoles: Readonly<Record<string, readonly string[]>> = {
  Administrator: privileges,
  NoAccess: [],
  PVEAdmin: sorted(...kinds.flatMap(([, { admin, user, audit }]) => [admin, user, audit])).filter(
    (privilege) => privilege !== "Mapping.Modify",
  ),
  PVEAuditor: sorted(...kinds.map(([, { audit }]) => audit)),
  PVETemplateUser: ["VM.Audit", "VM.Clone"],
  ...Object.fromEntries(
    kinds.flatMap(([name, { admin, user, audit }]) => [
      [`PVE${name}Admin`, sorted(admin, user, audit)] as const,
      ...(user.length === 0 ? [] : [[`PVE${name}User`, sorted(user, audit)] as const]),
    ]),
  ),
}

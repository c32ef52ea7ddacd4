import type { RangeDefaults } from "./model.ts"

/** The defaults of a server whose own settings say nothing. */
export const builtinDefaults: RangeDefaults = {
  snapshotWithRam: true,
  staleHours: 0,
  domainFunctionalLevel: "Win2012R2",
  forestFunctionalLevel: "Win2012R2",
  domainAdmin: "domainadmin",
  domainAdminPassword: "password",
  domainUser: "domainuser",
  domainUserPassword: "password",
  safeModePassword: "password",
  timezone: "America/New_York",
  dynamicWallpaper: true,
  machineLogins: "template",
}

/** The router of a range, where the file says nothing. */
export const routerDefaults = {
  name: "{{ range_id }}-router-debian11-x64",
  template: "debian-11-x64-server-template",
  ramGb: 2,
  /** Ballooning minimum of a router whose `ram_gb` is not set; one with `ram_gb` has none by default. */
  ramMinGb: 0.5,
  cpus: 2,
} as const

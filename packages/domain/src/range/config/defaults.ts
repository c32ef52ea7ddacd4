import type { RangeDefaults } from "./model.ts"

/** What a server uses when its own settings say nothing. */
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

/** The machine that routes for a range, where the file says nothing. */
export const routerDefaults = {
  name: "{{ range_id }}-router-debian11-x64",
  template: "debian-11-x64-server-template",
  ramGb: 2,
  /** Ballooning minimum of a router whose `ram_gb` is not set; one whose memory is chosen has none. */
  ramMinGb: 0.5,
  cpus: 2,
} as const

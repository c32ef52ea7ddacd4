import { type RangeConfig, renderString } from "../config/index.ts"
import type { Range } from "../range.ts"
import { guestLoginOf } from "./guest-login.ts"
import type { RangeHost } from "./host.ts"

export type LoginProtocol = "ssh" | "winrm" | "rdp"

/** A login of a machine. */
export interface MachineAccount {
  /** Identifies it among the accounts of its machine. */
  readonly label: string
  readonly user: string
  /** First label of the domain's name; absent: an account of the machine itself. */
  readonly domain?: string
  /** Absent: unknown to the service. */
  readonly password?: string
  readonly protocols: readonly LoginProtocol[]
}

/**
 * The accounts that a range's deployed configuration and its templates give a machine: those of its domain, the one that it logs on
 * automatically, and its template's. The last one has the password that the service gave it, if it gave one and the host's facts contain
 * it. None for a machine whose operating system is unknown.
 */
export const machineAccounts = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
  host: RangeHost,
): readonly MachineAccount[] => {
  const login = guestLoginOf(host)
  const own: readonly MachineAccount[] =
    login === undefined
      ? []
      : [
          {
            label: login.user,
            user: login.user,
            password: login.password,
            protocols: login.connection === "ssh" ? ["ssh"] : ["winrm", "rdp"],
          },
        ]
  const { machine } = host
  if (config === undefined || host.osId !== "windows" || machine === undefined) return own
  const render = (text: string): string => renderString(text, { rangeId: range.id, rangeNumber: range.number }).text
  const netbios = machine.domain === undefined ? "" : (render(machine.domain.fqdn).split(".", 1)[0] ?? "")
  const domain = netbios === "" ? {} : { domain: netbios }
  const { domainAdmin, domainAdminPassword, domainUser, domainUserPassword } = config.defaults
  const ofDomain: readonly MachineAccount[] =
    netbios === ""
      ? []
      : [
          { label: "domainuser", user: render(domainUser), ...domain, password: domainUserPassword, protocols: ["rdp"] },
          {
            label: "domainadmin",
            user: render(domainAdmin),
            ...domain,
            password: domainAdminPassword,
            protocols: ["winrm", "rdp"],
          },
        ]
  const { user, password } = machine.os.kind === "windows" ? machine.os.autologon : {}
  const name = user === undefined ? "" : render(user)
  const autologon: readonly MachineAccount[] =
    name === ""
      ? []
      : [{ label: name, user: name, ...domain, ...(password === undefined ? {} : { password }), protocols: ["rdp"] }]
  return [...ofDomain, ...autologon, ...own]
}

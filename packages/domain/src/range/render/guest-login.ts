import type { RangeId, Vmid } from "../../access/ids.ts"

/** How automation and people log in to a machine. */
export interface GuestLogin {
  readonly connection: "ssh" | "winrm"
  readonly user: string
  readonly password: string
}

const local: GuestLogin = { connection: "ssh", user: "localuser", password: "password" }

/** Logins that all templates of a system have, by its ID (`osIdOf`): lab defaults, not secrets of an installation. */
const logins: ReadonlyMap<string, GuestLogin> = new Map([
  ["windows", { connection: "winrm", user: "localuser", password: "password" }],
  ["debian", { connection: "ssh", user: "debian", password: "debian" }],
  ["kali", { connection: "ssh", user: "kali", password: "kali" }],
  ["rocky", { connection: "ssh", user: "root", password: "root" }],
  ["ubuntu", local],
  ["centos", local],
  ["almalinux", local],
  ["rhel", local],
  ["macos", local],
])

/** The login of one template, when it differs from its system's. */
export interface TemplateLogin {
  readonly user: string
  readonly password: string
}

/** What a login is derived from. */
export interface LoginFacts {
  readonly osId: string | undefined
  /** The password that the service gave the machine. */
  readonly password?: string | undefined
  /** The login of the template that the configuration names for the machine, never of one that the machine itself claims. */
  readonly templateLogin?: TemplateLogin | undefined
}

/**
 * The login that a machine has now: its template's, with the password that the service gave it, if any. `known`: logins of further systems
 * of an installation; they override the built-in ones. What a machine reports about its system only chooses among logins that everybody
 * knows.
 */
export const guestLoginOf = (
  { osId, password, templateLogin }: LoginFacts,
  known?: ReadonlyMap<string, GuestLogin>,
): GuestLogin | undefined => {
  if (osId === undefined) return undefined
  const connection = osId === "windows" ? ("winrm" as const) : ("ssh" as const)
  const login = templateLogin === undefined ? (known?.get(osId) ?? logins.get(osId)) : { connection, ...templateLogin }
  return login === undefined || password === undefined ? login : { ...login, password }
}

/** The context that a sealed password is bound to: its VM. */
export const passwordContext = (rangeId: RangeId, vmid: Vmid): string => `login of VM ${vmid} in range ${rangeId}`

import type { RangeId, Vmid } from "../../access/ids.ts"

/** How automation and people get into a machine made from one of the known templates. Lab defaults, no secrets of an installation. */
export interface GuestLogin {
  readonly connection: "ssh" | "winrm"
  readonly user: string
  readonly password: string
}

const local: GuestLogin = { connection: "ssh", user: "localuser", password: "password" }

/** By operating system id, as guest agents name it (contract B 9.3). */
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

/** Undefined where no template promises a login: a Linux of no known distribution. */
const templateLogin = (osId: string): GuestLogin | undefined => logins.get(osId)

/**
 * The login that a machine has now: its template's, with the password that the service gave it where it gave one. `known`: logins of
 * templates that an installation has besides, by operating system id; they win.
 */
export const guestLoginOf = (
  { osId, password }: { readonly osId: string | undefined; readonly password?: string | undefined },
  known?: ReadonlyMap<string, GuestLogin>,
): GuestLogin | undefined => {
  const login = osId === undefined ? undefined : (known?.get(osId) ?? templateLogin(osId))
  return login === undefined || password === undefined ? login : { ...login, password }
}

/** What a sealed password is bound to: the VM that has it. */
export const passwordContext = (rangeId: RangeId, vmid: Vmid): string => `login of VM ${vmid} in range ${rangeId}`

const distributions = ["debian", "kali", "ubuntu", "rocky", "almalinux", "centos", "rhel"] as const

/** What a machine of this kind and template runs: `windows`, `macos`, a distribution named by the template, else `linux`. */
export const osIdOf = (kind: "windows" | "linux" | "macos", template: string): string =>
  kind === "linux"
    ? (distributions.find((name) =>
        template
          .toLowerCase()
          .split(/[^a-z]+/u)
          .includes(name),
      ) ?? "linux")
    : kind

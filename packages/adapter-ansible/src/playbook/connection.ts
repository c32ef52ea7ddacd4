import { type GuestLogin, guestLoginOf, type RangeHost } from "@rangewright/domain"
import type { Settings } from "./options.ts"

type Variables = Readonly<Record<string, string | number>>

/** Undefined where neither the options nor a known template tell one. */
export const loginOf = (settings: Pick<Settings, "logins">, host: RangeHost): GuestLogin | undefined =>
  host.osId === undefined ? undefined : (settings.logins.get(host.osId) ?? guestLoginOf(host.osId))

/** Machines come and go at one address, each with new keys: there is nothing that a host key could be compared with. */
const anyHostKey = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"

const loginVariables = (login: GuestLogin): Variables => ({
  ansible_user: login.user,
  ansible_password: login.password,
  ...(login.connection === "ssh" && login.user !== "root" ? { ansible_become_password: login.password } : {}),
})

const psrp: Variables = {
  ansible_connection: "psrp",
  ansible_port: 5986,
  ansible_psrp_protocol: "https",
  ansible_psrp_cert_validation: "ignore",
  ansible_psrp_operation_timeout: 240,
  ansible_psrp_read_timeout: 320,
}

/**
 * What the tool must know to reach each host beyond what inventories show to people (contract B 9.3): a second inventory, which wins.
 * `through` are further arguments of SSH for a host.
 */
export const connections = (
  settings: Pick<Settings, "logins" | "windows">,
  hosts: readonly RangeHost[],
  through: (host: RangeHost) => string | undefined,
): string => {
  const variablesOf = (host: RangeHost): Variables => {
    const login = host.osId === undefined ? undefined : settings.logins.get(host.osId)
    const isSsh = loginOf(settings, host)?.connection === "ssh"
    const sshArguments = [anyHostKey, "-o LogLevel=ERROR", through(host)].filter((each) => each !== undefined).join(" ")
    return {
      ...(login === undefined ? {} : loginVariables(login)),
      ...(isSsh ? { ansible_ssh_common_args: sshArguments } : settings.windows === "psrp" ? psrp : {}),
      ...(host.address === undefined ? {} : { ansible_host: host.address }),
    }
  }
  return JSON.stringify({ all: { hosts: Object.fromEntries(hosts.map((host) => [host.name, variablesOf(host)])) } })
}

import { type GuestLogin, guestLoginOf, type RangeHost } from "@rangewright/domain"
import { reachCommand } from "@rangewright/host-tools"
import type { Settings } from "./options.ts"

type Variables = Readonly<Record<string, string | number>>

/** Undefined when neither the options nor a known template have one. */
export const loginOf = (settings: Pick<Settings, "logins">, host: RangeHost): GuestLogin | undefined =>
  guestLoginOf(host, settings.logins)

/** Machines are replaced at the same address, each with new keys, so there is no host key to compare with. */
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

/** How SSH connects from a tool's sandbox. The relay hands it the open connection. */
const overRelay = `-o ProxyUseFdpass=yes -o ProxyCommand="${reachCommand("%h", "%p", "pass")}"`

const sshArguments = `${anyHostKey} -o LogLevel=ERROR ${overRelay}`

/**
 * Connection variables for each host besides those that the visible inventories have: a second inventory, which takes precedence. Windows
 * is reached through the HTTP proxy in every tool's environment.
 */
export const connections = (settings: Pick<Settings, "logins" | "windows">, hosts: readonly RangeHost[]): string => {
  const variablesOf = (host: RangeHost): Variables => {
    const login = loginOf(settings, host)
    const isOwn = host.osId !== undefined && settings.logins.has(host.osId)
    return {
      ...(login === undefined || !isOwn ? {} : loginVariables(login)),
      ...(login?.connection === "ssh" ? { ansible_ssh_common_args: sshArguments } : settings.windows === "psrp" ? psrp : {}),
      ...(host.address === undefined ? {} : { ansible_host: host.address }),
    }
  }
  return JSON.stringify({ all: { hosts: Object.fromEntries(hosts.map((host) => [host.name, variablesOf(host)])) } })
}

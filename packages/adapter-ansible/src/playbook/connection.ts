import { type GuestLogin, guestLoginOf, type RangeHost, wanAddress } from "@rangewright/domain"
import type { Settings } from "./options.ts"
import type { Site } from "./site.ts"

type Variables = Readonly<Record<string, string | number>>

/** Undefined where neither the options nor a known template tell one. */
export const loginOf = (settings: Pick<Settings, "logins">, host: RangeHost): GuestLogin | undefined =>
  host.osId === undefined ? undefined : (settings.logins.get(host.osId) ?? guestLoginOf(host.osId))

/** Machines come and go at one address, each with new keys: there is nothing that a host key could be compared with. */
const anyHostKey = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"

/** Files that hold passwords for connections of their own, by name: what a command line names must not hold them. */
export type PasswordFiles = Readonly<Record<string, string>>

const routerOf = (site: Site): RangeHost | undefined => site.hosts.find(({ seen }) => seen.isRouter)

const passwordFile = "router-password"

/** SSH through the range's router, which is logged in to with its own password. */
const throughRouter = (outer: string, login: GuestLogin, folder: string): string =>
  `-o ProxyCommand="sshpass -f ${folder}/${passwordFile} ssh ${anyHostKey} -o LogLevel=ERROR -W %h:%p ${login.user}@${outer}"`

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
 * `folder` is where it finds the password files.
 */
export const connections = (
  settings: Pick<Settings, "logins" | "route" | "windows">,
  site: Site,
  folder: string,
): { readonly inventory: string; readonly passwords: PasswordFiles } => {
  const router = settings.route.type === "router" ? routerOf(site) : undefined
  const routerLogin = router === undefined ? undefined : loginOf(settings, router)
  const variablesOf = (host: RangeHost): Variables => {
    const login = host.osId === undefined ? undefined : settings.logins.get(host.osId)
    const isSsh = loginOf(settings, host)?.connection === "ssh"
    const jump =
      routerLogin === undefined || host.seen.isRouter || !isSsh
        ? ""
        : ` ${throughRouter(wanAddress(site.range.number), routerLogin, folder)}`
    return {
      ...(login === undefined ? {} : loginVariables(login)),
      ...(isSsh
        ? { ansible_ssh_common_args: `${anyHostKey} -o LogLevel=ERROR${jump}` }
        : settings.windows === "psrp"
          ? psrp
          : {}),
      ...(host.address === undefined ? {} : { ansible_host: host.address }),
    }
  }
  return {
    inventory: JSON.stringify({ all: { hosts: Object.fromEntries(site.hosts.map((host) => [host.name, variablesOf(host)])) } }),
    passwords: routerLogin === undefined ? {} : { [passwordFile]: `${routerLogin.password}\n` },
  }
}

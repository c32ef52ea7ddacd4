import type { TemplateBuild } from "@rangewright/ports"
import { systemPath } from "@rangewright/host-tools"
import { dirname, isAbsolute } from "node:path"
import { doorName } from "./door.ts"
import type { Places } from "./files.ts"
import type { Settings } from "./options.ts"

/** The port on Packer's loopback that leads to the hypervisor. */
export const doorPort = 8006

/** Ports of machines that Packer connects to: SSH, its common alternative, and WinRM. */
export const machinePorts = [22, 2222, 5985, 5986] as const

/** Used in place of secrets: the service inserts those itself. */
const placeholder = "held-by-the-service"

/** The variables that templates are written for. */
export const variablesOf = (
  settings: Settings,
  { account, node }: Pick<TemplateBuild, "account" | "node">,
  home: string,
  bridge: string,
) => ({
  proxmox_url: `http://127.0.0.1:${doorPort}/api2/json`,
  proxmox_host: node,
  proxmox_skip_tls_verify: "true",
  proxmox_pool: account.pool,
  proxmox_storage_pool: settings.storage,
  proxmox_storage_format: settings.storageFormat,
  iso_storage_pool: settings.isoStorage,
  ansible_home: home,
  ludus_nat_interface: bridge,
})

/** Path of the template as Packer sees it. */
export const templateSeen = "/template"

/** The only names in the sandbox whose destination the relay does not decide. */
export const named = { [doorName]: doorPort }

const path = (settings: Settings): string =>
  [...(isAbsolute(settings.program) ? [dirname(settings.program)] : []), systemPath].join(":")

/** Built from scratch: nothing of the service's own environment reaches a template. */
export const environmentOf = (
  settings: Settings,
  build: Pick<TemplateBuild, "account" | "node">,
  { work }: Places,
  bridge: string,
  address: string,
): Readonly<Record<string, string>> => {
  const near = ["localhost", "127.0.0.1", address, ...settings.networks.map(({ text }) => text)].join(",")
  const home = `${work}/home`
  const variables = Object.entries(variablesOf(settings, build, `${home}/.ansible`, bridge))
  return {
    PATH: path(settings),
    HOME: home,
    TMPDIR: `${work}/tmp`,
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    TERM: "dumb",
    no_proxy: near,
    NO_PROXY: near,
    CHECKPOINT_DISABLE: "1",
    PACKER_CACHE_DIR: `${work}/cache`,
    PACKER_CONFIG_DIR: home,
    PACKER_CONFIG: `${home}/packerconfig`,
    ...(settings.plugins === undefined ? {} : { PACKER_PLUGIN_PATH: settings.plugins }),
    PROXMOX_USERNAME: build.account.tokenId,
    PROXMOX_TOKEN: placeholder,
    PROXMOX_PASSWORD: placeholder,
    PKR_VAR_proxmox_username: "",
    PKR_VAR_proxmox_password: "",
    ...Object.fromEntries(variables.map(([name, value]) => [`PKR_VAR_${name}`, value])),
    // for the Ansible that templates run on this host
    ANSIBLE_HOME: `${home}/.ansible`,
    ANSIBLE_NOCOLOR: "1",
    ANSIBLE_HOST_KEY_CHECKING: "0",
    ANSIBLE_RETRY_FILES_ENABLED: "0",
  }
}

/** The command line. Templates in JSON read variables from a file only, those in HCL from the environment. */
export const packerCommand = (settings: Settings, builderFile: string, work: string): readonly string[] => [
  "env",
  "-C",
  templateSeen,
  settings.program,
  "build",
  "-color=false",
  "-on-error=cleanup",
  ...(builderFile.endsWith(".hcl") ? [] : [`-var-file=${work}/variables.json`]),
  builderFile,
]

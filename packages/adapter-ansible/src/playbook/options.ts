import type { GuestLogin, TemplateLogin, GuestStage, Json, RangeDefaults } from "@rangewright/domain"
import type { ToolOptions } from "@rangewright/host-tools"
import type * as Redacted from "effect/Redacted"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** A host through which machines are reached over SSH, and its login. */
export interface JumpHost {
  readonly host: string
  /** 22 when absent. */
  readonly port?: number
  readonly user: string
  /** Its public key, type and base64, as `ssh-keyscan` prints them; when absent, any key is accepted. */
  readonly hostKey?: string
  readonly login:
    | { readonly type: "key"; readonly file: string }
    | { readonly type: "password"; readonly password: Redacted.Redacted }
}

/** How machines are reached from the service's host. */
export type Route =
  /** The host has routes to the ranges' networks. */
  | { readonly type: "direct" }
  /** Every machine through the router of its range; the router itself directly. */
  | { readonly type: "router" }
  /** Every machine, including routers, through one host. */
  | ({ readonly type: "jump" } & JumpHost)

/** How playbooks run. Everything but the folders has a safe default. */
export interface PlaybookOptions {
  /** Scratch folders, caches and files kept by roles. Owned by one process: leftovers of a killed one are removed at start. */
  readonly folder: string
  /** The library of installed roles and collections (`libraryLayer`). */
  readonly library: string
  /** Additional folders of collections, for hosts without the `ansible` package; each contains `ansible_collections`. */
  readonly collections?: readonly string[]
  /** The program; looked up on PATH if it is a plain name. */
  readonly program?: string
  /** How tools run on this host: the sandbox, the internet, their limits. */
  readonly tools?: ToolOptions
  readonly route?: Route
  /** Protocol for Windows machines. */
  readonly windows?: "winrm" | "psrp"
  /** Logins by operating system id; they take precedence over those of the known templates. */
  readonly logins?: ReadonlyMap<string, GuestLogin>
  /** Logins of templates that differ from their system's, by template name. Their passwords count as secrets. */
  readonly templateLogins?: ReadonlyMap<string, TemplateLogin>
  /** Environment of roles, such as `LUDUS_SECRET_*`; every value counts as a secret. */
  readonly environment?: Readonly<Record<string, string>>
  /** The operator's defaults for range configurations. */
  readonly rangeDefaults?: Partial<RangeDefaults>
  /** Facts of the installation that roles may read as variables; no secrets. */
  readonly variables?: Readonly<Record<string, Json>>
  /** Time limit of one stage. */
  readonly stageSeconds?: Partial<Readonly<Record<GuestStage, number>>>
  /** Output limit of one run. */
  readonly outputBytes?: number
  /** Total size of one run's files and of those that roles keep for its user. A run may start above the limit, but then not add to it. */
  readonly diskBytes?: number
}

export type Settings = Required<Omit<PlaybookOptions, "rangeDefaults">> & {
  readonly rangeDefaults: Partial<RangeDefaults> | undefined
  /** The playbooks of this package. */
  readonly playbooks: string
}

const minutes = 60

/** Long enough for a slow mirror, short enough to notice a hanging tool. Office and Visual Studio download gigabytes. */
const longest: Readonly<Record<GuestStage, number>> = {
  address: 30 * minutes,
  router: 30 * minutes,
  firewall: 10 * minutes,
  dns: 10 * minutes,
  sysprep: 60 * minutes,
  "windows-base": 60 * minutes,
  "primary-dc": 90 * minutes,
  "alt-dc": 90 * minutes,
  "domain-join": 60 * minutes,
  packages: 60 * minutes,
  "additional-tools": 120 * minutes,
  chocolatey: 120 * minutes,
  office: 180 * minutes,
  "visual-studio": 240 * minutes,
  "windows-update": 480 * minutes,
  "inspect-router": 2 * minutes,
  "inspect-windows": 5 * minutes,
  "activate-windows": 15 * minutes,
  "kms-server": 60 * minutes,
  "anti-sandbox": 30 * minutes,
  role: 240 * minutes,
}

export const settingsOf = (options: PlaybookOptions): Settings & { readonly longest: Readonly<Record<GuestStage, number>> } => ({
  collections: [],
  program: "ansible-playbook",
  tools: {},
  route: { type: "direct" },
  windows: "winrm",
  logins: new Map(),
  templateLogins: new Map(),
  environment: {},
  variables: {},
  stageSeconds: {},
  outputBytes: 64 * 1024 * 1024,
  diskBytes: 20 * 1024 * 1024 * 1024,
  ...options,
  rangeDefaults: options.rangeDefaults,
  longest: { ...longest, ...options.stageSeconds },
  playbooks: playbooksFolder,
})

/** The playbooks lie beside the sources in the package, whether these are compiled or not. */
export const playbooksFolder = join(fileURLToPath(new URL(".", import.meta.url)), "..", "..", "playbooks")

/** Where a user's runs find roles and collections; the user's own take precedence over the global ones. */
export const searchPaths = (
  { library, collections }: Pick<Settings, "library" | "collections">,
  userId: string | undefined,
): { readonly roles: readonly string[]; readonly collections: readonly string[] } => {
  const scopes = [...(userId === undefined ? [] : [join(library, "users", userId)]), join(library, "global")]
  return {
    roles: scopes.map((scope) => join(scope, "roles")),
    collections: [...scopes.map((scope) => join(scope, "collections")), ...collections],
  }
}

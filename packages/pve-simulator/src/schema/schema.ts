import data from "./pve-api.json" with { type: "json" }

/** One parameter as the published schema defines it. */
export interface Property {
  readonly type?: string
  readonly optional?: number | string
  readonly enum?: readonly string[]
  readonly format?: string | Readonly<Record<string, Property>>
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly requires?: string
  readonly default_key?: number
  readonly alias?: string
  readonly keyAlias?: string
  readonly items?: Property
  readonly properties?: Readonly<Record<string, Property>>
  readonly additionalProperties?: number | Property
  readonly oneOf?: readonly Property[]
}

/** A permission check: `["perm", path, privileges, …]`, `["and", …]`, `["or", …]` and a few more. */
export type Check = readonly [string, ...unknown[]]

/** One call: a verb and a path with its parameters and who may make it. */
export interface Method {
  readonly verb: string
  readonly path: string
  readonly parameters: Readonly<Record<string, Property>>
  /** Unknown parameters are accepted. */
  readonly open: boolean
  readonly allowToken: boolean
  readonly proxyToNode: boolean
  /** Needs root on the node: pveproxy forwards it to pvedaemon. */
  readonly isProtected: boolean
  readonly check: Check | undefined
  /** `all`: any user, `world`: no login needed; undefined without a check: root@pam only. */
  readonly user: "all" | "world" | undefined
}

interface RawMethod {
  readonly parameters: Readonly<Record<string, number>>
  readonly open?: number
  readonly allowtoken?: number
  readonly proxyto?: string
  readonly protected?: number
  readonly permissions?: { readonly check?: Check; readonly user?: string }
}

interface RawSchema {
  readonly definitions: readonly Property[]
  readonly methods: Readonly<Record<string, RawMethod>>
}

/** How many members each numbered family of options (`net[n]` in the schema) has. */
const families: Readonly<Record<string, number>> = {
  net: 32,
  scsi: 31,
  virtio: 16,
  sata: 6,
  ide: 4,
  unused: 256,
  usb: 14,
  hostpci: 16,
  ipconfig: 32,
  numa: 8,
  serial: 4,
  parallel: 3,
  virtiofs: 10,
  acmedomain: 6,
}

const raw = data as unknown as RawSchema

const expand = (parameters: Readonly<Record<string, number>>): Record<string, Property> => {
  const out: Record<string, Property> = Object.create(null)
  for (const [name, index] of Object.entries(parameters)) {
    const definition = raw.definitions[index]!
    if (!name.endsWith("[n]")) out[name] = definition
    else for (let n = 0; n < (families[name.slice(0, -3)] ?? 0); n += 1) out[`${name.slice(0, -3)}${n}`] = definition
  }
  return out
}

/** Every call of the schema, by `VERB /path/{param}`. */
export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries(raw.methods).map(([key, entry]) => {
    const [verb, path] = key.split(" ") as [string, string]
    const user = entry.permissions?.user
    // most calls are never made, and some have hundreds of parameters
    let parameters: Method["parameters"] | undefined
    return [
      key,
      {
        verb,
        path,
        get parameters() {
          return (parameters ??= expand(entry.parameters))
        },
        open: entry.open === 1,
        allowToken: entry.allowtoken !== 0,
        proxyToNode: entry.proxyto === "node",
        isProtected: entry.protected === 1,
        check: entry.permissions?.check,
        user: user === "all" || user === "world" ? user : undefined,
      },
    ]
  }),
)

const options = methods.get("PUT /nodes/{node}/qemu/{vmid}/config")!.parameters

/** The options that a VM's configuration may contain, without parameters that only control a call. */
export const guestOptions: ReadonlySet<string> = new Set(
  Object.keys(options).filter((name) => !["node", "vmid", "digest", "delete", "revert", "force", "skiplock"].includes(name)),
)

/** The keys of a VM option that is a property string; undefined if it is none, or if the schema does not list its keys. */
export const optionFormat = (name: string): Readonly<Record<string, Property>> | undefined => {
  const format = options[name]?.format
  return typeof format === "object" ? format : undefined
}

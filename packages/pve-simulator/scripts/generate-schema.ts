/**
 * Writes `src/schema/pve-api.json` from the published API schema: names, types, limits and permissions of the calls
 * the simulator knows, and nothing else (no prose, no defaults). Equal property definitions are stored once.
 *
 *     node packages/pve-simulator/scripts/generate-schema.ts ../shared/pve/apidoc.json
 */
import { readFileSync, writeFileSync } from "node:fs"

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
interface Method {
  readonly allowtoken?: number
  readonly parameters?: { readonly additionalProperties?: number; readonly properties?: Record<string, Json> }
  readonly permissions?: Json
  readonly protected?: number
  readonly proxyto?: string
}

const wanted = /^\/(version|access|pools|storage|nodes|cluster)(\/|$)/
const unwanted =
  /^\/access\/openid|^\/cluster\/(?!sdn|resources|status|tasks|nextid|options|ha|log|qemu|firewall|backup|config)|\/(ceph|lxc|apt|certificates|disks|hardware|scan|fabrics|replication|prefix-lists|route-maps|remote_migrate|mtunnel|mtunnelwebsocket|dbus-vmstate|spiceshell|file-restore|query-oci-repo-tags|oci-registry-pull)(\/|$)/
/** Of areas that are left out, the lists that programs read to find them empty. */
const still = new Set([
  "GET /nodes/{node}/lxc",
  "GET /nodes/{node}/replication",
  "GET /cluster/replication",
  "GET /cluster/mapping/dir",
  "GET /cluster/mapping/pci",
  "GET /cluster/mapping/usb",
  "GET /cluster/metrics/server",
])
const kept = new Set([
  "additionalProperties",
  "alias",
  "default_key",
  "enum",
  "format",
  "items",
  "keyAlias",
  "maxLength",
  "maximum",
  "minLength",
  "minimum",
  "optional",
  "oneOf",
  "instance-types",
  "type-property",
  "pattern",
  "properties",
  "requires",
  "type",
])

const isRecord = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A property definition without everything that is not interface. */
const slim = (definition: Json): Json => {
  if (!isRecord(definition)) return definition
  const out: { [key: string]: Json } = {}
  for (const key of Object.keys(definition).toSorted()) {
    const value = definition[key]!
    if (!kept.has(key)) continue
    if ((key === "properties" || key === "format") && isRecord(value)) {
      out[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, slim(inner)]))
    } else if (key === "oneOf" && Array.isArray(value)) out[key] = value.map(slim)
    else if (key === "items") out[key] = slim(value)
    else out[key] = value
  }
  return out
}

const source = process.argv[2] ?? "../shared/pve/apidoc.json"
const document = JSON.parse(readFileSync(source, "utf8")) as { paths: Record<string, Record<string, Method>> }
const definitions: string[] = []
const index = new Map<string, number>()
const intern = (definition: Json): number => {
  const text = JSON.stringify(slim(definition))
  const known = index.get(text)
  if (known !== undefined) return known
  index.set(text, definitions.length)
  definitions.push(text)
  return definitions.length - 1
}

// the root is not in the published schema, as it has no path
const lines: string[] = ['"GET /":{"parameters":{},"permissions":{"user":"all"}}']
for (const [path, methods] of Object.entries(document.paths)) {
  if (!wanted.test(path)) continue
  for (const [verb, method] of Object.entries(methods)) {
    if (unwanted.test(path) && !still.has(`${verb} ${path}`)) continue
    const properties = method.parameters?.properties ?? {}
    const entry = {
      parameters: Object.fromEntries(Object.entries(properties).map(([name, definition]) => [name, intern(definition)])),
      ...(method.parameters?.additionalProperties === 0 ? {} : { open: 1 }),
      ...(method.allowtoken === 0 ? { allowtoken: 0 } : {}),
      ...(method.protected === 1 ? { protected: 1 } : {}),
      ...(method.proxyto === undefined ? {} : { proxyto: method.proxyto }),
      ...(method.permissions === undefined ? {} : { permissions: method.permissions }),
    }
    lines.push(`${JSON.stringify(`${verb} ${path}`)}:${JSON.stringify(entry)}`)
  }
}
const out = `{"definitions":[\n${definitions.join(",\n")}\n],"methods":{\n${lines.join(",\n")}\n}}\n`
writeFileSync(new URL("../src/schema/pve-api.json", import.meta.url), out)
process.stdout.write(`${lines.length} methods, ${definitions.length} definitions, ${out.length} bytes\n`)

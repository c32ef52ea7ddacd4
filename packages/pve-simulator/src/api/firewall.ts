import { isIP } from "node:net"
import { badParameter, failure } from "../core/errors.ts"
import { firewallOf, firewallToChange } from "../core/firewall.ts"
import type { Config, Firewall } from "../core/state.ts"
import { flag, optionalNumber, optionalText, text, type Call, type Handler, type Routes } from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { checkDigest, digestOfPart } from "./digests.ts"
import { firewallMacros } from "./firewall-macros.ts"

/** The owner of a firewall: the cluster, a node, a VM or a VNet. */
interface Scope {
  readonly base: string
  readonly owner: (call: Call) => string
  /** Children of its path. */
  readonly children: readonly string[]
}

const cluster: Scope = {
  base: "/cluster/firewall",
  owner: () => "cluster",
  children: ["rules", "options", "groups", "aliases", "ipset", "macros", "refs"],
}
const node: Scope = {
  base: "/nodes/{node}/firewall",
  owner: (call) => `node ${text(call, "node")}`,
  children: ["rules", "options", "log"],
}
const guest: Scope = {
  base: "/nodes/{node}/qemu/{vmid}/firewall",
  owner: (call) => `vm ${text(call, "vmid")}`,
  children: ["rules", "aliases", "ipset", "refs", "options", "log"],
}
const vnet: Scope = {
  base: "/cluster/sdn/vnets/{vnet}/firewall",
  owner: (call) => `vnet ${text(call, "vnet")}`,
  children: ["rules", "options"],
}

const read = (scope: Scope, call: Call): Firewall => firewallOf(call.world.state, scope.owner(call))
const change = (scope: Scope, call: Call): Firewall => firewallToChange(call.world.state, scope.owner(call))

const steering = new Set(["node", "vmid", "vnet", "group", "pos", "moveto", "digest", "delete", "name", "rename", "force"])

/** The options that a call sets, without parameters that only control the call. */
const settings = (call: Call): Config =>
  Object.fromEntries(Object.entries(call.parameters).filter(([key]) => !steering.has(key))) as Config

const withComment = (comment: string | undefined) => (comment === undefined ? {} : { comment })

// Rules

/** The rules of a scope, or of a security group. */
interface RuleList {
  readonly scope: Scope
  readonly rules: (firewall: Firewall, call: Call) => Config[]
  readonly isGroup: boolean
}

const groupNamed = (firewall: Firewall, name: string) => {
  const group = firewall.groups.get(name)
  if (group === undefined) throw failure(`no such security group '${name}'`)
  return group
}

const shownRule = (rule: Config, pos: number, digest: string) => {
  const version = [rule["source"], rule["dest"]].map((address) => isIP(String(address ?? "").split("/")[0]!)).find(Boolean)
  return { ...rule, ...(version === undefined ? {} : { ipversion: version }), pos, digest }
}

const ruleAt = (rules: readonly Config[], call: Call): Config => {
  const rule = rules[optionalNumber(call, "pos") ?? 0]
  if (rule === undefined) throw failure(`no rule at position ${text(call, "pos")}`)
  return rule
}

/** Whether a name used as an address exists: an alias, or with `+` an IP set. */
const isKnownName = (call: Call, scope: Scope, address: string): boolean => {
  const [, mark, where, name = ""] = /^(\+?)(?:(dc|guest)\/)?(.+)$/u.exec(address) ?? []
  const places = [...(where === "dc" ? [] : [read(scope, call)]), ...(where === "guest" ? [] : [read(cluster, call)])]
  return places.some(({ aliases, ipsets }) => (mark === "+" ? ipsets.has(name) : aliases.has(name.toLowerCase())))
}

const isAddress = (address: string): boolean =>
  address.split("-").every((end) => isIP(end.split("/")[0]!) !== 0 && /^[^/]+(?:\/\d{1,3})?$/u.test(end))

const checkAddresses = (call: Call, scope: Scope, key: "source" | "dest", value: string): void => {
  for (const address of splitList(value)) {
    if (isAddress(address) || isKnownName(call, scope, address)) continue
    const what = address.startsWith("+") ? `no such ipset '${address.slice(1)}'` : `no such alias '${address}'`
    throw badParameter({ [key]: what })
  }
}

const withPorts = new Set(["tcp", "udp", "dccp", "sctp", "udplite", "6", "17", "33", "132", "136", "icmp", "ipv6-icmp"])

/** Refuses a rule with unknown names. */
const checkRule = (call: Call, { scope, isGroup }: RuleList, rule: Config): void => {
  const action = String(rule["action"] ?? "")
  if (rule["type"] === "group") {
    if (isGroup) throw badParameter({ type: "security groups not allowed" })
    if (!read(cluster, call).groups.has(action)) throw badParameter({ action: `security group '${action}' does not exist` })
  } else if (!/^(?:ACCEPT|DROP|REJECT)$/u.test(action)) throw badParameter({ action: `unknown action '${action}'` })
  const isMisplaced = scope === vnet ? /^(?:in|out)$/u.test(String(rule["type"])) : scope === guest && rule["type"] === "forward"
  if (isMisplaced) throw badParameter({ type: `unknown rule type '${rule["type"]}'` })
  const macro = rule["macro"]
  if (macro !== undefined && !firewallMacros.has(String(macro))) throw badParameter({ macro: `unknown macro '${macro}'` })
  if (rule["iface"] !== undefined && scope === guest && !/^net\d+$/u.test(String(rule["iface"])))
    throw badParameter({ iface: "invalid interface name" })
  for (const key of ["dport", "sport"])
    if (rule[key] !== undefined && macro === undefined && !withPorts.has(String(rule["proto"] ?? "")))
      throw badParameter({ proto: `missing property - '${key}' requires this property` })
  for (const key of ["source", "dest"] as const) if (rule[key] !== undefined) checkAddresses(call, scope, key, String(rule[key]))
}

const moved = (rules: Config[], from: number, to: number): void => {
  const [rule] = rules.splice(from, 1)
  if (rule !== undefined) rules.splice(to > from ? to - 1 : to, 0, rule)
}

const createRule =
  (list: RuleList): Handler =>
  (call) => {
    const rule: Config = { enable: 0, ...withoutEmpty(settings(call)) }
    const rules = list.rules(change(list.scope, call), call)
    checkDigest(call, rules)
    checkRule(call, list, rule)
    // new rules go to the top, whatever position was requested
    rules.unshift(rule)
    return null
  }

const updateRule =
  (list: RuleList): Handler =>
  (call) => {
    const rules = list.rules(change(list.scope, call), call)
    const rule = ruleAt(rules, call)
    checkDigest(call, rules)
    const to = optionalNumber(call, "moveto")
    const from = rules.indexOf(rule)
    if (to !== undefined && to !== from) {
      moved(rules, from, to)
      return null
    }
    const changed = withoutEmpty({ ...rule, ...settings(call) })
    for (const key of splitList(optionalText(call, "delete") ?? "")) delete changed[key]
    checkRule(call, list, changed)
    rules[from] = changed
    return null
  }

/** Drops empty values, which unset an option. */
const withoutEmpty = (rule: Config): Config => Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== ""))

const deleteRule =
  (list: RuleList): Handler =>
  (call) => {
    const rules = list.rules(change(list.scope, call), call)
    const rule = ruleAt(rules, call)
    checkDigest(call, rules)
    rules.splice(rules.indexOf(rule), 1)
    return null
  }

const rulesBelow = (path: string, list: RuleList): Routes => ({
  [`GET ${path}`]: (call) => {
    const rules = list.rules(read(list.scope, call), call)
    return rules.map((rule, pos) => shownRule(rule, pos, digestOfPart(rules)))
  },
  [`POST ${path}`]: createRule(list),
  [`GET ${path}/{pos}`]: (call) => {
    const rules = list.rules(read(list.scope, call), call)
    return shownRule(ruleAt(rules, call), optionalNumber(call, "pos") ?? 0, digestOfPart(rules))
  },
  [`PUT ${path}/{pos}`]: updateRule(list),
  [`DELETE ${path}/{pos}`]: deleteRule(list),
})

const rulesOf = (scope: Scope): Routes =>
  rulesBelow(`${scope.base}/rules`, { scope, rules: ({ rules }) => rules, isGroup: false })

// Options

const optionsOf = (scope: Scope): Routes => ({
  [`GET ${scope.base}`]: () => scope.children.map((name) => ({ name })),
  [`GET ${scope.base}/options`]: (call) => {
    const { options } = read(scope, call)
    return { ...options, digest: digestOfPart(options) }
  },
  [`PUT ${scope.base}/options`]: (call) => {
    const { options } = change(scope, call)
    checkDigest(call, options)
    for (const key of splitList(optionalText(call, "delete") ?? "")) delete options[key]
    Object.assign(options, settings(call))
    return null
  },
})

/** No packet is ever logged. */
const noLog: Handler = (call) => {
  call.beside["total"] = 1
  return [{ n: 1, t: "no content" }]
}

const logOf = (scope: Scope): Routes => ({ [`GET ${scope.base}/log`]: noLog })

// Aliases

const aliasNamed = (firewall: Firewall, call: Call) => {
  const alias = firewall.aliases.get(text(call, "name").toLowerCase())
  if (alias === undefined) throw badParameter({ name: "no such alias" })
  return alias
}

const aliasesOf = (scope: Scope): Routes => ({
  [`GET ${scope.base}/aliases`]: (call) => {
    const { aliases } = read(scope, call)
    return [...aliases.values()].map((alias) => ({ ...shownAlias(alias), digest: digestOfPart(aliases) }))
  },
  [`POST ${scope.base}/aliases`]: (call) => {
    const { aliases } = change(scope, call)
    const name = text(call, "name")
    if (aliases.has(name.toLowerCase())) throw badParameter({ name: `alias '${name}' already exists` })
    aliases.set(name.toLowerCase(), { name, cidr: text(call, "cidr"), comment: optionalText(call, "comment") })
    return null
  },
  [`GET ${scope.base}/aliases/{name}`]: (call) => {
    const firewall = read(scope, call)
    return { ...shownAlias(aliasNamed(firewall, call)), digest: digestOfPart(firewall.aliases) }
  },
  [`PUT ${scope.base}/aliases/{name}`]: (call) => {
    const firewall = change(scope, call)
    const alias = aliasNamed(firewall, call)
    checkDigest(call, firewall.aliases)
    const name = optionalText(call, "rename") ?? alias.name
    if (name.toLowerCase() !== alias.name.toLowerCase() && firewall.aliases.has(name.toLowerCase()))
      throw badParameter({ name: `alias '${name}' already exists` })
    firewall.aliases.delete(alias.name.toLowerCase())
    firewall.aliases.set(name.toLowerCase(), { name, cidr: text(call, "cidr"), comment: optionalText(call, "comment") })
    return null
  },
  [`DELETE ${scope.base}/aliases/{name}`]: (call) => {
    const { aliases } = change(scope, call)
    checkDigest(call, aliases)
    aliases.delete(text(call, "name").toLowerCase())
    return null
  },
})

const shownAlias = ({
  name,
  cidr,
  comment,
}: {
  readonly name: string
  readonly cidr: string
  readonly comment: string | undefined
}) => ({
  name,
  cidr,
  ...withComment(comment),
  ...(isIP(cidr.split("/")[0]!) === 0 ? {} : { ipversion: isIP(cidr.split("/")[0]!) }),
})

// IP sets

const setNamed = (firewall: Firewall, call: Call) => {
  const set = firewall.ipsets.get(text(call, "name"))
  if (set === undefined) throw failure(`no such IPSet '${text(call, "name")}'`)
  return set
}

const entryOf = (firewall: Firewall, call: Call) => {
  const { entries } = setNamed(firewall, call)
  const entry = entries.get(text(call, "cidr"))
  if (entry === undefined) throw badParameter({ cidr: "no such IP/Network" })
  return { entries, entry }
}

const shownEntry = (cidr: string, entry: Config) => ({ cidr, ...entry })

const newSet =
  (scope: Scope): Handler =>
  (call) => {
    const { ipsets } = change(scope, call)
    checkDigest(call, ipsets)
    const name = text(call, "name")
    const old = optionalText(call, "rename")
    const comment = optionalText(call, "comment")
    if (old === undefined) {
      if (ipsets.has(name)) throw badParameter({ name: `IPSet '${name}' already exists` })
      ipsets.set(name, { comment, entries: new Map() })
      return null
    }
    const set = ipsets.get(old)
    if (set === undefined) throw badParameter({ name: `IPSet '${old}' does not exist` })
    if (name !== old && ipsets.has(name)) throw badParameter({ name: `IPSet '${name}' already exists` })
    ipsets.delete(old)
    ipsets.set(name, { comment: comment ?? set.comment, entries: set.entries })
    return null
  }

const setsOf = (scope: Scope): Routes => ({
  [`GET ${scope.base}/ipset`]: (call) => {
    const { ipsets } = read(scope, call)
    return [...ipsets].map(([name, { comment }]) => ({ name, ...withComment(comment), digest: digestOfPart(ipsets) }))
  },
  [`POST ${scope.base}/ipset`]: newSet(scope),
  [`GET ${scope.base}/ipset/{name}`]: (call) => {
    const { entries } = setNamed(read(scope, call), call)
    return [...entries].map(([cidr, entry]) => ({ ...shownEntry(cidr, entry), digest: digestOfPart(entries) }))
  },
  [`DELETE ${scope.base}/ipset/{name}`]: (call) => {
    const firewall = change(scope, call)
    if (setNamed(firewall, call).entries.size > 0 && !flag(call, "force"))
      throw failure(`IPSet '${text(call, "name")}' is not empty`)
    firewall.ipsets.delete(text(call, "name"))
    return null
  },
  [`POST ${scope.base}/ipset/{name}`]: (call) => {
    const { entries } = setNamed(change(scope, call), call)
    const { cidr = "", ...entry } = settings(call)
    if (entries.has(String(cidr))) throw badParameter({ cidr: `address '${cidr}' already exists` })
    if (!isAddress(String(cidr)) && !isKnownName(call, scope, String(cidr)))
      throw badParameter({ cidr: `no such alias '${cidr}'` })
    entries.set(String(cidr), entry)
    return null
  },
  [`GET ${scope.base}/ipset/{name}/{cidr}`]: (call) => {
    const { entries, entry } = entryOf(read(scope, call), call)
    return { ...shownEntry(text(call, "cidr"), entry), digest: digestOfPart(entries) }
  },
  [`PUT ${scope.base}/ipset/{name}/{cidr}`]: (call) => {
    const { entries, entry } = entryOf(change(scope, call), call)
    checkDigest(call, entries)
    const { cidr = "", ...changed } = settings(call)
    entries.set(String(cidr), { ...entry, ...changed })
    return null
  },
  [`DELETE ${scope.base}/ipset/{name}/{cidr}`]: (call) => {
    const { entries } = setNamed(change(scope, call), call)
    checkDigest(call, entries)
    entries.delete(text(call, "cidr"))
    return null
  },
})

/** The names that rules of a scope may use. */
const refsOf = (scope: Scope): Routes => ({
  [`GET ${scope.base}/refs`]: (call) => {
    const wanted = optionalText(call, "type")
    const places = scope === cluster ? [[cluster, "dc"] as const] : [[cluster, "dc"] as const, [scope, "guest"] as const]
    return places.flatMap(([place, label]) => {
      const { aliases, ipsets } = read(place, call)
      return [
        ...[...aliases.values()].map(({ name, comment }) => ({
          type: "alias",
          name,
          ref: `${label}/${name}`,
          scope: label,
          ...withComment(comment),
        })),
        ...[...ipsets].map(([name, { comment }]) => ({
          type: "ipset",
          name,
          ref: `+${label}/${name}`,
          scope: label,
          ...withComment(comment),
        })),
      ].filter(({ type }) => wanted === undefined || type === wanted)
    })
  },
})

// Security groups

const newGroup: Handler = (call) => {
  const { groups } = change(cluster, call)
  checkDigest(call, groups)
  const name = text(call, "group")
  const old = optionalText(call, "rename")
  const comment = optionalText(call, "comment")
  if (old === undefined) {
    if (groups.has(name)) throw badParameter({ group: `Security group '${name}' already exists` })
    groups.set(name, { comment, rules: [] })
    return null
  }
  const group = groups.get(old)
  if (group === undefined) throw badParameter({ group: `Security group '${old}' does not exist` })
  if (name !== old && groups.has(name)) throw badParameter({ group: `Security group '${name}' already exists` })
  groups.delete(old)
  groups.set(name, { comment: comment ?? group.comment, rules: group.rules })
  return null
}

const groups: Routes = {
  "GET /cluster/firewall/groups": (call) => {
    const firewall = read(cluster, call)
    return [...firewall.groups].map(([group, { comment }]) => ({
      group,
      ...withComment(comment),
      digest: digestOfPart(firewall.groups),
    }))
  },
  "POST /cluster/firewall/groups": newGroup,
  "DELETE /cluster/firewall/groups/{group}": (call) => {
    const firewall = change(cluster, call)
    if (groupNamed(firewall, text(call, "group")).rules.length > 0)
      throw failure(`Security group '${text(call, "group")}' is not empty`)
    firewall.groups.delete(text(call, "group"))
    return null
  },
  ...rulesBelow("/cluster/firewall/groups/{group}", {
    scope: cluster,
    rules: (firewall, call) => groupNamed(firewall, text(call, "group")).rules,
    isGroup: true,
  }),
  "GET /cluster/firewall/macros": () => [...firewallMacros].map((macro) => ({ macro, descr: `Traffic of ${macro}` })),
}

/** The schema prescribes no permissions for calls about a VNet: the handlers check them. */
const ofVnet = (routes: Routes): Routes =>
  Object.fromEntries(
    Object.entries(routes).map(([key, handler]): [string, Handler] => [
      key,
      (call) => {
        const id = text(call, "vnet")
        const known = call.world.state.sdn.config.vnets.get(id)
        if (known === undefined) throw failure(`sdn vnet '${id}' does not exist`)
        const path = `/sdn/zones/${known["zone"]}/${id}`
        if (key.startsWith("GET ")) demand(call.world, call.identity, path, ["SDN.Audit", "SDN.Allocate"], true)
        else demand(call.world, call.identity, path, ["SDN.Allocate"])
        return handler(call)
      },
    ]),
  )

/** The firewall configuration of the cluster, nodes, VMs and VNets. No traffic is filtered. */
export const firewallRoutes: Routes = {
  ...groups,
  ...ofVnet({ ...rulesOf(vnet), ...optionsOf(vnet) }),
  ...[cluster, node, guest].reduce<Routes>((routes, scope) => ({ ...routes, ...rulesOf(scope), ...optionsOf(scope) }), {}),
  ...[cluster, guest].reduce<Routes>(
    (routes, scope) => ({ ...routes, ...aliasesOf(scope), ...setsOf(scope), ...refsOf(scope) }),
    {},
  ),
  ...[node, guest].reduce<Routes>((routes, scope) => ({ ...routes, ...logOf(scope) }), {}),
}

/** Random valid range configurations, in the form of the file. */
import fc from "fast-check"

export type FileObject = { readonly [key: string]: unknown }

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/)
const awkwardText = fc.oneof(
  word,
  fc.constantFrom(
    "yes",
    "no",
    "on",
    "1",
    "0x10",
    "20:25",
    "null",
    "~",
    "1.20",
    "{{ range_id }}-x",
    "a: b",
    "# c",
    " x ",
    "",
    "é😀",
    "*a",
    "&a",
    "!t",
    "- a",
  ),
)
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    awkwardText,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(awkwardText, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value
const variables = fc.dictionary(word, json, { maxKeys: 3, noNullPrototype: true })
const texts = fc.array(awkwardText, { maxLength: 3 })
const optional = { requiredKeys: [] as [] }

const windows = fc.record(
  {
    sysprep: fc.boolean(),
    install_additional_tools: fc.boolean(),
    chocolatey_ignore_checksums: fc.boolean(),
    chocolatey_packages: texts,
    office_version: fc.constantFrom(2013, 2016, 2019, 2021),
    office_arch: fc.constantFrom("64bit", "32bit"),
    visual_studio_version: fc.constantFrom(2017, 2019, 2022),
    autologon_user: awkwardText,
    autologon_password: awkwardText,
  },
  optional,
)
const system = fc.oneof(
  windows.map((options) => ({ windows: options })),
  fc.constant({ windows: { gpos: ["disable_defender"] }, domain: { fqdn: "corp.example", role: "primary-dc" } }),
  fc.boolean().map((linux) => ({ linux })),
  texts.map((packages) => ({ linux: { packages } })),
  fc.constant({ macOS: true }),
)
const role = fc.oneof(
  word,
  fc.record(
    { name: word, depends_on: fc.array(fc.record({ vm_name: awkwardText, role: word }), { maxLength: 2 }) },
    { requiredKeys: ["name"] },
  ),
)
const testing = fc.record({ snapshot: fc.boolean(), block_internet: fc.boolean() })

export const machineFile: fc.Arbitrary<FileObject> = fc
  .tuple(
    fc.record(
      {
        vm_name: awkwardText,
        hostname: awkwardText,
        template: awkwardText,
        vlan: fc.integer({ min: 2, max: 255 }),
        ip_last_octet: fc.integer({ min: 1, max: 253 }),
        ram_gb: fc.integer({ min: 1, max: 4096 }),
        cpus: fc.integer({ min: 1, max: 512 }),
        ram_min_gb: fc.constantFrom(0.5, 1, 2.5, 4096),
        full_clone: fc.boolean(),
        force_ip: fc.boolean(),
        unmanaged: fc.boolean(),
        testing,
        roles: fc.array(role, { maxLength: 3 }),
        role_vars: json,
        ansible_groups: texts,
        dns_rewrites: texts,
        primary_dns_server: awkwardText,
        target_node: awkwardText,
      },
      { requiredKeys: ["vm_name", "hostname", "template", "vlan", "ip_last_octet", "ram_gb", "cpus"] },
    ),
    system,
  )
  .map(([common, kind]) => ({ ...common, ...kind }))

const action = fc.constantFrom("ACCEPT", "REJECT", "DROP")
const octets = fc.oneof(
  fc.integer({ min: 1, max: 255 }),
  fc.tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 100, max: 255 })).map(([first, last]) => `${first}-${last}`),
)
const port = fc.oneof(
  fc.integer({ min: 0, max: 65_535 }).map(String),
  fc
    .tuple(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 30_000, max: 65_535 }))
    .map(([first, last]) => `${first}:${last}`),
)
const traffic = fc.oneof(
  fc.record({ protocol: fc.constantFrom("icmp", "esp", "all", "tcp"), ports: fc.constant("all") }),
  fc.record({ protocol: fc.constantFrom("tcp", "udp", "sctp"), ports: fc.integer({ min: 0, max: 65_535 }) }),
  fc.record({
    protocol: fc.constantFrom("tcp", "udp"),
    ports: fc.array(port, { minLength: 1, maxLength: 3 }).map((list) => list.join(" , ")),
  }),
)
const vlanOrVpn = fc.oneof(fc.integer({ min: 2, max: 5 }), fc.constant("wireguard"))
const side = (name: "src" | "dst"): fc.Arbitrary<FileObject> =>
  fc.oneof(
    fc.constantFrom("all", "public").map((zone) => ({ [`vlan_${name}`]: zone })),
    vlanOrVpn.map((zone) => ({ [`vlan_${name}`]: zone })),
    fc.tuple(vlanOrVpn, octets).map(([zone, range]) => ({ [`vlan_${name}`]: zone, [`ip_last_octet_${name}`]: range })),
  )
const rule: fc.Arbitrary<FileObject> = fc
  .tuple(fc.record({ name: awkwardText, action }), traffic, side("src"), side("dst"))
  .map((parts) => Object.assign({}, ...parts) as FileObject)

export const networkFile = fc.record(
  {
    inter_vlan_default: action,
    external_default: action,
    wireguard_vlan_default: action,
    always_blocked_networks: fc.subarray(["192.168.1.0/24", "172.16.0.0/12"]),
    rules: fc.array(rule, { maxLength: 6 }),
  },
  optional,
)
const router = fc.record(
  {
    vm_name: awkwardText,
    template: awkwardText,
    ram_gb: fc.integer({ min: 1, max: 64 }),
    ram_min_gb: fc.constantFrom(0.5, 1),
    cpus: fc.integer({ min: 1, max: 16 }),
    roles: fc.array(role, { maxLength: 2 }),
    role_vars: variables,
    iptables_commands: texts,
    outbound_wireguard_config: awkwardText,
    outbound_wireguard_vlans: fc.array(fc.integer({ min: 2, max: 255 }), { maxLength: 2 }),
    inbound_wireguard: fc.record({ enabled: fc.boolean(), port: fc.constant(51_820) }, { requiredKeys: ["enabled"] }),
  },
  optional,
)
const defaults = fc.record(
  {
    snapshot_with_RAM: fc.boolean(),
    stale_hours: fc.integer(),
    ad_domain_functional_level: fc.constantFrom("Win2003", "WinThreshold", "Win2025"),
    ad_domain_admin: awkwardText,
    timezone: awkwardText,
    enable_dynamic_wallpaper: fc.boolean(),
  },
  optional,
)

/** Valid by every rule of a single file; names and addresses may collide. */
export const rangeFile: fc.Arbitrary<FileObject> = fc.record(
  {
    ludus: fc.array(machineFile, { maxLength: 4 }),
    router,
    network: networkFile,
    defaults,
    global_role_vars: json,
    notify: fc.record({ urls: texts }),
    ludus_extensions: variables,
  },
  { requiredKeys: ["ludus"] },
)

/** The keys of the firewall and of the router. */
import { routerDefaults } from "./defaults.ts"
import { roleUse } from "./declare-machine.ts"
import { any, choice, defaulted, either, flag, list, number, object, optional, required, text, whole, wholeOf } from "./shape.ts"

const action = choice("ACCEPT", "REJECT", "DROP")
const zone = either(whole(2, 255), choice("public", "all", "wireguard"))
const octets = either(
  whole(1, 255),
  text({ pattern: { expression: /^\d{1,3}-\d{1,3}$/u, allowed: 'a range such as "10-19"' }, maxLength: 7 }),
)
const ports = either(
  whole(0, 65_535),
  text({
    pattern: {
      expression: /^(all|\d{1,5}(:\d{1,5})?(\s*,\s*\d{1,5}(:\d{1,5})?)*)$/u,
      allowed: '`all`, or a list such as "80, 443, 8000:8010"',
    },
    maxLength: 4096,
  }),
)

const rule = object({
  name: required(text(), "What the rule is for; becomes a comment on the rule in the router."),
  vlan_src: required(
    zone,
    "Where traffic comes from: a VLAN, `all` of the range, `public` everything outside, `wireguard` the VPN.",
  ),
  ip_last_octet_src: optional(octets, "Only from this address of the VLAN, or this range of addresses."),
  vlan_dst: required(zone, "Destination of the traffic; as `vlan_src`."),
  ip_last_octet_dst: optional(octets, "Only to this address of the VLAN, or this range of addresses."),
  protocol: required(
    choice("tcp", "udp", "udplite", "icmp", "ipv6-icmp", "esp", "ah", "sctp", "all"),
    "Protocol of the traffic.",
  ),
  ports: defaulted(
    ports,
    "all",
    "Destination ports, for tcp, udp and sctp. Quote ranges: some YAML readers take an unquoted 20:25 for a number.",
    {
      examples: [443, "80, 443, 8000:8010", "all"],
    },
  ),
  action: required(action, "What happens to the traffic."),
})

export const network = object({
  inter_vlan_default: defaulted(action, "ACCEPT", "Between VLANs, unless a rule says otherwise."),
  external_default: defaulted(action, "ACCEPT", "From the range to the outside, where no rule says otherwise."),
  wireguard_vlan_default: defaulted(action, "REJECT", "From the range to VPN clients, where no rule says otherwise."),
  always_blocked_networks: defaulted(list(text()), [], "Networks outside that the range must never reach, as address/length.", {
    examples: [["192.168.1.0/24"]],
  }),
  rules: defaulted(list(rule), [], "Rules; where several match, the last one in the list decides."),
})

const cidr = { expression: /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/u, allowed: "an IPv4 network such as 10.254.254.0/24" }

export const router = object({
  vm_name: defaulted(text(), routerDefaults.name, "Name of the router on the hypervisor."),
  hostname: optional(text(), "Has no effect: the router's host name is always `{{ range_id }}-router`."),
  template: defaulted(text(), routerDefaults.template, "The template that the router is cloned from."),
  ram_gb: optional(whole(1, 4096), `Memory in GiB; ${routerDefaults.ramGb} when not set.`),
  ram_min_gb: optional(
    number(0.5, 4096),
    `Minimum memory in GiB that ballooning leaves; ${routerDefaults.ramMinGb} if neither is set.`,
  ),
  cpus: defaulted(whole(1, 512), routerDefaults.cpus, "Processor cores."),
  roles: defaulted(list(roleUse), [], "Ansible roles to run on the router."),
  role_vars: optional(any, "Variables of the router's roles, as an object."),
  outbound_wireguard_config: optional(
    text({ secret: true }),
    "A WireGuard client configuration; the VLANs below leave through it.",
  ),
  outbound_wireguard_vlans: defaulted(list(whole()), [], "VLANs whose traffic leaves through the outbound tunnel."),
  inbound_wireguard: optional(
    object({
      enabled: required(flag, "Run a WireGuard server on the router."),
      server_cidr: defaulted(text({ pattern: cidr }), "10.254.254.0/24", "Network of the server and its clients."),
      port: defaulted(wholeOf(51_820), 51_820, "UDP port of the server."),
      allowed_vlans: defaulted(list(whole(1, 255)), [], "VLANs that clients can reach; empty means all."),
    }),
    "A WireGuard server for guests of the range.",
  ),
  iptables_commands: defaulted(list(any), [], "Shell commands run on the router after its firewall is set up."),
  target_node: optional(text(), "Node of the cluster that the router is placed on."),
})

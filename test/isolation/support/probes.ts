import { entries } from "../../e2e/support/program.ts"
import { privateAddresses, privateIPv6Addresses } from "./outside-world.ts"

/** One attack that a tenant tries from where its tools run: an expression for `programs/prober.py`, which succeeds when it is true. */
export interface Probe {
  readonly name: string
  readonly code: string
  /** It moves objects that other probes need, so it runs after them. */
  readonly last?: true
}

/** The targets of the probes. */
export interface Targets {
  /** Addresses of the other tenant's machine, and of its router on both sides. */
  readonly machine: string
  readonly routerInside: string
  readonly routerOutside: string
  /** The service's address in the network of the routers. */
  readonly host: string
  /** The service's own address and port, and the hypervisor's. */
  readonly service: string
  readonly servicePort: number
  readonly hypervisor: string
  readonly hypervisorPort: number
  /** The service's process and its folder. */
  readonly pid: number
  readonly data: string
  /** The other tenant's id. */
  readonly victim: string
  /** The names of sockets and files of other programs on the service's host. */
  readonly neighbour: string
  /** A folder of the operator. */
  readonly operators: string
  /** A value in the service's environment. */
  readonly secret: string
}

/** Names that resolve to forbidden addresses. */
export const misleadingNames = ({ machine, hypervisor }: Targets) => ({
  "machine.example": [machine],
  "hypervisor.example": [hypervisor],
  "loopback.example": ["127.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "mixed.example": ["203.0.114.10", machine],
  "loopback6.example": ["::1"],
  "mapped.example": [`::ffff:${machine}`],
})

const py = (value: string | number): string => JSON.stringify(value)
const number = (address: string): number => address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)

/** Spellings of one IPv4 address that some resolver accepts. */
const spellings = (address: string): Readonly<Record<string, string>> => {
  const parts = address.split(".").map(Number)
  const [first = 0, second = 0, third = 0, fourth = 0] = parts
  return {
    "as one decimal number": String(number(address)),
    "as one hexadecimal number": `0x${number(address).toString(16)}`,
    "in octal parts": parts.map((part) => `0${part.toString(8)}`).join("."),
    "in hexadecimal parts": parts.map((part) => `0x${part.toString(16)}`).join("."),
    "in two parts": `${first}.${second * 65_536 + third * 256 + fourth}`,
    "in IPv6": `[::ffff:${address}]`,
    "in hexadecimal IPv6": `[::ffff:${number(address)
      .toString(16)
      .padStart(8, "0")
      .replace(/(.{4})/u, "$1:")}]`,
  }
}

/** Targets that are connected to directly, and through the proxy. */
const places = (targets: Targets): readonly (readonly [name: string, host: string, port: number])[] => [
  ["the other tenant's machine", targets.machine, 22],
  ["the other tenant's router, inside", targets.routerInside, 22],
  ["the other tenant's router, outside", targets.routerOutside, 22],
  ["name service of the other tenant's router", targets.routerInside, 53],
  ["name service of the service's host", targets.host, 53],
  ["a server on the service's host, from outside", targets.host, 7777],
  ["the service itself", targets.service, targets.servicePort],
  ["the hypervisor", targets.hypervisor, targets.hypervisorPort],
  ["loopback of the service's host", "127.0.0.1", 7777],
  ["another address of its loopback", "127.9.9.9", 7777],
  ["its resolver", "127.0.0.53", 53],
  ["the address that is none", "0.0.0.0", 7777],
  ["loopback by IPv6", "::1", 7777],
  ...Object.entries({ ...privateAddresses, ...privateIPv6Addresses }).map(([name, address]) => [name, address, 80] as const),
]

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host)

const overNetwork = (targets: Targets): readonly Probe[] => [
  ...places(targets).flatMap(([name, host, port]) => [
    { name: `connect to ${name}`, code: `tcp(${py(host)}, ${port})` },
    { name: `tunnel to ${name}`, code: `tunnel(${py(`${bracketed(host)}:${port}`)})` },
  ]),
  { name: "connect to a public server without the proxy", code: `tcp("203.0.114.10", 80)` },
  { name: "connect to a public server by IPv6 without the proxy", code: `tcp("2600:5::5", 80)` },
  { name: "connect to a link-local address", code: `tcp("fe80::5%world0", 80)` },
  { name: "tunnel to a link-local address", code: `tunnel("[fe80::5%world0]:80")` },
  { name: "log in to the other tenant's machine", code: `ssh("debian", "debian", ${py(targets.machine)})` },
  { name: "log in to it over the proxy", code: `ssh_over_proxy("debian", "debian", ${py(targets.machine)})` },
]

const withoutConnections = ({ hypervisor }: Targets): readonly Probe[] => [
  {
    name: "ask the host's resolver",
    code: `udp("127.0.0.53", 53, bytes.fromhex("000101000001000000000000076d616368696e65076578616d706c650000010001"))`,
  },
  { name: "resolve a name by the C library", code: `socket.getaddrinfo("machine.example", 22)` },
  { name: "send a datagram to a public server", code: `udp("203.0.114.10", 53)` },
  { name: "send a datagram to a private network", code: `udp("192.168.5.5", 123)` },
  { name: "send a datagram by IPv6", code: `udp("2600:5::5", 53, family=socket.AF_INET6)` },
  { name: "send to a multicast group", code: `udp("224.0.0.251", 5353)` },
  { name: "send a broadcast", code: `udp("203.0.114.255", 5353)` },
  { name: "ping, with a raw socket", code: `ping(${py(hypervisor)}, socket.SOCK_RAW)` },
  { name: "listen to all packets", code: `socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))` },
  { name: "find a network card beside loopback", code: `[name for _, name in socket.if_nameindex() if name != "lo"]` },
  { name: "read the host's routes", code: `read("/proc/net/route").count(b"\\n") > 1` },
  { name: "make a network card", code: `sh("ip link add rwprobe type bridge && ip link del rwprobe")` },
]

/** Requests to a proxy other than plain tunnels. */
const overProxy = ({ machine, routerOutside, hypervisor, hypervisorPort }: Targets): readonly Probe[] => [
  ...Object.entries(spellings("192.168.5.5")).flatMap(([how, spelled]) => [
    { name: `tunnel to a private address spelled ${how}`, code: `tunnel(${py(`${spelled}:80`)})` },
    { name: `get from a private address spelled ${how}`, code: `get(${py(`http://${spelled}/`)})` },
  ]),
  ...["machine", "mixed", "mapped"].flatMap((name) => [
    { name: `tunnel to the other tenant's machine as ${name}.example`, code: `tunnel("${name}.example:22")` },
    { name: `tunnel to it as ${name}.example with a dot at the end`, code: `tunnel("${name}.example.:22")` },
    { name: `tunnel to it as ${name}.example in capitals`, code: `tunnel("${name.toUpperCase()}.EXAMPLE:22")` },
  ]),
  { name: "tunnel to loopback by a name", code: `tunnel("loopback.example:7777")` },
  { name: "tunnel to loopback by a name of IPv6", code: `tunnel("loopback6.example:7777")` },
  { name: "tunnel to loopback as localhost", code: `tunnel("localhost:7777")` },
  { name: "get from loopback by a name", code: `get("http://loopback.example:7777/")` },
  { name: "get from loopback as localhost", code: `get("http://localhost:7777/")` },
  { name: "get from loopback as LOCALHOST", code: `get("http://LOCALHOST:7777/")` },
  { name: "get metadata of a cloud", code: `get("http://169.254.169.254/")` },
  { name: "get metadata of a cloud by a name", code: `get("http://metadata.example/")` },
  { name: "get from a private address with a public one before an @", code: `get("http://203.0.114.10@192.168.5.5/")` },
  { name: "get from a private address by IPv6", code: `get("http://[fd00:5::5]/")` },
  { name: "get the SSH banner of the other tenant's machine", code: `get("http://${machine}:22/", until=b"SSH-2.0")` },
  { name: "get the SSH banner of the other tenant's router", code: `get("http://${routerOutside}:22/", until=b"SSH-2.0")` },
  { name: "tunnel to the hypervisor by a name", code: `tunnel("hypervisor.example:${hypervisorPort}")` },
  {
    name: "log in to the hypervisor's interface",
    code: `ssl._create_unverified_context().wrap_socket(tunnel("${hypervisor}:${hypervisorPort}"))`,
  },
]

const odd: readonly Probe[] = [
  {
    name: "send a second request behind a refused tunnel",
    code: `raw("CONNECT 192.168.5.5:80 HTTP/1.1\\r\\n\\r\\nGET http://192.168.5.5/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")`,
  },
  { name: "name another host in the header", code: `raw("GET / HTTP/1.1\\r\\nHost: 192.168.5.5\\r\\n\\r\\n")` },
  {
    name: "name another host in the header of a tunnel",
    code: `raw("CONNECT 203.0.114.10:1 HTTP/1.1\\r\\nHost: 192.168.5.5:80\\r\\n\\r\\nGET / HTTP/1.0\\r\\n\\r\\n")`,
  },
  {
    name: "smuggle a header into a tunnel's address",
    code: `raw("CONNECT 192.168.5.5:80\\tHTTP/1.1\\r\\n\\r\\nGET / HTTP/1.0\\r\\n\\r\\n")`,
  },
  {
    name: "smuggle a request into a body of two lengths",
    code: `raw("POST http://203.0.114.10/x HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://192.168.5.5/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")`,
  },
  { name: "get by another protocol", code: `raw("GET file:///etc/shadow HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", b"root:")` },
  {
    name: "upgrade a request to a private address",
    code: `raw("GET http://192.168.5.5/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n")`,
  },
]

/** Probes that a plain proxy, as the proof without the defense uses, does not understand; other probes prove that their targets exist. */
export const oddProbes = new Set(odd.map(({ name }) => name))

const overSockets = ({ neighbour, operators }: Targets): readonly Probe[] => [
  { name: "connect to an abstract socket of the host", code: `unix("\\0" + ${py(neighbour)})` },
  { name: "connect to a socket in /run", code: `unix("/run/${neighbour}.sock")` },
  { name: "connect to a socket in /tmp", code: `unix("/tmp/${neighbour}.sock")` },
  { name: "connect to a socket in /dev/shm", code: `unix("/dev/shm/${neighbour}.sock")` },
  { name: "connect to a socket in a folder of the operator", code: `unix("${operators}/own.sock")` },
  { name: "see sockets of the host", code: `read("/proc/net/unix").find(${py(neighbour)}.encode()) >= 0` },
]

const processes = ({ pid, secret }: Targets): readonly Probe[] => {
  const ofService = `/proc/${pid}`
  return [
    { name: "see the service's process", code: `os.stat("${ofService}")` },
    { name: "read the service's environment", code: `b"RANGEWRIGHT_" in read("${ofService}/environ")` },
    {
      name: "read any process's environment with a secret of the service",
      code: `any_process(${py(secret)}.encode(), "environ")`,
    },
    { name: "read the service's command line", code: `any_process(b"${entries.server}", "cmdline")` },
    { name: "see any process of root outside", code: `any_process(b"dnsmasq", "cmdline")` },
    { name: "look into the service's root folder", code: `os.listdir("${ofService}/root/root") is not None` },
    { name: "list the service's open files", code: `os.listdir("${ofService}/fd")` },
    { name: "open the service's memory", code: `os.close(os.open("${ofService}/mem", os.O_RDONLY)) is None` },
    { name: "signal the service", code: `os.kill(${pid}, 0) is None` },
    { name: "take hold of the service", code: `os.close(os.pidfd_open(${pid})) is None` },
    { name: "trace the service", code: `checked(libc.ptrace(0x4206, ${pid}, 0, 0))` },
    { name: "join the service's network", code: `checked(libc.setns(os.open("${ofService}/ns/net", os.O_RDONLY), 0))` },
    { name: "join the service's files", code: `checked(libc.setns(os.open("${ofService}/ns/mnt", os.O_RDONLY), 0))` },
    {
      name: "see more than its own processes",
      code: `len(glob.glob("/proc/[0-9]*")) > 400 or any_process(b"vitest", "cmdline")`,
    },
    { name: "raise its own priority", code: `os.nice(-5) is not None` },
    {
      name: "find keys and tokens in its environment",
      code: `[name for name, value in os.environ.items() if name.startswith("RANGEWRIGHT") or ${py(secret)} in value]`,
    },
  ]
}

const kernel: readonly Probe[] = [
  { name: "become root", code: `checked(libc.setuid(0)) and os.getuid() == 0` },
  { name: "become root by sudo", code: `sh("test $(sudo -n id -u) = 0")` },
  { name: "use a program that runs as root", code: `sh("test $(su -c 'id -u' root) = 0")` },
  {
    name: "have any capability",
    code: `int([line.split()[1] for line in open("/proc/self/status") if line.startswith("CapBnd") or line.startswith("CapEff")][0], 16)`,
  },
  { name: "make a user namespace", code: `sh("unshare -U true")` },
  { name: "make a network namespace", code: `sh("unshare -n true")` },
  { name: "make a user namespace as root of it", code: `sh("unshare -Urm true")` },
  { name: "mount a file system", code: `sh("unshare -m sh -c 'mount -t tmpfs none /mnt'")` },
  { name: "mount by itself", code: `checked(libc.mount(b"none", b"/mnt", b"tmpfs", 0, None)) and checked(libc.umount(b"/mnt"))` },
  { name: "change its root folder", code: `os.chroot("/tmp") is None` },
  {
    name: "make a device",
    code: `os.mknod("/tmp/rw-probe-device", stat.S_IFBLK | 0o600, os.makedev(7, 0)) is None and os.unlink("/tmp/rw-probe-device") is None`,
  },
  { name: "name the program that the host runs for crashes", code: `to_write("/proc/sys/kernel/core_pattern")` },
  { name: "turn the kernel's wheels", code: `to_write("/proc/sys/vm/overcommit_memory")` },
  { name: "turn the network's wheels", code: `to_write("/proc/sys/net/ipv4/ip_forward")` },
  { name: "name the host", code: `socket.sethostname(socket.gethostname()) is None` },
  { name: "see the kernel's devices", code: `os.listdir("/sys/class/net")` },
  { name: "set the clock", code: `time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME)) is None` },
  {
    name: "see the host's devices",
    code: `[name for name in os.listdir("/dev") if name in ("mem", "kmsg", "loop-control", "fuse", "net", "kvm", "sda", "vda", "vsock")]`,
  },
]

const files = ({ data, operators, victim, neighbour }: Targets): readonly Probe[] => [
  ...Object.entries({
    "roles of the other tenant": `${data}/library/users/${victim}`,
    "files that roles of the other tenant keep": `${data}/playbook-runs/workspaces/range-of-${victim}/${victim}`,
    "facts of the other tenant's machines": `${data}/playbook-runs/facts/${victim}`,
    "root's home": "/root",
    "homes of people": "/home",
    "the service's state": "/var/lib",
    "logs of the host": "/var/log",
    "the operator's files": operators,
    "settings of namespaces": "/etc/netns",
  }).map(([name, folder]) => ({ name: `list ${name}`, code: `os.listdir(${py(folder)})` })),
  ...Object.entries({
    "the key that seals secrets": `${data}/secret-key`,
    "the key of ROOT": `${data}/root-api-key`,
    "the database": `${data}/rangewright.db`,
    "the key of the certificate": `${data}/certificate.pem`,
    "passwords of the host": "/etc/shadow",
    "a key of the operator": `${operators}/jump-key`,
    "a file of others in /tmp": `/tmp/${neighbour}.txt`,
    "shared memory of others": `/dev/shm/${neighbour}`,
  }).map(([name, file]) => ({ name: `read ${name}`, code: `read(${py(file)})` })),
  { name: "see other runs", code: `len(os.listdir(os.environ["HOME"] + "/../..")) > 1` },
  { name: "write where all find programs", code: `makes("/usr/local/bin/rw-probe")` },
  { name: "write to the host's settings", code: `makes("/etc/rw-probe")` },
  { name: "change an installed role", code: `makes(os.path.dirname(os.path.abspath(sys.argv[0])) + "/rw-probe")` },
  { name: "change the program of a probe itself", code: `to_write(os.path.abspath(sys.argv[0]))` },
  {
    name: "replace an installed role",
    code: `replaces(os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0]))))`,
    last: true,
  },
  { name: "see the service's folder", code: `"secret-key" in os.listdir(${py(data)})` },
  { name: "write to the database", code: `to_write("${data}/rangewright.db")` },
  {
    name: "write to files of the other tenant",
    code: `makes("${data}/playbook-runs/workspaces/range-of-${victim}/${victim}/rw-probe")`,
  },
  { name: "write to a folder of the host", code: `makes("/opt/rw-probe")` },
]

/** All probes. */
export const allProbes = (targets: Targets): readonly Probe[] => [
  ...overNetwork(targets),
  ...withoutConnections(targets),
  ...overProxy(targets),
  ...odd,
  ...overSockets(targets),
  ...processes(targets),
  ...kernel,
  ...files(targets),
]

/** Probes among the few that succeed without a sandbox. */
export const withoutSandbox: readonly string[] = [
  "log in to the other tenant's machine",
  "connect to the other tenant's router, outside",
  "connect to the service itself",
  "connect to loopback of the service's host",
  "resolve a name by the C library",
  "connect to an abstract socket of the host",
  "read any process's environment with a secret of the service",
  "read the key that seals secrets",
  "read the database",
  "list files that roles of the other tenant keep",
  "make a user namespace as root of it",
  "turn the kernel's wheels",
]
/** Probes over the relay, which refuses them with or without a sandbox. */
const overRelay: readonly string[] = [
  "log in to it over the proxy",
  "tunnel to the hypervisor",
  "tunnel to an address for metadata of clouds",
]

/** One probe of each kind, for the many ways in which a tenant gets code to run. */
export const fewProbes = (targets: Targets): readonly Probe[] =>
  allProbes(targets).filter(({ name }) => withoutSandbox.includes(name) || overRelay.includes(name))

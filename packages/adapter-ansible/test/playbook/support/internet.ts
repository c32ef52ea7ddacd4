import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { natHost } from "@rangewright/domain"

/**
 * Everything outside, in the namespace of the service's host: servers at all its addresses, and a list of what arrives, each packet by the
 * mark in it (`rw:WORD;`), each question to its name service by name and type.
 */
const program = `
import collections, json, os, re, socket, struct, sys, threading
seen = collections.Counter()
lock = threading.Lock()
answers = {}
def note(what):
    with lock: seen[what] += 1

def sniff():
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 26)
    wire.setsockopt(263, 23, 1) # SOL_PACKET, PACKET_IGNORE_OUTGOING
    wire.bind(("eth0", 0))
    print("ready", flush=True)
    while True:
        frame = wire.recv(65536)
        kind = struct.unpack("!H", frame[12:14])[0]
        if kind == 0x0800: to = socket.inet_ntoa(frame[30:34])
        elif kind == 0x86dd: to = socket.inet_ntop(socket.AF_INET6, frame[38:54])
        else: continue
        # a router that refuses what was sent from here sends it back; from this address nothing is ever sent
        if kind == 0x0800 and frame[23] == 1 and frame[34] == 3 and to != "198.18.0.9": continue
        note("to " + to)
        for mark in re.findall(rb"rw:([^;]+);", frame): note(mark.decode("ascii", "replace") + " " + to)

def answer(question):
    name, at = [], 12
    while question[at]:
        name.append(question[at + 1:at + 1 + question[at]].decode("latin1")); at += 1 + question[at]
    kind = struct.unpack("!H", question[at + 1:at + 3])[0]
    name = ".".join(name).lower()
    note("asked " + name + " " + str(kind))
    found = answers.get(name, ["198.18.0.2"]) if kind == 1 else []
    head = question[:2] + b"\\x85\\x80" + struct.pack("!HHHH", 1, len(found), 0, 0)
    records, owner = b"", b"\\xc0\\x0c"
    for one in found:
        isName = re.search("[a-z]", one)
        data = b"".join(bytes([len(l)]) + l.encode() for l in one.split(".")) + b"\\0" if isName else socket.inet_aton(one)
        records += owner + struct.pack("!HHIH", 5 if isName else 1, 1, 1, len(data)) + data
        if isName: owner = data
    return head + question[12:at + 5] + records

def udp(port):
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.IPPROTO_IP, 8, 1)
    end.bind(("", port))
    while True:
        data, extra, _, who = end.recvmsg(65536, 1024)
        to = [d for l, t, d in extra if t == 8][0]
        try: reply = answer(data) if port == 5300 and b"rw:" not in data else data
        except Exception: continue
        # from the address that was asked
        try: end.sendmsg([reply], [(socket.IPPROTO_IP, 8, struct.pack("I4s4s", 0, to[8:12], b"\\0" * 4))], 0, who)
        except OSError: pass

def tcp(port):
    server = socket.create_server(("", port), backlog=200)
    def serve(c):
        try:
            while data := c.recv(65536):
                asked = port == 5300 and b"rw:" not in data
                reply = answer(data[2:]) if asked else data
                c.sendall(struct.pack("!H", len(reply)) + reply if asked else data)
        except (OSError, IndexError): pass
    while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

for port in (80, 123, 443, 5300): threading.Thread(target=udp, args=(port,), daemon=True).start()
for port in (80, 443, 853, 5300): threading.Thread(target=tcp, args=(port,), daemon=True).start()
threading.Thread(target=sniff, daemon=True).start()
for line in sys.stdin:
    order = json.loads(line)
    with lock:
        answers.update(order.get("answers", {}))
        print(json.dumps(dict(seen)), flush=True)
        if order.get("clear"): seen.clear()
`

/** Hosts have it there too. By name it may be a version manager's script, which takes longer than the program that it starts. */
export const python = "/usr/bin/python3"

/** How often each thing was seen. */
export type Seen = Readonly<Record<string, number>>

export interface Internet {
  /** Runs a command where the servers are; answers what it printed. */
  readonly run: (...command: readonly string[]) => string
  /** Whether somebody outside, of this address, gets a connection to the SSH server of a machine. */
  readonly enters: (source: string, machine: string) => boolean
  readonly seen: () => Promise<Seen>
  /** The same, and forgets it. */
  readonly take: () => Promise<Seen>
  /** What its name service says of a name from now on; names before the addresses are those that it leads to, one after another. */
  readonly answer: (name: string, addresses: readonly string[]) => Promise<void>
  readonly close: () => void
}

export const openInternet = async (outside: readonly string[], addresses: readonly string[]): Promise<Internet> => {
  const [first = "", ...before] = outside
  const run = (...command: readonly string[]): string =>
    execFileSync(first, [...before, ...command], { encoding: "utf8", stdio: "pipe" })
  for (const address of addresses) run("ip", "address", "add", `${address}/32`, "dev", "lo")
  // the host may have a name service of its own: all that comes for one is for ours, also what the host itself asks
  const ours = `meta l4proto { tcp, udp } th dport 53 dnat ip to ${addresses[0]}:5300`
  const chains = [
    `prerouting { type nat hook prerouting priority -100; iifname eth0 ${ours}; }`,
    `output { type nat hook output priority -100; ip daddr ${natHost} ${ours}; }`,
  ]
  run("nft", `table ip names { ${chains.map((chain) => `chain ${chain};`).join(" ")} }`)
  const child: ChildProcessWithoutNullStreams = spawn(first, [...before, python, "-c", program])
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error(`the internet has ended: ${errors}`)
    return value as string
  }
  await line()
  const order = async (what: object): Promise<Seen> => {
    child.stdin.write(`${JSON.stringify(what)}\n`)
    return JSON.parse(await line()) as Seen
  }
  return {
    run,
    enters: (source, machine) => {
      const code = `import socket; print(socket.create_connection(("${machine}", 22), 5, ("${source}", 0)).recv(3))`
      try {
        return run(python, "-c", code).includes("SSH")
      } catch {
        return false
      }
    },
    seen: () => order({}),
    take: () => order({ clear: true }),
    answer: async (name, found) => void (await order({ answers: { [name]: found } })),
    close: () => void child.kill("SIGKILL"),
  }
}

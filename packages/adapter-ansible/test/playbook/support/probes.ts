/**
 * Sends from a machine, to each address, one packet or connection of each kind, marked with its kind and the phase, and what no router passes
 * on; then asks the router for names, and tries its ports. Prints what the router answered: by question `CODE ADDRESS,ADDRESS`, or `none`; by
 * port (`router tcp 22`) `open` or `none`. Arguments: phase, the machine's address, its router, others' addresses to send from, addresses to
 * send to.
 */
export const prober = `
import json, random, socket, struct, sys, threading, time
phase, own, router, pretended, goals = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4]), json.loads(sys.argv[5])
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
def mark(kind): return ("rw:%s.%s;" % (kind, phase)).encode()
def total(data):
    if len(data) % 2: data += b"\\0"
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
def packet(goal, number, body, source=own, options=b"", ttl=64):
    head = struct.pack("!BBHHHBBH4s4s", 0x40 + 5 + len(options) // 4, 0, 20 + len(options) + len(body), random.randrange(65536), 0, ttl, number, 0, socket.inet_aton(source), socket.inet_aton(goal)) + options
    try: raw.sendto(head + body, (goal, 0))
    except OSError: pass
def udp(goal, port, kind, **more):
    body = mark(kind)
    packet(goal, 17, struct.pack("!HHHH", random.randrange(20000, 60000), port, 8 + len(body), 0) + body, **more)
def syn(goal, kind, source=own, port=80):
    body = mark(kind)
    ports = struct.pack("!HH", random.randrange(20000, 60000), port)
    seg = ports + struct.pack("!IIBBHHH", 7, 0, 0x50, 2, 1024, 0, 0) + body
    check = total(socket.inet_aton(source) + socket.inet_aton(goal) + struct.pack("!BBH", 0, 6, len(seg)) + seg)
    packet(goal, 6, seg[:16] + struct.pack("!H", check) + seg[18:], source)
def icmp(goal, kind, size=0):
    body = mark(kind) + b"x" * size
    head = struct.pack("!BBHHH", 8, 0, 0, random.randrange(65536), 1)
    packet(goal, 1, head[:2] + struct.pack("!H", total(head + body)) + head[4:] + body)
def connect(goal, port):
    try:
        with socket.create_connection((goal, port), 5) as c:
            c.sendall(mark("tcp%d" % port)); c.recv(100)
    except OSError: pass
def connected(port):
    try:
        with socket.create_connection((router, port), 3): said["router tcp %d" % port] = "open"
    except OSError: said["router tcp %d" % port] = "none"
def leased():
    # a request for an address, which every host on the link may answer
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.bind(("eth0", 0))
    # what answers comes by a socket of its own, which no flood fills
    offers = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    offers.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0"); offers.bind(("", 68)); offers.settimeout(2)
    card = wire.getsockname()[4]
    body = struct.pack("!BBBBIHH16s16s192s4s", 1, 1, 6, 0, 7, 0, 0x8000, b"", card, b"", b"\\x63\\x82\\x53\\x63") + b"\\x35\\1\\1\\x0c" + bytes([len(mark("dhcp"))]) + mark("dhcp") + b"\\xff"
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(body), 7, 0, 64, 17, 0, b"\\0" * 4, b"\\xff" * 4)
    request = b"\\xff" * 6 + card + b"\\x08\\0" + head[:10] + struct.pack("!H", total(head)) + head[12:] + struct.pack("!HHHH", 68, 67, 8 + len(body), 0) + body
    said["router udp 67"] = "none"
    # who gives it out asks for some seconds whether anybody has it; like every client, asks again
    for _ in range(15):
        wire.send(request)
        try:
            if offers.recvfrom(2000)[1] == (router, 67): said["router udp 67"] = "open"; break
        except OSError: continue
def neighbourly():
    # IPv6 as a machine that speaks it would, to the card of the router; an advertisement that it is a router; and what stays on a link
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.bind(("eth0", 0))
    card = wire.getsockname()[4]
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", (router, 9))
    gateway = b"\\xff" * 6
    for line in open("/proc/net/arp"):
        if line.split()[0] == router: gateway = bytes.fromhex(line.split()[3].replace(":", ""))
    def six(number, source, goal, body, to):
        ends = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, goal)
        at = 6 if number == 17 else 2
        check = total(ends + struct.pack("!II", len(body), number) + body)
        wire.send(to + card + b"\\x86\\xdd" + struct.pack("!IHBB", 0x60000000, len(body), number, 255) + ends + body[:at] + struct.pack("!H", check) + body[at + 2:])
    def six_udp(source, goal, port, kind, to):
        six(17, source, goal, struct.pack("!HHHH", 40000, port, 8 + len(mark(kind)), 0) + mark(kind), to)
    six_udp("2001:db8:2::2", "2001:db8:1::2", 80, "six", gateway)
    six_udp("fe80::7", "ff02::fb", 5353, "mdns6", b"\\x33\\x33\\0\\0\\0\\xfb")
    six(58, "fe80::7", "ff02::1", struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + mark("advert"), b"\\x33\\x33\\0\\0\\0\\1")
    for group, port, kind in (("224.0.0.251", 5353, "mdns"), ("239.255.255.250", 1900, "ssdp"), ("255.255.255.255", 80, "broadcast")):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 32)
        s.sendto(mark(kind), (group, port))
said = {}
threads = [threading.Thread(target=connected, args=(port,)) for port in (22, 80, 3000)] + [threading.Thread(target=leased)]
neighbourly()
for goal in goals:
    for port in (53, 80, 123, 443): udp(goal, port, "udp%d" % port)
    udp(goal, 80, "options", options=b"\\x94\\x04\\0\\0")
    udp(goal, 80, "ttl", ttl=3)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(mark("fragments") + b"x" * 3000, (goal, 80))
    syn(goal, "syn")
    icmp(goal, "icmp"); icmp(goal, "bigicmp", 1200)
    for number in (4, 41, 47, 50, 132, 136): packet(goal, number, b"\\0" * 16 + mark("proto%d" % number))
    udp(goal, 80, "ttl1", ttl=1)
    for port in (22, 111, 2049, 3128, 5900, 8006, 8080): syn(goal, "port%d" % port, port=port)
    for source in pretended:
        udp(goal, 80, "from" + source, source=source); syn(goal, "synfrom" + source, source)
    for port in (53, 80, 443, 853): threads.append(threading.Thread(target=connect, args=(goal, port)))

def ask(name, kind=1, tcp=False, port=0):
    key = name + " " + str(kind) + (" tcp" if tcp else "")
    query = struct.pack("!HHHHHH", random.randrange(65536), 0x100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\\0" + struct.pack("!HH", kind, 1)
    try:
        if tcp:
            with socket.create_connection((router, 53), 5) as c:
                c.sendall(struct.pack("!H", len(query)) + query)
                data = c.recv(4096)[2:]
        else:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as c:
                c.bind(("", port)); c.settimeout(5); c.sendto(query, (router, 53)); data = c.recv(4096)
    except OSError:
        said[key] = "none"; return
    found, at = [], len(query)
    for _ in range(struct.unpack("!H", data[6:8])[0]):
        while data[at] and data[at] & 0xc0 == 0: at += 1 + data[at]
        at += 2 if data[at] else 1
        rtype, _, _, size = struct.unpack("!HHIH", data[at:at + 10])
        if rtype == 1: found.append(socket.inet_ntoa(data[at + 10:at + 14]))
        at += 10 + size
    said[key] = str(data[3] & 15) + " " + ",".join(sorted(found))
questions = [("t%d.%s.evil.example" % (kind, phase), kind) for kind in (1, 28, 16, 255, 10, 5, 15, 65)]
questions += [("x" * 63 + "." + phase + ".evil.example", 1), ("web", 1), ("allowed.example", 1), ("sub.allowed.example", 1), ("notallowed.example", 1), ("rebind.allowed.example", 1), ("moving.example", 1), ("chain.allowed.example", 1), ("inward.allowed.example", 1), ("secret" + phase, 16)]
# by a port that asked before the router closed, nothing is answered until the router forgets it: no two runs within some minutes share one
first = 20000 + int(time.monotonic()) * len(questions) % 10000
threads += [threading.Thread(target=ask, args=(*q, False, first + n)) for n, q in enumerate(questions)]
threads.append(threading.Thread(target=ask, args=("tcp." + phase + ".evil.example", 16, True)))
for t in threads: t.start()
for t in threads: t.join()
print(json.dumps(said))
`

/** Sends a UDP packet, a SYN and an echo request from a made-up source. Arguments: source, address to send to, mark. */
export const forger = `
import socket, struct, sys
source, goal, mark = sys.argv[1], sys.argv[2], ("rw:%s;" % sys.argv[3]).encode()
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
def total(data):
    if len(data) % 2: data += b"\\0"
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
ends = socket.inet_aton(source) + socket.inet_aton(goal)
def send(number, body):
    raw.sendto(struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, number, 0) + ends + body, (goal, 0))
send(17, struct.pack("!HHHH", 7, 9999, 8 + len(mark), 0) + mark)
syn = struct.pack("!HHIIBBHHH", 7, 22, 7, 0, 0x50, 2, 1024, 0, 0) + mark
check = total(ends + struct.pack("!BBH", 0, 6, len(syn)) + syn)
send(6, syn[:16] + struct.pack("!H", check) + syn[18:])
echo = struct.pack("!BBHHH", 8, 0, 0, 7, 1) + mark
send(1, echo[:2] + struct.pack("!H", total(echo)) + echo[4:])
`

/**
 * Sends to each address an ICMP error, marked `late`, about a UDP packet that came to this machine: one that connection tracking takes for a
 * part of that connection, wherever it goes. Arguments: who sent that packet, this machine's address, addresses to send to.
 */
export const misdirector = `
import socket, struct, sys
asker, own, goals = sys.argv[1], sys.argv[2], sys.argv[3:]
def total(data):
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16: s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff
mark = b"rw:late;"
inner = struct.pack("!BBHHHBBH", 0x45, 0, 36, 0, 0, 64, 17, 0) + socket.inet_aton(asker) + socket.inet_aton(own) + struct.pack("!HHHH", 7777, 9999, 16, 0) + mark
rest = struct.pack("!I", 0) + inner
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
for goal in goals: raw.sendto(struct.pack("!BBH", 11, 0, total(struct.pack("!BBH", 11, 0, 0) + rest)) + rest, (goal, 0))
`

/** The kinds of packets and connections that the prober sends, and routers pass on where they may. */
export const kinds: readonly string[] = [
  ...[53, 80, 123, 443].map((port) => `udp${port}`),
  ...[53, 80, 443, 853].map((port) => `tcp${port}`),
  ...[4, 41, 47, 50, 132, 136].map((number) => `proto${number}`),
  "options",
  "ttl",
  "fragments",
  "syn",
  "icmp",
  "bigicmp",
]

/** What the prober sends that no router passes on, whatever may pass. */
export const local: readonly string[] = ["ttl1", "six", "mdns6", "advert", "mdns", "ssdp", "broadcast", "dhcp"]

/** Of what the prober was told, the ports of the router that answered it. */
export const openPorts = (said: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(said).flatMap(([what, how]) => (what.startsWith("router ") && how === "open" ? [what] : []))

/**
 * Flows that begin once and go on, each packet marked with `flow-KIND-NUMBER`: a TCP connection and a UDP one to each address. Never opens a
 * new one. With `flood`, the machine's own address, it also sends up to 2,000 packets a second to the first address, from ever new ports.
 * Arguments: kind, flood or `-`, addresses.
 */
export const flows = `
import random, socket, struct, sys, threading, time
name, goals, flood = sys.argv[1], sys.argv[3:], sys.argv[2]
# without it the flows are most of the load of the machine
pause = 0.002
def tcp(goal):
    try:
        c = socket.create_connection((goal, 80), 5)
        c.settimeout(0.02)
        n = 0
        while True:
            n += 1
            c.sendall(b"rw:flow-%s-tcp;" % name.encode())
            try: c.recv(65536)
            except TimeoutError: pass
            time.sleep(pause)
    except OSError: pass
def udp(goal):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(0.02)
    while True:
        try: s.sendto(b"rw:flow-%s-udp;" % name.encode(), (goal, 80)); s.recv(65536)
        except OSError: time.sleep(0.005)
        time.sleep(pause)
def storm(goal):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    own = socket.inet_aton(sys.argv[2])
    while True:
        for _ in range(10):
            body = b"rw:flood;"
            ports = struct.pack("!HH", random.randrange(1024, 65536), random.randrange(1, 65536))
            seg = [(17, ports + struct.pack("!HH", 8 + len(body), 0) + body), (6, ports + struct.pack("!IIBBHHH", 7, 0, 0x50, 2, 1024, 0, 0) + body)][random.randrange(2)]
            try: raw.sendto(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(seg[1]), 0, 0, 64, seg[0], 0, own, socket.inet_aton(goal)) + seg[1], (goal, 0))
            except OSError: pass
        time.sleep(0.005)
for goal in goals:
    threading.Thread(target=tcp, args=(goal,)).start()
    threading.Thread(target=udp, args=(goal,)).start()
if flood != "-": threading.Thread(target=storm, args=(goals[0],)).start()
`

/** Prints the addresses that a router answers for a name. Arguments: router, name. */
export const question = `
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 10000 + int(time.monotonic() * 20) % 10000))
s.settimeout(5)
s.sendto(struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"".join(bytes([len(l)]) + l.encode() for l in sys.argv[2].split(".")) + b"\\0\\0\\1\\0\\1", (sys.argv[1], 53))
data = s.recv(4096)
count = struct.unpack("!H", data[6:8])[0]
print(",".join(socket.inet_ntoa(data[len(data) - 16 * (i + 1) + 12:][:4]) for i in range(count)))
`

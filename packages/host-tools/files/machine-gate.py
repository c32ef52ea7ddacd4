"""Runs in front of a tool that works with machines, in a network namespace where all the machines' addresses are local: connections of the
tool to them are forwarded through the relay to the same address and port. Also opens an HTTP proxy on loopback, and loopback ports that lead
to hosts which only the relay knows. Execs the tool at the end. The relay decides what may be connected to.

machine-gate.py RELAY INWARD PORT... NAME:PORT... -PORT... -- TOOL

The tool finds each -PORT in use.

Clients of the socket INWARD may ask which ports have listeners, connect to one of them, and interrupt the tool."""

import os
import resource
import signal
import socket
import sys
import threading

relay_path, inward_path, *rest = sys.argv[1:]
cut = rest.index("--")
tool = rest[cut + 1 :]
words = rest[:cut]
taken_ports = [int(word[1:]) for word in words if word.startswith("-")]
machine_ports = [int(word) for word in words if word.isdigit()]
named = [word.split(":") for word in words if ":" in word]


def pass_on(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def join(one, other):
    there = threading.Thread(target=pass_on, args=(one, other), daemon=True)
    there.start()
    pass_on(other, one)
    there.join()


def to_relay(relay, client, host, port):
    if host is None:
        return True
    relay.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = relay.recv(1)
        if not byte or len(head) > 8192:
            return False
        head += byte
    return head.split(b" ", 2)[1:2] == [b"200"]


def lend(client, host, port):
    with client, socket.socket(socket.AF_UNIX) as relay:
        try:
            relay.connect(relay_path)
            if to_relay(relay, client, host, port):
                join(client, relay)
        except OSError:
            return


def to_machine(client):
    host, port = client.getsockname()[:2]
    if host.startswith("127."):
        client.close()
    else:
        lend(client, host, port)


def waiting():
    """Ports with a listener on all addresses, except this program's own."""
    found = set()
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/self/net/{table}", encoding="ascii") as lines:
                for row in list(map(str.split, lines))[1:]:
                    address, port = row[1].split(":")
                    if row[3] == "0A" and address[:8] != "0100007F" and int(port, 16) not in own:
                        found.add(int(port, 16))
        except OSError:
            pass
    return sorted(found)


def interrupt():
    """Interrupts every process here, as Ctrl-C in a terminal does."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (1, os.getpid()):
            try:
                os.kill(int(name), signal.SIGINT)
            except OSError:
                pass


def inward(client):
    with client:
        words = b""
        while not words.endswith(b"\n") and len(words) < 100:
            byte = client.recv(1)
            if not byte:
                return
            words += byte
        word, *more = words.decode("ascii", "replace").split()
        if word == "ports":
            client.sendall(" ".join(map(str, waiting())).encode())
        elif word == "interrupt":
            interrupt()
            client.sendall(b"done")
        elif word == "connect" and more and more[0].isdigit():
            with socket.socket() as inside:
                inside.connect(("127.0.0.1", int(more[0])))
                join(client, inside)


def quietly(work, *args):
    try:
        work(*args)
    except (OSError, ValueError):
        pass


def serve(listener, work, *args):
    threading.stack_size(256 * 1024)
    while True:
        client, _ = listener.accept()
        try:
            threading.Thread(target=quietly, args=(work, client, *args), daemon=True).start()
        except RuntimeError:
            client.close()


def take(port):
    """Keeps a port from everybody without listening on it."""
    holder = socket.socket()
    holder.bind(("0.0.0.0", port))
    return holder


def listen(address, port=0):
    listener = socket.create_server((address, port), backlog=128)
    own.add(listener.getsockname()[1])
    return listener


own = set()
proxy = listen("127.0.0.1")
servers = [(proxy, lend, None, None)]
servers += [(listen("127.0.0.1", int(port)), lend, name, 80) for name, port in named]
servers += [(listen("0.0.0.0", port), to_machine) for port in machine_ports]
files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
# each takes a file of this process, which needs some for connections; the first ones matter most
room = len(taken_ports) if files == resource.RLIM_INFINITY else max(0, files - 256)
taken = [take(port) for port in taken_ports[:room] if port not in own]
back = socket.socket(socket.AF_UNIX)
back.bind(inward_path)
back.listen(32)
servers.append((back, inward))
if os.fork() == 0:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for server in servers[1:]:
        threading.Thread(target=serve, args=server).start()
    serve(*servers[0])
way = f"http://127.0.0.1:{proxy.getsockname()[1]}"
for listener, *_ in servers:
    listener.close()
for name in ("http_proxy", "https_proxy"):
    os.environ[name] = os.environ[name.upper()] = way
try:
    os.execvp(tool[0], tool)
except OSError:
    sys.exit(127)

"""Runs in front of a tool in a network namespace without routes: opens an HTTP proxy on loopback, forwards every connection to the socket
given as the first argument, and execs the tool given after it. The other end of the socket decides what may be connected to."""

import os
import socket
import sys

path, *tool = sys.argv[1:]


def is_own(client):
    """Whether the client's socket belongs to the same user: outside a sandbox other users can reach this loopback too."""

    def as_in_table(address, port):
        number = int.from_bytes(socket.inet_aton(address), sys.byteorder)
        return f"{number:08X}:{port:04X}"

    ends = [as_in_table(*client.getpeername()), as_in_table(*client.getsockname())]
    with open("/proc/self/net/tcp", encoding="ascii") as table:
        owners = [int(row[7]) for row in map(str.split, table) if row[1:3] == ends]
    return owners == [os.geteuid()]


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


def lend(client):
    import threading

    with client, socket.socket(socket.AF_UNIX) as relay:
        try:
            if not is_own(client):
                return
            relay.connect(path)
        except OSError:
            return
        there = threading.Thread(target=pass_on, args=(client, relay), daemon=True)
        there.start()
        pass_on(relay, client)
        there.join()


def serve(listener):
    # imported here, in the child: importing it earlier would delay the start of the tool
    import threading

    threading.stack_size(256 * 1024)
    while True:
        client, _ = listener.accept()
        try:
            threading.Thread(target=lend, args=(client,), daemon=True).start()
        except RuntimeError:
            client.close()


listener = socket.create_server(("127.0.0.1", 0), backlog=128)
proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
if os.fork() == 0:
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    serve(listener)
listener.close()
for name in ("http_proxy", "https_proxy"):
    os.environ[name] = os.environ[name.upper()] = proxy
try:
    os.execvp(tool[0], tool)
except OSError:
    sys.exit(127)

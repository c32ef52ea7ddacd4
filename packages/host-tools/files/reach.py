"""Connects SSH or git to a host and port through the relay whose socket is the first argument. With `pass` as the last argument the open
connection itself is handed to SSH (`ProxyUseFdpass`); otherwise data is copied between the connection and this program's stdin and stdout."""

import os
import socket
import sys

path, host, port, *how = sys.argv[1:]
relay = socket.socket(socket.AF_UNIX)
relay.connect(path)
at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
relay.sendall(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n".encode())

# byte by byte: everything after the blank line already belongs to the other end's stream
head = b""
while not head.endswith(b"\r\n\r\n"):
    byte = relay.recv(1)
    if not byte or len(head) > 8192:
        sys.exit(f"{at}: the relay closed the connection")
    head += byte
status = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
if status[1:2] != ["200"]:
    sys.exit(" ".join(status[2:]))

if how == ["pass"]:
    import array

    ssh = socket.socket(fileno=1)
    ssh.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [relay.fileno()]))])
    os._exit(0)

# imported only now: SSH waits for everything above
import threading


def pass_on():
    while data := os.read(0, 65536):
        relay.sendall(data)
    relay.shutdown(socket.SHUT_WR)


threading.Thread(target=pass_on, daemon=True).start()
while data := relay.recv(65536):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

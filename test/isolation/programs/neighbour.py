"""What else runs on the service's host: servers on loopback and on sockets, a file in shared memory."""

import signal
import socket
import sys
import threading

name, folder = sys.argv[1:]


def answer(listener):
    while True:
        client, _ = listener.accept()
        with client:
            client.settimeout(2)
            try:
                client.recv(4096)
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nMARK\n")
            except OSError:
                pass


def listen(family, address):
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(address)
    listener.listen(64)
    threading.Thread(target=answer, args=(listener,), daemon=True).start()


listen(socket.AF_INET, ("0.0.0.0", 7777))
listen(socket.AF_INET6, ("::1", 7777))
for path in (f"\0{name}", f"/run/{name}.sock", f"/tmp/{name}.sock", f"/dev/shm/{name}.sock", f"{folder}/own.sock"):
    listen(socket.AF_UNIX, path)
print("ready", flush=True)
signal.pause()

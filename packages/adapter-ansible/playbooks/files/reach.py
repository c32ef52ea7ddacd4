"""Speaks to a machine over a connection that the service lends: stands between SSH and the socket that is named first."""

import os
import socket
import sys
import threading

path, host, port = sys.argv[1:]
lent = socket.socket(socket.AF_UNIX)
lent.connect(path)
lent.sendall(f"{host} {port}\n".encode())


def pass_on():
    while data := os.read(0, 65536):
        lent.sendall(data)
    lent.shutdown(socket.SHUT_WR)


threading.Thread(target=pass_on, daemon=True).start()
while data := lent.recv(65536):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

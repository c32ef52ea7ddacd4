"""Serves the network outside of the lab: at every address of its namespace the ports that it is given, and the files of a folder by HTTP.
Whoever asks for no file is answered with the mark."""

import http.server
import os
import signal
import socket
import ssl
import struct
import sys
import threading

folder, certificate, key = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=folder)

    def do_GET(self):
        if self.path != "/":
            return super().do_GET()
        body = b"MARK\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "world", self.server_address[1]


def echo(port, groups=()):
    end = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    end.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    end.bind(("::", port))
    for group in groups:
        joined = struct.pack("=4s4si", socket.inet_aton(group), socket.inet_aton("0.0.0.0"), socket.if_nametoindex("world0"))
        end.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, joined)
    while True:
        data, who = end.recvfrom(4096)
        end.sendto(b"MARK " + data, who)


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(certificate, key)
for port in (22, 80, 443, 5986, 8006):
    server = Server(("::", port), Handler)
    if port == 443:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
for port, groups in ((53, ()), (123, ()), (5353, ("224.0.0.251",))):
    threading.Thread(target=echo, args=(port, groups), daemon=True).start()
print("ready", flush=True)
signal.pause()

"""Lends connections to machines: for each address that is named, a port of loopback from which everything goes on over the socket that is
named first. Prints the ports, in the same order, and goes on until it is ended. Only who runs as this program does is let in."""

import asyncio
import os
import socket
import struct
import sys

path, port_there, *addresses = sys.argv[1:]


def as_in_table(address, port):
    (number,) = struct.unpack("=I", socket.inet_aton(address))
    return f"{number:08X}:{port:04X}"


def is_own(client):
    """Whether the other end is a socket of the same user: the system's table tells of whom each is."""
    ends = [as_in_table(*client.getpeername()), as_in_table(*client.getsockname())]
    with open("/proc/self/net/tcp", encoding="ascii") as table:
        owners = [int(row[7]) for row in map(str.split, table) if row[1:3] == ends]
    return owners == [os.geteuid()]


async def pass_on(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


async def lend(address, reader, writer):
    if not is_own(writer.get_extra_info("socket")):
        return
    lent_reader, lent_writer = await asyncio.open_unix_connection(path)
    lent_writer.write(f"{address} {port_there}\n".encode())
    there = asyncio.ensure_future(pass_on(reader, lent_writer))
    try:
        await pass_on(lent_reader, writer)
    finally:
        there.cancel()
        await asyncio.gather(there, return_exceptions=True)
        lent_writer.close()


def lender(address):
    async def serve(reader, writer):
        try:
            await lend(address, reader, writer)
        except OSError:
            pass  # one end is gone, and so is the other
        finally:
            writer.close()

    return serve


async def main():
    servers = [await asyncio.start_server(lender(address), "127.0.0.1", 0) for address in addresses]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())

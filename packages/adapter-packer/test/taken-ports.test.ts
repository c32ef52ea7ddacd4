import { once } from "node:events"
import { type AddressInfo, createServer } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { portsIn, takenPorts } from "../src/taken-ports.ts"

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

it("ports that machines reach other programs at are taken, and those of loopback or of connections are not", () => {
  const tcp = [
    "   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0",
    "   1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0",
    "   2: FE0200C0:1F92 390200C0:C350 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0",
    "   3: FE0200C0:1F93 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0",
  ]
  const tcp6 = [
    "   0: 00000000000000000000000000000000:1F94 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 1 1 0",
    "   1: 00000000000000000000000001000000:1F95 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 1 1 0",
  ]
  expect(portsIn(head + tcp.join("\n"))).toEqual([8080, 8083])
  expect(portsIn(head + tcp6.join("\n"))).toEqual([8084])
})

it("a port is taken as long as something listens on it", async () => {
  const server = createServer().listen(0, "0.0.0.0")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  expect(await takenPorts({ first: port, last: port })).toEqual([port])
  expect(await takenPorts({ first: port + 1, last: port })).toEqual([])
})

import { describe, expect, it } from "vitest"
import { isVpnKey, vpnClientFile } from "../src/index.ts"

const key = "6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI="
const server = { host: "vpn.example.org", port: 51_820, publicKey: key }

describe("the file of a VPN client", () => {
  it("names each range once, ascending by number, behind the server", () => {
    expect(vpnClientFile({ privateKey: "PRIVATE", userNumber: 7, rangeNumbers: [12, 3, 12, 100], server })).toBe(`[Interface]
PrivateKey = PRIVATE
Address = 198.51.100.7/32
MTU = 1370

[Peer]
PublicKey = ${key}
Endpoint = vpn.example.org:51820
AllowedIPs = 198.51.100.1/32,10.3.0.0/16,10.12.0.0/16,10.100.0.0/16
PersistentKeepalive = 25
`)
  })

  it("puts an address of IPv6 in brackets, and leads to the server alone without ranges", () => {
    const file = vpnClientFile({ privateKey: "P", userNumber: 150, rangeNumbers: [], server: { ...server, host: "2001:db8::1" } })
    expect(file).toContain("Endpoint = [2001:db8::1]:51820\nAllowedIPs = 198.51.100.1/32\n")
  })
})

it("a key is 32 bytes in base64, written in one way", () => {
  expect(isVpnKey(key)).toBe(true)
  for (const text of ["", key.slice(1), `${key}\n`, `${key}=`, key.replace("I=", "J="), key.replaceAll("x", "_"), "A".repeat(44)])
    expect([text, isVpnKey(text)]).toEqual([text, false])
})

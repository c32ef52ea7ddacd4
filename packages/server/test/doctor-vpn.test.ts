import { nothingHeldByVpn } from "@rangewright/domain"
import { VpnFault, VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkVpn } from "../src/doctor/vpn-checks.ts"

const publicKey = "6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI="
const environment = { RANGEWRIGHT_WIREGUARD_ENDPOINT: "vpn", RANGEWRIGHT_WIREGUARD_PUBLIC_KEY: publicKey }
const config = loadConfig({ file: undefined, environment })
const observed = { publicKey, peers: [], pairs: [], guarded: true }
const stored = { rangeNumbers: [7], wanted: [], held: nothingHeldByVpn }
const check = (server: Partial<VpnServer["Service"]>, known: Parameters<typeof checkVpn>[1] = stored) =>
  Effect.runPromise(
    Effect.provideService(checkVpn(config, known), VpnServer, {
      available: true,
      observe: Effect.succeed(observed),
      apply: () => Effect.die("changed"),
      obstacles: () => Effect.succeed([]),
      ...server,
    }),
  )

it("doctor looks at the VPN's server: whether it answers, its key, and its way to ranges and back", async () => {
  expect(await check({})).toMatchObject([{ level: "ok", what: "vpn" }])
  expect(await check({ observe: Effect.succeed({ ...observed, publicKey: "OTHER" }) })).toMatchObject([
    { level: "fail", detail: expect.stringContaining("OTHER"), hint: expect.stringContaining("wireguard_public_key") },
  ])
  expect(await check({ obstacles: ([number]) => Effect.succeed([`no way to ${number}`]) })).toMatchObject([
    { level: "warn", detail: "no way to 7" },
  ])
  const away = new VpnFault({ doing: "look", reason: "unreachable", detail: "nobody answers", hint: "Start it." })
  expect(await check({ observe: Effect.fail(away) })).toMatchObject([
    { level: "fail", detail: "Cannot look: nobody answers", hint: "Start it." },
  ])
  const blind = { ...observed, pairs: undefined, whyNoPairs: { message: "Cannot look: no nft", hint: "Install it." } }
  expect(await check({ observe: Effect.succeed(blind) })).toMatchObject([
    { level: "fail", detail: "Cannot look: no nft", hint: "Install it." },
    { level: "ok" },
  ])
})

it("doctor lists which peers the service would remove", async () => {
  const peers = [{ publicKey: "STRANGER", allowed: ["198.51.100.9/32"] }]
  const observe = Effect.succeed({ ...observed, peers })
  expect(await check({ observe })).toMatchObject([
    { level: "warn", detail: expect.stringContaining("removes the peer STRANGER (198.51.100.9/32)") },
    { level: "ok" },
  ])
  const users = { ...stored, wanted: [{ userNumber: 9, publicKey: "STRANGER", rangeNumbers: [] }] }
  expect(await check({ observe }, users)).toMatchObject([{ level: "ok" }])
  // nobody could read whose they are
  expect(await check({ observe }, { rangeNumbers: [] })).toMatchObject([{ level: "ok" }])
})

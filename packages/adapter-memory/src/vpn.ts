import type { VpnPair, VpnPeer } from "@rangewright/domain"
import { VpnFault, VpnKeys, VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** A VPN server in memory. */
export interface MemoryVpn {
  publicKey: string
  /** By public key. */
  readonly peers: Map<string, VpnPeer>
  pairs: readonly VpnPair[]
  guarded: boolean
  /** False simulates an unreachable server. */
  reachable: boolean
  /** When true, its rules can be neither read nor changed. */
  rulesBroken: boolean
  /** Called before each change. */
  changing: () => void
}

export const makeMemoryVpn = (): MemoryVpn => ({
  publicKey: "",
  peers: new Map(),
  pairs: [],
  guarded: false,
  reachable: true,
  rulesBroken: false,
  changing: () => undefined,
})

const keyOf = (first: number, n: number): string => {
  const bytes = new Uint8Array(32)
  bytes[0] = first
  new DataView(bytes.buffer).setUint32(28, n)
  return btoa(String.fromCharCode(...bytes))
}

let made = 0
/** Distinct texts in the format of WireGuard keys, but not real key pairs. */
const keys: VpnKeys["Service"] = {
  make: Effect.sync(() => {
    made += 1
    return { privateKey: Redacted.make(keyOf(1, made)), publicKey: keyOf(2, made) }
  }),
}

/** The key generator, and the server if there is one. */
export const memoryVpnLayer = (vpn?: MemoryVpn): Layer.Layer<VpnKeys | VpnServer> => {
  const reach = (doing: string) =>
    Effect.suspend(() =>
      vpn?.reachable === true
        ? Effect.succeed(vpn)
        : Effect.fail(new VpnFault({ doing, reason: "unreachable", detail: "nobody answers" })),
    )
  return Layer.merge(
    Layer.succeed(VpnKeys, keys),
    Layer.succeed(VpnServer, {
      available: vpn !== undefined,
      observe: Effect.map(reach("check the VPN's server"), ({ publicKey, peers, pairs, guarded, rulesBroken }) => ({
        publicKey,
        peers: [...peers.values()],
        pairs: rulesBroken ? undefined : pairs,
        guarded: guarded && !rulesBroken,
      })),
      obstacles: () => Effect.as(reach("check the VPN's server"), []),
      apply: ({ remove, set, pairs }) =>
        Effect.flatMap(reach("change the VPN's server"), (there) => {
          there.changing()
          for (const key of remove) there.peers.delete(key)
          if (there.rulesBroken && pairs !== undefined)
            return Effect.fail(
              new VpnFault({ doing: "change the VPN's server", reason: "refused", detail: "its rules cannot be changed" }),
            )
          if (pairs !== undefined) {
            there.pairs = pairs
            there.guarded = true
          }
          for (const peer of set) there.peers.set(peer.publicKey, peer)
          return Effect.void
        }),
    }),
  )
}

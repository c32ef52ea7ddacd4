import { isVpnKey, natHost, rangeNetwork, vpnNetwork, type VpnPeer, wanAddress } from "@rangewright/domain"
import { VpnFault, type VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { WireguardOptions } from "./options.ts"
import { changesOf, parseRules, rulesOf, tableOf } from "./rules.ts"

const timeoutSeconds = 10

/** A host's output as one line without terminal control sequences. */
const saying = (text: string): string =>
  text
    .replaceAll(/\p{C}+/gu, " ")
    .trim()
    .slice(-300)

const hints: readonly (readonly [RegExp, string])[] = [
  [/not found|no program/iu, "Install wireguard-tools and nftables on the VPN's host."],
  [
    /no such device|unable to access interface/iu,
    "Bring the interface up on the VPN's host (wg-quick@INTERFACE); wireguard_interface names it.",
  ],
  [
    /not permitted|password is required|a terminal is required|permission denied/iu,
    "The account needs the rights of root for wg and nft: root itself, or sudo without a password. A service on the same host needs CAP_NET_ADMIN.",
  ],
]

/** A WireGuard interface on a Linux host, with nft rules. `VpnServer` says what it promises. */
export const wireguardServer = ({ interface: name, shell }: WireguardOptions): VpnServer["Service"] => {
  const refused = (doing: string, detail: string) => {
    const hint = hints.find(([said]) => said.test(detail))?.[1]
    return new VpnFault({ doing, reason: "refused", detail, ...(hint === undefined ? {} : { hint }) })
  }
  /** Output of a command that must succeed. */
  const run = (doing: string, program: string, args: readonly string[], input?: string) =>
    Effect.gen(function* () {
      const { exitCode, stdout, stderr } = yield* Effect.mapError(
        shell({ program, args, timeoutSeconds, ...(input === undefined ? {} : { input }) }),
        ({ message }) => new VpnFault({ doing, reason: "unreachable", detail: message }),
      )
      if (exitCode === 0) return stdout
      const said = saying(stderr)
      return yield* refused(doing, `${program} says: ${said === "" ? `exit code ${exitCode}` : said}`)
    })

  const looking = "check the VPN's server"
  const unexpected = (what: string) => new VpnFault({ doing: looking, reason: "unexpected", detail: `its answer has ${what}` })
  /** The rules as listed after they were loaded here; undefined when they have not been loaded yet. */
  let loaded: string | undefined

  const peer = (line: string): Effect.Effect<VpnPeer, VpnFault> => {
    const [publicKey = "", allowed, ...more] = line.split("\t")
    if (!isVpnKey(publicKey) || allowed === undefined || more.length > 0)
      return Effect.fail(unexpected(`an invalid peer: ${saying(line)}`))
    return Effect.succeed({ publicKey, allowed: allowed === "(none)" ? [] : allowed.split(" ") })
  }
  const listRules = (doing: string) =>
    Effect.gen(function* () {
      const tables = (yield* run(doing, "nft", ["list", "tables", "inet"])).split("\n")
      if (!tables.includes(`table inet ${tableOf(name)}`)) return { pairs: [], rules: undefined }
      return parseRules(yield* run(doing, "nft", ["list", "table", "inet", tableOf(name)]))
    })

  return {
    available: true,
    observe: Effect.gen(function* () {
      const publicKey = (yield* run(looking, "wg", ["show", name, "public-key"])).trim()
      if (!isVpnKey(publicKey)) return yield* unexpected(`no public key: ${saying(publicKey)}`)
      const lines = (yield* run(looking, "wg", ["show", name, "allowed-ips"])).split("\n").filter((line) => line !== "")
      const peers = yield* Effect.forEach(lines, peer)
      // peers can be removed even when the rules cannot be read
      const listed = yield* Effect.result(listRules(looking))
      if (Result.isFailure(listed)) return { publicKey, peers, pairs: undefined, whyNoPairs: listed.failure, guarded: false }
      const { pairs, rules } = listed.success
      return { publicKey, peers, pairs, guarded: rules !== undefined && rules === loaded }
    }),
    apply: ({ remove, set, pairs }) =>
      Effect.gen(function* () {
        const doing = "change the VPN's server"
        // one by one: `wg syncconf` would repeat other peers with their secrets, and remove those added since the observation
        const setPeers = (changes: readonly string[]) =>
          changes.length === 0 ? Effect.void : Effect.asVoid(run(doing, "wg", ["set", name, ...changes]))
        // a failure must not keep the remaining revocations from happening; new peers come last, after everything else
        const removed = yield* Effect.result(setPeers(remove.flatMap((key) => ["peer", key, "remove"])))
        if (pairs !== undefined) {
          const load = (text: string) => run(doing, "nft", ["-f", "-"], text)
          const listed = yield* Effect.result(listRules(doing))
          const areOurs = Result.isSuccess(listed) && listed.success.rules !== undefined && listed.success.rules === loaded
          const isChanged = areOurs && Result.isSuccess(yield* Effect.result(load(changesOf(name, listed.success.pairs, pairs))))
          if (!isChanged) {
            yield* load(rulesOf(name, pairs))
            loaded = (yield* listRules(doing)).rules
          }
        }
        yield* Effect.fromResult(removed)
        yield* setPeers(set.flatMap(({ publicKey, allowed }) => ["peer", publicKey, "allowed-ips", allowed.join(",")]))
      }),
    obstacles: (rangeNumbers) =>
      Effect.gen(function* () {
        const doing = "check the routes from the VPN's server to ranges"
        const forwards = (yield* run(doing, "cat", ["/proc/sys/net/ipv4/ip_forward"])).trim() === "1"
        const routes = (yield* run(doing, "ip", ["-4", "-o", "route", "show"])).split("\n")
        const addresses = yield* run(doing, "ip", ["-4", "-o", "address", "show"])
        const without = rangeNumbers.filter(
          (number) => !routes.some((line) => line.startsWith(`${rangeNetwork(number).text} via ${wanAddress(number)} `)),
        )
        return [
          ...(forwards ? [] : ["it does not forward packets: set net.ipv4.ip_forward = 1 in /etc/sysctl.d there"]),
          ...without
            .slice(0, 5)
            .map((number) => `it has no route to a range: ip route add ${rangeNetwork(number).text} via ${wanAddress(number)}`),
          ...(addresses.includes(` ${natHost}/`)
            ? []
            : [
                `routers send their answers to ${natHost}, which is another host: it needs a route ${vpnNetwork.text} to the VPN's host`,
              ]),
        ]
      }),
  }
}

import { originOf, senderOf, parseProxies, type UserId } from "@rangewright/domain"
import { describe, expect, it } from "vitest"
import { makeTally } from "../src/sign-in/tally.ts"
import { makeThrottle } from "../src/sign-in/throttle.ts"

const day = 24 * 60 * 60 * 1000
const attempt = (account: string, address: string) => ({ operation: "recordLogin", account, address })
const victim = "victim@lab.example"

/** Guesses as often as allowed from this address until the time is over; returns how often. */
const guessAll = (
  throttle: ReturnType<typeof makeThrottle>,
  sent: ReturnType<typeof attempt>,
  from: number,
  to: number,
): number => {
  let looked = 0
  for (let now = from; now < to; looked++) now += Math.max(throttle.wrong(sent, now, undefined), 1)
  return looked
}

describe("guessing a password", () => {
  it("from one address is limited to about a hundred guesses a day, in any letter case", () => {
    const throttle = makeThrottle()
    expect(guessAll(throttle, attempt(victim, "203.0.113.9"), 0, day)).toBeLessThan(150)
    expect(throttle.wait(attempt(victim.toUpperCase(), "203.0.113.9"), day - 1)).toBeGreaterThan(0)
  })

  it("from one address of many accounts waits too, whatever the attacker's own account does", () => {
    const throttle = makeThrottle()
    let now = 0
    let looked = 0
    while (now < day) {
      const sent = attempt(`user${looked}@lab.example`, "203.0.113.9")
      now += Math.max(throttle.wrong(sent, now, undefined), 1)
      throttle.right(attempt("attacker@lab.example", "203.0.113.9"))
      looked++
    }
    expect(looked).toBeLessThan(2000)
  })

  it("by one attacker makes the owner elsewhere wait ten seconds at most, and not at all where they signed in before", () => {
    const throttle = makeThrottle()
    throttle.right(attempt(victim, "192.0.2.1"))
    guessAll(throttle, attempt(victim, "203.0.113.9"), 0, day)
    expect(throttle.wait(attempt(victim, "203.0.113.9"), day - 1)).toBeGreaterThan(60_000)
    expect(throttle.wait(attempt(victim, "192.0.2.2"), day - 1)).toBeLessThanOrEqual(10_000)
    expect(throttle.wait(attempt(victim, "192.0.2.1"), day - 1)).toBe(0)
  })

  it("by a thousand attackers locks out nobody where they signed in before, and elsewhere for ten seconds at most", () => {
    const throttle = makeThrottle()
    throttle.right(attempt(victim, "192.0.2.1"))
    for (let i = 0; i < 1000; i++) throttle.wrong(attempt(victim, `203.0.${i >> 8}.${i & 255}`), i, undefined)
    expect(throttle.wait(attempt(victim, "192.0.2.2"), 1000)).toBeGreaterThan(0)
    expect(throttle.wait(attempt(victim, "192.0.2.2"), 1000)).toBeLessThanOrEqual(10_000)
    expect(throttle.wait(attempt(victim, "192.0.2.1"), 1000)).toBe(0)
  })

  it("by a neighbor behind the same address does not lock out anybody who signed in from there before", () => {
    const throttle = makeThrottle()
    throttle.right(attempt("neighbour@lab.example", "192.0.2.1"))
    guessAll(throttle, attempt(victim, "192.0.2.1"), 0, day)
    expect(throttle.wait(attempt("neighbour@lab.example", "192.0.2.1"), day - 1)).toBe(0)
  })
})

it.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"],
  ["2001:DB8:0001:2::1", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::1", "0:0:0:0::/64"],
  ["", ""],
])("attempts from %s are counted under %s", (address, origin) => {
  expect(originOf(address)).toBe(origin)
})

it.each([
  ["no proxy is trusted", "192.0.2.1", "203.0.113.9", [], "192.0.2.1"],
  ["the connection is IPv4 in IPv6", "::ffff:192.0.2.1", undefined, [], "192.0.2.1"],
  ["the connection is not from the proxy", "192.0.2.1", "203.0.113.9", ["192.0.2.2"], "192.0.2.1"],
  ["the proxy tells", "192.0.2.1", "203.0.113.9", ["192.0.2.1"], "203.0.113.9"],
  ["the proxy tells nothing", "192.0.2.1", undefined, ["192.0.2.1"], "192.0.2.1"],
  ["the sender invents some before", "192.0.2.1", "10.0.0.1, 127.0.0.1, 203.0.113.9", ["192.0.2.1"], "203.0.113.9"],
  ["proxies stand in a row", "::ffff:192.0.2.1", "203.0.113.9, 192.0.2.2", ["192.0.2.0/24"], "203.0.113.9"],
  ["the sender is a proxy itself", "192.0.2.1", "192.0.2.2", ["192.0.2.0/24"], "192.0.2.2"],
  ["nonsense stands there", "192.0.2.1", "203.0.113.9, nonsense", ["192.0.2.1"], "192.0.2.1"],
  ["the proxy is of IPv6", "fd00::1", "2001:DB8::0001", ["fd00::/8"], "2001:db8::1"],
])("the sender of a request is who it should be when %s", (_what, connection, forwarded, proxies, sender) => {
  expect(
    senderOf(
      connection,
      forwarded,
      proxies.flatMap((text) => parseProxies(text) ?? []),
    ),
  ).toBe(sender)
})

it("a hundred thousand failed attempts of unknown senders become eleven entries, which hold nothing that was typed", () => {
  const tally = makeTally()
  for (let i = 0; i < 100_000; i++)
    tally.add(attempt(`my secret ${i}`, `203.0.${(i >> 8) & 255}.${i & 255}`), undefined, "wrong", i)
  const entries = tally.take(9)
  expect(entries).toHaveLength(11)
  expect(JSON.stringify(entries)).not.toContain("my secret")
  expect(entries.map(({ detail }) => Number(/wrong=(\d+)/u.exec(detail)?.[1])).reduce((a, b) => a + b)).toBe(100_000)
  expect(tally.take(9)).toEqual([])
  tally.add(attempt(victim, "192.0.2.7"), "VI" as UserId, "throttled", 5)
  expect(tally.take(9)).toMatchObject([
    { actingAs: "VI", remote: "192.0.2.7", detail: expect.stringContaining("throttled=1") as string },
  ])
})

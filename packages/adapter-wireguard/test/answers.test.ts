import { type ShellCommand, ShellFault, type ShellResult } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { isInterfaceName, localShell, wireguardServer } from "../src/index.ts"

const [own, key] = ["6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI=", "iVlYOyEWNaLwDO8I0lQvsLMABAtMgnWRKPUmG6MCGHg="]
const table = `table inet rangewright_wg0 {
	set may {
		type ipv4_addr . ipv4_addr
		flags interval
		elements = { 198.51.100.4 . 10.7.0.0/16,
			     198.51.100.4 . 10.9.0.0/16 }
	}
}
`
const usual = {
  "wg show wg0 public-key": `${own}\n`,
  "wg show wg0 allowed-ips": `${key}\t198.51.100.4/32\n${own}\t(none)\n`,
  "nft list tables inet": "table inet others\ntable inet rangewright_wg0\n",
  "nft list table inet rangewright_wg0": table,
}

/** A host that answers commands so; what it was asked is kept. */
const host = (answers: Readonly<Record<string, string | ShellResult>>) => {
  const asked: ShellCommand[] = []
  const server = wireguardServer({
    interface: "wg0",
    shell: (command) => {
      asked.push(command)
      const answer = answers[[command.program, ...command.args].join(" ")] ?? ""
      return Effect.succeed(typeof answer === "string" ? { exitCode: 0, stdout: answer, stderr: "" } : answer)
    },
  })
  return { asked, server }
}
const failing = (stderr: string, exitCode = 1): ShellResult => ({ exitCode, stdout: "", stderr })
const fault = (answers: Readonly<Record<string, string | ShellResult>>) =>
  Effect.runPromise(Effect.flip(host({ ...usual, ...answers }).server.observe))

describe("the host of the VPN's server", () => {
  it("is asked for no secret, and shows peers and pairs", async () => {
    const { asked, server } = host(usual)
    expect(await Effect.runPromise(server.observe)).toEqual({
      publicKey: own,
      peers: [
        { publicKey: key, allowed: ["198.51.100.4/32"] },
        { publicKey: own, allowed: [] },
      ],
      pairs: [
        { client: "198.51.100.4", network: "10.7.0.0/16" },
        { client: "198.51.100.4", network: "10.9.0.0/16" },
      ],
      guarded: false,
    })
    expect(asked.map(({ args }) => args.join(" ")).filter((args) => /dump|showconf|private|preshared/u.test(args))).toEqual([])
  })

  it("has rules that count only when they are as they were loaded here, whoever changes them", async () => {
    const answers: Record<string, string> = { ...usual }
    const { server } = host(answers)
    await Effect.runPromise(server.apply({ remove: [], set: [], pairs: [] }))
    expect(await Effect.runPromise(server.observe)).toMatchObject({ guarded: true })
    answers["nft list table inet rangewright_wg0"] = table.replace("\t}\n}", "\t}\n\tchain forward {\n\t}\n}")
    expect(await Effect.runPromise(server.observe)).toMatchObject({ guarded: false })
    answers["nft list tables inet"] = ""
    expect(await Effect.runPromise(server.observe)).toMatchObject({ guarded: false, pairs: [] })
  })

  it("loses peers, and shows them, also when its rules can be neither read nor changed", async () => {
    const broken = failing("Error: Could not process rule: Device or resource busy")
    const { asked, server } = host({ ...usual, "nft -f -": broken, "nft list tables inet": broken })
    expect(await Effect.runPromise(server.observe)).toMatchObject({
      peers: [{ publicKey: key }, { publicKey: own }],
      pairs: undefined,
      whyNoPairs: { message: expect.stringContaining("resource busy") },
      guarded: false,
    })
    const change = server.apply({ remove: [own], set: [{ publicKey: key, allowed: ["198.51.100.4/32"] }], pairs: [] })
    expect(await Effect.runPromise(Effect.flip(change))).toMatchObject({ message: expect.stringContaining("resource busy") })
    const sets = asked.filter(({ args }) => args[0] === "set").map(({ args }) => args.join(" "))
    expect(sets).toEqual([`set wg0 peer ${own} remove`])
  })

  it("is told its rules also when peers cannot be removed, and then gets no new ones", async () => {
    const { asked, server } = host({ ...usual, [`wg set wg0 peer ${own} remove`]: failing("no such thing") })
    const change = server.apply({ remove: [own], set: [{ publicKey: key, allowed: ["198.51.100.4/32"] }], pairs: [] })
    expect(await Effect.runPromise(Effect.flip(change))).toMatchObject({ message: expect.stringContaining("no such thing") })
    expect(asked.filter(({ args }) => args[0] !== "list").map(({ args }) => args.join(" "))).toEqual([
      `set wg0 peer ${own} remove`,
      "-f -",
    ])
  })

  it("loses peers first, is told all rules in one change before any new peer, and peers by name alone", async () => {
    const { asked, server } = host(usual)
    const pairs = [{ client: "198.51.100.4", network: "10.7.0.0/16" }]
    await Effect.runPromise(server.apply({ remove: [own], set: [{ publicKey: key, allowed: ["198.51.100.4/32"] }], pairs }))
    const changes = asked.filter(({ args }) => args[0] !== "list")
    expect(changes.map(({ program, args }) => [program, ...args].join(" "))).toEqual([
      `wg set wg0 peer ${own} remove`,
      "nft -f -",
      `wg set wg0 peer ${key} allowed-ips 198.51.100.4/32`,
    ])
    expect(changes[1]?.input).toContain("elements = { 198.51.100.4 . 10.7.0.0/16 }")
  })

  it("is told only which pairs come and go while its rules are as they were loaded, and all rules once they were changed by hand", async () => {
    const answers: Record<string, string | ShellResult> = { ...usual }
    const { asked, server } = host(answers)
    const kept = { client: "198.51.100.4", network: "10.9.0.0/16" }
    const added = { client: "198.51.100.5", network: "10.9.0.0/16" }
    const loads = (): readonly string[] =>
      asked
        .filter(({ args }) => args[0] === "-f")
        .map(({ input = "" }) => String(input))
        .map((text) => (text.includes("delete table") ? "all rules" : text))
    const change = () => Effect.runPromise(server.apply({ remove: [], set: [], pairs: [kept, added] }))
    await change()
    await change()
    expect(loads()).toEqual([
      "all rules",
      "delete element inet rangewright_wg0 may { 198.51.100.4 . 10.7.0.0/16 }\nadd element inet rangewright_wg0 may { 198.51.100.5 . 10.9.0.0/16 }\n",
    ])
    // without any pair nft lists no elements
    answers["nft list table inet rangewright_wg0"] = table.replace(/\t\telements[^}]*\}\n/u, "")
    await change()
    expect(loads().at(-1)).toContain("add element inet rangewright_wg0 may { 198.51.100.4 . 10.9.0.0/16")
    answers["nft list table inet rangewright_wg0"] = table.replace("\t}\n}", "\t}\n\tchain forward {\n\t}\n}")
    await change()
    expect(loads().at(-1)).toBe("all rules")
  })

  it("that answers something else is named with what it said, shortened and without signs that a terminal obeys", async () => {
    expect(await fault({ "wg show wg0 public-key": "\u001b[2Jno key\n" })).toMatchObject({
      _tag: "VpnFault",
      message: "Cannot check the VPN's server: its answer has no public key: [2Jno key",
    })
    for (const line of ["x", `${key}`, `${key}\ta\tb`, "\t198.51.100.4/32", `${key}x\t198.51.100.4/32`])
      expect(await fault({ "wg show wg0 allowed-ips": `${line}\n` })).toMatchObject({ facts: { reason: "unexpected" } })
    const long = await fault({ "wg show wg0 public-key": failing(`${"x".repeat(1_000_000)}\u0007`) })
    expect(long.message.length).toBeLessThan(400)
    const odd = host({ ...usual, "nft list table inet rangewright_wg0": "elements = { 1 . 2 . 3, nonsense }" })
    expect(await Effect.runPromise(odd.server.observe)).toMatchObject({
      pairs: [
        { client: "1 . 2 . 3", network: "" },
        { client: "nonsense", network: "" },
      ],
    })
  })

  it("that lacks something says what to do", async () => {
    const cases = [
      [failing("sh: 1: wg: not found", 127), "Install wireguard-tools"],
      [failing("Unable to access interface: No such device"), "wg-quick@INTERFACE"],
      [failing("Unable to access interface: Operation not permitted"), "interface"],
      [failing("sudo: a password is required"), "rights of root"],
    ] as const
    for (const [answer, hint] of cases)
      expect(await fault({ "wg show wg0 public-key": answer })).toMatchObject({
        facts: { reason: "refused" },
        hint: expect.stringContaining(hint),
      })
    const away = wireguardServer({
      interface: "wg0",
      shell: () => Effect.fail(new ShellFault({ doing: "connect to node vpn over SSH", detail: "connect ECONNREFUSED" })),
    })
    expect(await Effect.runPromise(Effect.flip(away.observe))).toMatchObject({
      facts: { reason: "unreachable" },
      message: "Cannot check the VPN's server: Cannot connect to node vpn over SSH: connect ECONNREFUSED",
    })
  })
})

it("an interface is named so that it is one word for every program", () => {
  expect(["wg0", "wg-lab_1.x"].map(isInterfaceName)).toEqual([true, true])
  for (const name of ["", "-wg", "wg 0", "wg0;", "../wg", "0wg", "w".repeat(16), "wg0\n"])
    expect([name, isInterfaceName(name)]).toEqual([name, false])
})

describe("commands on the service's own host", () => {
  const run = (command: ShellCommand) => Effect.runPromise(Effect.result(localShell(command)))

  it("give what they print and how they end, and are fed what they read", async () => {
    expect(await run({ program: "cat", args: [], input: "fed" })).toMatchObject({ success: { exitCode: 0, stdout: "fed" } })
    expect(await run({ program: "sh", args: ["-c", "echo no >&2; exit 3"] })).toMatchObject({
      success: { exitCode: 3, stderr: "no\n" },
    })
    expect(await run({ program: "rangewright-no-such", args: [] })).toMatchObject({ success: { exitCode: 127 } })
  })

  it("are ended when they take too long, or print without an end", async () => {
    expect(await run({ program: "sleep", args: ["60"], timeoutSeconds: 0.05 })).toMatchObject({
      failure: { message: expect.stringContaining("did not end within") },
    })
    expect(await run({ program: "yes", args: [] })).toMatchObject({ failure: { _tag: "ShellFault" } })
  })
})

import { describe, expect, it } from "vitest"
import { cleanLine, cleanLines } from "../src/clean-lines.ts"
import { lookAtMachine, type MachineState } from "../src/machine-state.ts"
import { tellWaiting } from "../src/waiting.ts"

it.each([
  ["\u001b[1;32m==> done\u001b[0m", "==> done"],
  ["10%\r20%\r100%\r", "100%"],
  ["\u001b]0;title\u0007text", "text"],
  ["a\u0000b\u0007c\u009bd", "abcd"],
  ["tab\tstays", "tab\tstays"],
])("a line is what a terminal would show in the end: %j", (line, shown) => expect(cleanLine(line)).toBe(shown))

it("a line of carriage returns is read in one pass", () => expect(cleanLine(`${"\r".repeat(400_000)}x`)).toBe("x"))

it("a long line is cut, and says how long it was", () =>
  expect(cleanLine("x".repeat(100_000))).toMatch(/^x{4096} … \(100000 characters\)$/u))

it("a log is kept up to its limit; what the service says comes besides; secrets never come", () => {
  const lines = cleanLines((text) => text.replaceAll("hunter2", "********"))
  lines.add("the password is hunter2")
  for (let n = 0; n < 20_000; n += 1) lines.add("y".repeat(1000))
  lines.say("it is stopped")
  const text = lines.take()
  expect(text).toContain("the password is ********\n")
  expect(text.length).toBeLessThan(4.1 * 1024 * 1024)
  expect(text).toContain("[the rest is omitted: more than 4 MiB]\n")
  expect(text).toMatch(/==> rangewright: it is stopped\n$/u)
  expect(lines.take()).toBe("")
})

describe("why a build waits", () => {
  const agent = "/nodes/pve/qemu/120/agent/network-get-interfaces"
  const noAgent = { method: "GET", path: agent, status: 500, body: "" }

  it("is said once, again after minutes, with what the machine shows and who fetched its answers when; and what ended it", async () => {
    let now = Date.UTC(2026, 0, 1, 14)
    let state: MachineState | undefined = { power: "running", addresses: [] }
    const said: string[] = []
    const looked: string[] = []
    const waiting = tellWaiting({
      say: (line) => said.push(line),
      look: (node, vmid) => Promise.resolve((looked.push(`${node} ${vmid}`), state)),
      now: () => now,
    })
    const later = async (millis: number) => {
      now += millis
      waiting.onCall(noAgent)
      waiting.onCall(noAgent)
      await Promise.resolve()
    }
    waiting.onCall({ method: "PUT", path: "/nodes/pve/qemu/120/sendkey", status: 200, body: "" })
    await later(0)
    waiting.onFetched({ by: "192.0.2.70", path: "/preseed.cfg" })
    waiting.onFetched({ by: "192.0.2.70", path: "/preseed.cfg" })
    state = { power: "running", addresses: ["192.0.2.70"] }
    await later(6 * 60_000)
    state = { power: "stopped", addresses: [] }
    await later(5 * 60_000)
    state = undefined
    await later(5 * 60_000)
    const interfaces = [{ "ip-address": "127.0.0.1" }, { "ip-address": "192.0.2.70" }]
    const answers = { ...noAgent, status: 200, body: JSON.stringify({ data: { result: interfaces } }) }
    waiting.onCall(answers)
    waiting.onCall(answers)
    waiting.onCall({ method: "DELETE", path: "/nodes/pve/qemu/1", status: 403, body: '{"message":"Permission check failed\\n"}' })
    expect(said).toEqual([
      expect.stringMatching(
        /^VM 120 has no responding guest agent yet: it is running, and has not used an address that this host can see; it has not fetched its answers yet\./u,
      ),
      "192.0.2.70 fetches /preseed.cfg (14:00:00 UTC)",
      expect.stringMatching(
        /^VM 120 has had no responding guest agent for 6 minutes: it is running and uses the address 192\.0\.2\.70; 192\.0\.2\.70 fetched \/preseed\.cfg at 14:00:00 UTC/u,
      ),
      expect.stringContaining("for 11 minutes: it is stopped; "),
      expect.stringContaining("for 16 minutes: its state cannot be determined; "),
      "VM 120 has the address 192.0.2.70",
      "the hypervisor refuses DELETE /nodes/pve/qemu/1: Permission check failed",
    ])
    expect(looked).toEqual(Array(4).fill("pve 120"))
  })

  it("is not said of a machine that has answered while it was looked at", async () => {
    const said: string[] = []
    const waiting = tellWaiting({ say: (line) => said.push(line), look: () => Promise.resolve(undefined) })
    waiting.onCall(noAgent)
    waiting.onCall({ ...noAgent, status: 200, body: '{"ip-address":"192.0.2.70"}' })
    await Promise.resolve()
    expect(said).toEqual(["VM 120 has the address 192.0.2.70"])
  })
})

describe("a machine that does not answer", () => {
  const table = [
    "IP address       HW type     Flags       HW address            Mask     Device",
    "192.0.2.70       0x1         0x2         bc:24:11:00:00:01     *        vmbr1000",
    "192.0.2.71       0x1         0x0         bc:24:11:00:00:01     *        vmbr1000",
    "192.0.2.72       0x1         0x2         bc:24:11:00:00:02     *        vmbr1000",
  ].join("\n")
  const look = (status: unknown, config: unknown) =>
    lookAtMachine(
      (path) => Promise.resolve(path === "/config" ? config : status),
      () => Promise.resolve(table),
    )

  it("shows whether it runs, and the addresses from which its own cards have spoken", async () => {
    const config = { net0: "virtio=BC:24:11:00:00:01,bridge=vmbr1000", description: "net0: virtio=BC:24:11:00:00:02" }
    expect(await look({ status: "running", qmpstatus: "running" }, config)).toEqual({
      power: "running",
      addresses: ["192.0.2.70"],
    })
    expect(await look({ status: "stopped" }, {})).toEqual({ power: "stopped", addresses: [] })
  })

  it.each([
    ["nothing", undefined, undefined, undefined],
    ["something else", [], "x", undefined],
    ["a long word", { status: "x".repeat(1000) }, { net0: 7 }, { power: "in an unknown state", addresses: [] }],
  ])("does no harm by an answer that holds %s", async (_, status, config, state) =>
    expect(await look(status, config)).toEqual(state),
  )

  it("may be gone", async () => expect(await lookAtMachine(() => Promise.reject(new Error("no VM")))).toBeUndefined())
})

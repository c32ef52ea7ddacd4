import { expect, it } from "vitest"
import { cleanLine, cleanLines } from "../src/clean-lines.ts"
import { tellWaiting } from "../src/waiting.ts"

it.each([
  ["\u001b[1;32m==> done\u001b[0m", "==> done"],
  ["10%\r20%\r100%\r", "100%"],
  ["\u001b]0;title\u0007text", "text"],
  ["a\u0000b\u0007c\u009bd", "abcd"],
  ["tab\tstays", "tab\tstays"],
])("a line is what a terminal would show in the end: %j", (line, shown) => expect(cleanLine(line)).toBe(shown))

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

it("why a build waits is said once, again after minutes, and what ended it", () => {
  let now = 0
  const said: string[] = []
  const waiting = tellWaiting(
    (line) => said.push(line),
    () => now,
  )
  const agent = (status: number, body = "") =>
    waiting.onCall({ method: "GET", path: "/nodes/pve/qemu/120/agent/network-get-interfaces", status, body })
  waiting.onCall({ method: "PUT", path: "/nodes/pve/qemu/120/sendkey", status: 200, body: "" })
  agent(500)
  agent(500)
  waiting.onFetched({ by: "192.0.2.70", path: "/preseed.cfg" })
  waiting.onFetched({ by: "192.0.2.70", path: "/preseed.cfg" })
  now = 6 * 60_000
  agent(500)
  agent(500)
  const interfaces = [{ "ip-address": "127.0.0.1" }, { "ip-address": "192.0.2.70" }]
  agent(200, JSON.stringify({ data: { result: interfaces } }))
  agent(200, JSON.stringify({ data: { result: interfaces } }))
  waiting.onCall({ method: "DELETE", path: "/nodes/pve/qemu/1", status: 403, body: '{"message":"Permission check failed\\n"}' })
  expect(said).toEqual([
    expect.stringContaining("VM 120 has no guest agent that answers yet: it has not fetched its answers yet."),
    "192.0.2.70 fetches /preseed.cfg",
    expect.stringContaining("VM 120 has had no guest agent that answers for 6 minutes: it fetched /preseed.cfg from 192.0.2.70"),
    "VM 120 has the address 192.0.2.70",
    "the hypervisor refuses DELETE /nodes/pve/qemu/1: Permission check failed",
  ])
})

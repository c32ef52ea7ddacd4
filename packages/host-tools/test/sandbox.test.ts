import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import * as Effect from "effect/Effect"
import { sandboxArguments } from "../src/sandbox.ts"
import { sandboxAvailability } from "../src/sandbox-availability.ts"

const found = await Effect.runPromise(sandboxAvailability("auto"))
const note = found.works ? "" : ` (skipped: ${found.because})`

describe.skipIf(!found.works)(`the sandbox of tools${note}`, () => {
  it("allows no kernel settings to be changed, whatever account the service has", () => {
    const look =
      "for d in /proc/sys /proc/bus /proc/fs /proc/irq; do [ -d $d ] && find $d -type f -writable; done; test -w /proc/sysrq-trigger && echo sysrq; echo looked"
    const seen = execFileSync("bwrap", [...sandboxArguments([]), "/bin/sh", "-c", look], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
    expect(seen).toBe("looked\n")
  })
})

it("a sandbox sees nothing of the host but its programs and what it is given", () => {
  const args = sandboxArguments([
    { from: "/data/scratch", writable: true },
    { from: "/library", to: "/roles" },
  ])
  const pairs = args.flatMap((arg, at) => (arg.includes("bind") ? [[arg, args[at + 1], args[at + 2]]] : []))
  expect(pairs).toContainEqual(["--bind", "/data/scratch", "/data/scratch"])
  expect(pairs).toContainEqual(["--ro-bind-try", "/library", "/roles"])
  expect(pairs.filter(([how]) => how === "--bind")).toHaveLength(1)
  const sources = pairs.map(([, from = ""]) => from)
  for (const hidden of ["/", "/etc", "/home", "/root", "/var", "/run", "/etc/shadow", "/etc/ssl", "/etc/ssl/private"])
    expect(sources).not.toContain(hidden)
  for (const word of ["--die-with-parent", "--unshare-net", "--disable-userns"]) expect(args).toContain(word)
  expect(args.join(" ")).toContain("--cap-drop ALL")
})

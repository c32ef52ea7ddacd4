import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { sandboxArguments } from "../../src/playbook/sandbox.ts"
import { found, skipNote } from "./support/obstacle.ts"

const because = found.sandbox.works ? undefined : found.sandbox.because

describe.skipIf(because !== undefined)(`the sandbox of roles${skipNote(because)}`, () => {
  it("lets nothing of the kernel be set, whoever the service is", () => {
    const look =
      "for d in /proc/sys /proc/bus /proc/fs /proc/irq; do [ -d $d ] && find $d -type f -writable; done; test -w /proc/sysrq-trigger && echo sysrq; echo looked"
    const seen = execFileSync("bwrap", [...sandboxArguments([]), "/bin/sh", "-c", look], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
    expect(seen).toBe("looked\n")
  })
})

import { execFileSync } from "node:child_process"
import { expect, it } from "vitest"

const script = `
  import { getPriority } from "node:os"
  import { yieldToOthers } from "${new URL("../src/own-priority.ts", import.meta.url).href}"
  yieldToOthers()
  process.stdout.write(String(getPriority(0)))
`

it.skipIf(process.platform !== "linux").each([
  [0, 5],
  [10, 15],
  [19, 19],
])("a thread of a service that runs with niceness %i yields to it, and never asks for more priority", (of, niceness) => {
  const told = execFileSync("nice", ["-n", String(of), process.execPath, "--input-type=module", "-e", script], {
    encoding: "utf8",
  })
  expect(told).toBe(String(niceness))
})

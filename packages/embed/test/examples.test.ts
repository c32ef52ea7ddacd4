import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const folder = join(import.meta.dirname, "../../../examples/embed")
const printed = (example: string): readonly string[] =>
  execFileSync(process.execPath, [join(folder, `${example}.ts`)], { encoding: "utf8", timeout: 60_000 })
    .trimEnd()
    .split("\n")

/** What each example prints, or how that begins. */
const expected: Readonly<Record<string, readonly string[]>> = {
  "validate-a-configuration": ["valid: false", "error in line 6, column 11: ludus[0].vlan: 5000 is out of range"],
  "plan-a-range": ["Plan for range LAB: 4 to create"],
  "with-your-own-adapters": ["Plan for range LAB: 4 to create"],
  "read-a-catalog": [
    "blueprint web 1.1.0: upgrade_available",
    "role acme.hello: not_installed, needed by web",
    "role geerlingguy.docker: upgrade_available, needed by web",
  ],
  "resolve-subscription-roles": [
    "acme.exchange 1.2.0, professional: may be installed",
    "acme.forest 1.2.0, enterprise: the licence does not open it",
  ],
  "plan-a-migration": ["8 steps", "Plan to migrate to SDN networking: 2 networks to create, 1 machine to move, about 9 s"],
  "plan-an-installation": [
    "create blueprint acme-labs/web",
    "differs local_role acme.hello: version 1.0.0 is installed",
    "place role pub.docker",
    "create blueprint acme-labs/web",
    "replace local_role acme.hello",
    "place role pub.docker",
  ],
}

test.each(Object.entries(expected))("the example %s prints what it promises", (example, lines) => {
  expect(printed(example).slice(0, lines.length)).toEqual(lines)
})

/** Serves until it is stopped: run by test/packaging/pack.test.ts. */
const service = "serve-the-api"

test("the list of examples is complete", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"))
  expect(files.map((file) => file.slice(0, -3)).toSorted()).toEqual([...Object.keys(expected), service].toSorted())
})

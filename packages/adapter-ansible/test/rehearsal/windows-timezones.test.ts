import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { parse } from "yaml"
import { playbooksFolder } from "../../src/playbook/options.ts"

const names: unknown = parse(readFileSync(join(playbooksFolder, "vars", "windows-timezones.yml"), "utf8"))

it("every time zone that a configuration may name has a name that Windows knows, but one that Windows has not", () => {
  const unknown = Intl.supportedValuesOf("timeZone").filter((zone) => typeof Object(names)[zone] !== "string")
  expect(unknown).toEqual(["Antarctica/Troll"])
})

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { parse } from "yaml"
import { playbooksFolder } from "../../src/playbook/options.ts"

const names: unknown = parse(readFileSync(join(playbooksFolder, "vars", "windows-timezones.yml"), "utf8"))

it("every time zone allowed in a configuration has a Windows name, except one that Windows lacks", () => {
  const unknown = Intl.supportedValuesOf("timeZone").filter((zone) => typeof Object(names)[zone] !== "string")
  expect(unknown).toEqual(["Antarctica/Troll"])
})

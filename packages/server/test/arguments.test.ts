import { describe, expect, test } from "vitest"
import { readArguments, UsageError } from "../src/command/arguments.ts"

describe("the command line", () => {
  test("without words the service is run", () => {
    expect(readArguments([]).command).toBe("serve")
  })
  test("options may stand before and after the command", () => {
    expect(readArguments(["demo", "--once", "--port", "0"])).toMatchObject({ command: "demo", once: true, port: 0 })
    expect(readArguments(["--config", "x.yml", "doctor"])).toMatchObject({ command: "doctor", config: "x.yml" })
    expect(readArguments(["backup", "copy.db"])).toMatchObject({ command: "backup", file: "copy.db" })
    expect(readArguments(["root-key", "old-key"])).toMatchObject({ command: "root-key", file: "old-key" })
    expect(readArguments(["root-key"]).file).toBeUndefined()
    expect(readArguments(["doctor", "-h"]).command).toBe("help")
  })
  test.each([
    ["frob"],
    ["--frob"],
    ["backup"],
    ["serve", "surplus"],
    ["demo", "--port", "x"],
    ["demo", "--port", "70000"],
    ["demo", "--speed", "0"],
  ])("%s %s %s is refused in one line", (...argv) => {
    const words = argv.filter((w) => w !== undefined)
    expect(() => readArguments(words)).toThrow(UsageError)
  })
})

import { describe, expect, test } from "vitest"
import { readArguments, UsageError } from "../src/command/arguments.ts"
import { commands, usageOf } from "../src/command/commands.ts"
import { helpOf, helpText } from "../src/command/help.ts"

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
  test("help lists every command, and each command has help of its own", () => {
    for (const command of commands) {
      expect(helpText).toContain(`\n  ${usageOf(command)} `)
      expect(readArguments(["help", command])).toMatchObject({ command: "help", about: command })
      expect(readArguments([command, "--help"])).toMatchObject({ command: "help", about: command })
      expect(helpOf(command)).toContain(`npm start -- ${usageOf(command)}`)
    }
    for (const command of ["backup", "restore"] as const) expect(helpOf(command)).not.toContain(`(${command} --help)`)
    expect(helpOf("doctor")).toContain("exit status:")
    expect(helpOf("demo")).toContain("--speed N")
    expect(helpOf("doctor")).not.toContain("--speed")
    expect(readArguments(["--help"]).about).toBeUndefined()
  })
  test("a mistyped option is reported with the intended one", () => {
    expect(() => readArguments(["demo", "--onec"])).toThrow("Unknown option --onec; did you mean --once?")
    expect(() => readArguments(["demo", "-x"])).toThrow(/^Unknown option -x$/u)
  })
  test.each([
    ["--data ./x", "Unknown option --data; set the configuration key data (RANGEWRIGHT_DATA) instead"],
    ["doctor --proxmox-url=https://pve", "set the configuration key proxmox_url (RANGEWRIGHT_PROXMOX_URL) instead"],
    ["--port 9000", "serve does not accept --port; set the configuration key port (RANGEWRIGHT_PORT) instead"],
    ["--data-dir ./x", "did you mean the configuration key data (RANGEWRIGHT_DATA)?"],
    ["--datadir ./x", "did you mean the configuration key data (RANGEWRIGHT_DATA)?"],
    ["--database x", "did you mean the configuration key database_url (RANGEWRIGHT_DATABASE_URL)?"],
    ["--log-file x", "did you mean one of the configuration keys log_level, log_format?"],
    ["--token x", "proxmox_token_id, proxmox_token_secret, galaxy_token, subscription_token?"],
    ["--admin-prot 1", "did you mean the configuration key admin_port (RANGEWRIGHT_ADMIN_PORT)?"],
    ["--prot 1", "did you mean the configuration key port (RANGEWRIGHT_PORT)?"],
    ["--conf x.yml", "did you mean --config?"],
    ["--config-file x.yml", "did you mean --config?"],
  ])("%s is told with the option or the configuration key that was meant", (line, told) => {
    expect(() => readArguments(line.split(" "))).toThrow(told)
  })
  test("a command that reads no configuration does not suggest its keys", () => {
    expect(() => readArguments(["demo", "--data", "x"])).toThrow(/^Unknown option --data$/u)
    expect(() => readArguments(["demo", "--config", "x"])).toThrow(/^demo does not accept --config$/u)
    expect(() => readArguments(["--frob"])).toThrow(/^Unknown option --frob$/u)
  })
  test("a mistyped command is reported with the intended one, and all commands", () => {
    expect(() => readArguments(["docter"])).toThrow(
      `Unknown command docter; did you mean doctor? Commands: ${commands.join(", ")}`,
    )
  })
  test.each([
    ["frob"],
    ["--frob"],
    ["backup"],
    ["serve", "surplus"],
    ["demo", "--port", "x"],
    ["demo", "--port", "70000"],
    ["demo", "--speed", "0"],
    ["doctor", "--once"],
    ["demo", "--config", "x.yml"],
    ["help", "frob"],
  ])("%s %s %s is refused in one line", (...argv) => {
    const words = argv.filter((w) => w !== undefined)
    expect(() => readArguments(words)).toThrow(UsageError)
  })
})

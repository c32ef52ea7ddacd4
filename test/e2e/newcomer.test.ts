import { readdirSync } from "node:fs"
import { afterEach, describe, expect, test } from "vitest"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { adLabMachines } from "./support/lab.ts"
import { command, endAll, entries, type Program, repository, start } from "./support/program.ts"

afterEach(async () => {
  await endAll()
  removeFolders()
})

const demo = (temporary: string, ...args: readonly string[]): Program =>
  start("server", ["demo", "--speed", "600", "--port", "0", ...args], { env: { TMPDIR: temporary } })

/** The commands that the demo suggests. */
const curls = (text: string): readonly string[] => text.split("\n").filter((line) => line.startsWith("  curl "))

const typed = async (line: string): Promise<unknown> => {
  const program = command("sh", ["-c", line])
  expect(await program.ended).toEqual({ code: 0, signal: null })
  return JSON.parse(program.stdout())
}

describe("the demo", { timeout: 300_000 }, () => {
  test("deploys the example with plain output, shows every machine's address, and exits with 0", async () => {
    const temporary = temporaryFolder()
    const program = demo(temporary, "--once")
    expect(await program.ended).toEqual({ code: 0, signal: null })
    const text = program.stdout()
    expect(program.stderr()).toBe("")
    expect(text).toContain("== UMA: SUCCESS")
    // without a terminal, no line is redrawn
    expect(text).not.toContain("\u001b")
    for (const name of adLabMachines) {
      expect(text).toMatch(new RegExp(`^ {2}\\d\\d:\\d\\d done +Start UMA-${name}$`, "mu"))
      expect(text).toMatch(new RegExp(`^ {2}UMA-${name} +10\\.\\d+\\.\\d+\\.\\d+ +on`, "mu"))
    }
    expect(text).toMatch(/VLAN 10 {2}10\.\d+\.10\.0\/24/u)
    // a demo that has ended suggests no commands
    expect(curls(text)).toEqual([])
    expect(text).not.toMatch(/https?:|key /u)
    expect(readdirSync(temporary)).toEqual([])
  })

  test("serves until Ctrl-C: its curl lines work as printed, and its data are removed with it", async () => {
    const temporary = temporaryFolder()
    const program = demo(temporary)
    await program.says(/^Serving until Ctrl-C\.$/mu)
    const [range = "", logs = "", powerOff = ""] = curls(program.stdout())
    expect(await typed(range)).toMatchObject({ rangeID: "UMA", rangeState: "SUCCESS", numberOfVMs: adLabMachines.length })
    expect(await typed(logs)).toMatchObject({ result: expect.stringContaining("PLAY RECAP") as string })
    await typed(powerOff)
    await eventually(
      "a range whose machines are all off",
      () => typed(range) as Promise<{ readonly VMs: readonly { readonly poweredOn: boolean }[] }>,
      ({ VMs }) => VMs.every(({ poweredOn }) => !poweredOn),
    )
    expect(readdirSync(temporary)).not.toEqual([])
    program.signal("SIGINT")
    expect(await program.ended).toEqual({ code: 0, signal: null })
    expect(readdirSync(temporary)).toEqual([])
  })

  test("removes its data when it is interrupted during the deploy, and when its output is closed", async () => {
    const temporary = temporaryFolder()
    const interrupted = demo(temporary)
    await interrupted.says(/^== The deploy$/mu)
    interrupted.signal("SIGINT")
    expect(await interrupted.ended).toEqual({ code: 1, signal: null })
    expect(interrupted.stderr()).toBe("")
    expect(readdirSync(temporary)).toEqual([])

    const line = `${process.execPath} ${repository}${entries.server} demo --speed 600 --port 0 | head -n 1`
    const unread = command("sh", ["-c", line], { env: { TMPDIR: temporary } })
    expect(await unread.ended).toEqual({ code: 0, signal: null })
    expect(unread.stderr()).toBe("")
    expect(readdirSync(temporary)).toEqual([])
  })

  test("removes the data of a killed demo, and not those of a running one", async () => {
    const temporary = temporaryFolder()
    const killed = demo(temporary)
    await killed.says(/^== The deploy$/mu)
    killed.signal("SIGKILL")
    await killed.ended
    const [left = ""] = readdirSync(temporary)
    const running = demo(temporary)
    await running.says(/^Serving until Ctrl-C\.$/mu)
    expect(running.stdout()).toContain(`Removed ${temporary}/${left}, the data of a demo that was killed.`)
    const [inUse] = readdirSync(temporary)
    const last = demo(temporary, "--once")
    expect(await last.ended).toEqual({ code: 0, signal: null })
    expect(last.stdout()).not.toContain("Removed")
    expect(readdirSync(temporary)).toEqual([inUse])
    running.signal("SIGINT")
    expect(await running.ended).toEqual({ code: 0, signal: null })
    expect(readdirSync(temporary)).toEqual([])
  })

  test("redraws a line for each machine on a terminal", async ({ skip }) => {
    const probe = command("sh", ["-c", "command -v script"])
    if ((await probe.ended).code !== 0) skip("the command `script` makes the terminal, and is not here")
    const typed = `${process.execPath} ${repository}${entries.server} demo --once --speed 600 --port 0`
    const program = command("script", ["--quiet", "--return", "--command", typed, "/dev/null"], {
      env: { TMPDIR: temporaryFolder(), TERM: "xterm" },
    })
    expect(await program.ended).toEqual({ code: 0, signal: null })
    const text = program.stdout()
    expect(text).toContain(`\u001b[${adLabMachines.length + 2}A`)
    for (const name of adLabMachines) expect(text).toMatch(new RegExp(`\u001b\\[2K {2}UMA-${name} +#{16} .* done`, "u"))
    expect(text).not.toMatch(/\bdone +Start UMA-/u)
  })
})

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

/** The commands that the demo invites to try. */
const curls = (text: string): readonly string[] => text.split("\n").filter((line) => line.startsWith("  curl "))

const typed = async (line: string): Promise<unknown> => {
  const program = command("sh", ["-c", line])
  expect(await program.ended).toEqual({ code: 0, signal: null })
  return JSON.parse(program.stdout())
}

describe("a newcomer's demo", { timeout: 300_000 }, () => {
  test("deploys the example in plain lines, shows every machine's address, and ends with 0 on success", async () => {
    const temporary = temporaryFolder()
    const program = demo(temporary, "--once")
    expect(await program.ended).toEqual({ code: 0, signal: null })
    const text = program.stdout()
    expect(program.stderr()).toBe("")
    expect(text).toContain("== UMA: SUCCESS")
    // no terminal: nothing is drawn over
    expect(text).not.toContain("\u001b")
    for (const name of adLabMachines) {
      expect(text).toMatch(new RegExp(`^ {2}\\d\\d:\\d\\d done +Start UMA-${name}$`, "mu"))
      expect(text).toMatch(new RegExp(`^ {2}UMA-${name} +10\\.\\d+\\.\\d+\\.\\d+ +on`, "mu"))
    }
    expect(text).toMatch(/VLAN 10 {2}10\.\d+\.10\.0\/24/u)
    // what has stopped cannot be called
    expect(curls(text)).toEqual([])
    expect(text).not.toMatch(/https?:|key /u)
    expect(readdirSync(temporary)).toEqual([])
  })

  test("serves until Ctrl-C: its curl lines work as they stand, and its data go with it", async () => {
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

  test("takes its data with it when it is interrupted in the midst of the deploy, and when nobody reads it any more", async () => {
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

  test("removes what one before it left that was killed, and not what one that runs needs", async () => {
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

  test("draws a line for each machine over and over on a terminal", async ({ skip }) => {
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

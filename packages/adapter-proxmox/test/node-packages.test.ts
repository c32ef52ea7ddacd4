import { type ShellCommand, ShellFault, type ShellResult } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { simulationProblem } from "../src/packages/answers.ts"
import { sshNodePackages } from "../src/packages/node-packages.ts"

/** A fault: the connection breaks. */
type Said = string | Partial<ShellResult> | ShellFault

/** A node that answers so to each program, `apt-get --simulate` by that name. */
const nodeThat = (says: Readonly<Record<string, Said>>) => {
  const commands: ShellCommand[] = []
  const run = (_node: string, command: ShellCommand) => {
    commands.push(command)
    const name = command.args.includes("--simulate") ? "simulate" : command.program
    const said = says[name] ?? ""
    if (said instanceof ShellFault) return Effect.fail(said)
    return Effect.succeed({ exitCode: 0, stdout: "", stderr: "", ...(typeof said === "string" ? { stdout: said } : said) })
  }
  return { packages: sshNodePackages(["pve1"], { run }), commands }
}
const usual = {
  dpkg: "amd64\n",
  "dpkg-query": "pve-qemu-kvm\t10.0.2-4\tii \n",
  "apt-cache": " pve-qemu-kvm | 10.0.2-4 | http://packages.example trixie/main amd64 Packages\n",
}
const observe = (says: Readonly<Record<string, Said>>) =>
  Effect.runPromise(Effect.result(nodeThat({ ...usual, ...says }).packages.observe("pve1")))

describe("what a node answers", () => {
  it("is understood", async () => {
    expect(
      await observe({
        "dpkg-query": {
          exitCode: 1,
          stdout:
            "pve-edk2-firmware\t\tun \npve-edk2-firmware-ovmf\t1\trc \npve-edk2-firmware-legacy\t1\tiF \npve-qemu-kvm\t2:10.0.2-4\thi \n",
          stderr: "dpkg-query: no packages found",
        },
      }),
    ).toMatchObject({
      success: {
        architecture: "amd64",
        packages: [
          { name: "pve-edk2-firmware-legacy", version: "1", held: false, settled: false, offered: [] },
          { name: "pve-qemu-kvm", version: "2:10.0.2-4", held: true, settled: true, offered: ["10.0.2-4"] },
        ],
      },
    })
  })

  it.each<[string, Record<string, Said>]>([
    ["an architecture that is a command", { dpkg: "amd64; reboot" }],
    ["nothing for an architecture", { dpkg: "" }],
    ["a package that nobody asked for", { "dpkg-query": "bash\t5\tii \n" }],
    ["a version that is an option", { "dpkg-query": "pve-qemu-kvm\t--force\tii \n" }],
    ["a version with a command", { "dpkg-query": "pve-qemu-kvm\t1$(reboot)\tii \n" }],
    ["a status that dpkg does not have", { "dpkg-query": "pve-qemu-kvm\t1\tok \n" }],
    ["a package twice", { "dpkg-query": "pve-qemu-kvm\t1\tii \npve-qemu-kvm\t2\tii \n" }],
    ["more columns", { "dpkg-query": "pve-qemu-kvm\t1\tii \tmore\n" }],
    ["a web page", { "dpkg-query": "<html>\u001b[2J" }],
    ["an offer that nobody asked for", { "apt-cache": " bash | 5 | http://packages.example\n" }],
    ["an offer with a command", { "apt-cache": " pve-qemu-kvm | 1`id` | http://packages.example\n" }],
    ["an offer in another form", { "apt-cache": "pve-qemu-kvm 1\n" }],
  ])("is refused: %s", async (_what, says) => {
    const found = await observe(says)
    expect(found).toMatchObject({ _tag: "Failure", failure: { kind: "unavailable", facts: { reason: "unexpected" } } })
    expect(JSON.stringify(found)).not.toContain("\u001b")
  })

  it("is told in the node's own words where it cannot do it, and what to do", async () => {
    expect(await observe({ "dpkg-query": { exitCode: 127, stderr: "bash: dpkg-query: command not found" } })).toMatchObject({
      failure: { message: expect.stringContaining("command not found"), hint: expect.stringContaining("Proxmox VE") },
    })
  })
})

const content = new TextEncoder().encode("package")
const signed = {
  name: "pve-qemu-kvm",
  version: "10.0.2-4+lab1",
  architecture: "amd64",
  bytes: content.length,
  sha256: "1".repeat(64),
} as const
const folder = "/var/lib/rangewright-packages.abcdefghijkl"
const willing = {
  ...usual,
  mktemp: `${folder}\n`,
  sha256sum: `${signed.sha256}  ${folder}/x\n`,
  "dpkg-deb": "pve-qemu-kvm\t10.0.2-4+lab1\tamd64",
  simulate:
    "Inst pve-qemu-kvm [10.0.2-4] (10.0.2-4+lab1 local-deb [amd64])\nConf pve-qemu-kvm (10.0.2-4+lab1 local-deb [amd64])\n",
}
const install = async (says: Readonly<Record<string, Said>>) => {
  const { packages, commands } = nodeThat({ ...willing, ...says })
  const result = await Effect.runPromise(
    Effect.result(packages.install("pve1", { for: "10.0.2-4", packages: [signed] }, [{ package: signed, content }])),
  )
  const changes = commands.filter(({ program, args }) => program === "sh" || (program === "apt-mark" && args.length > 0))
  return { result, commands, changes: changes.map(({ program }) => program) }
}

describe("an installation", () => {
  it("is looked at before it is done, and leaves no file", async () => {
    const { result, commands, changes } = await install({})
    expect(result._tag).toBe("Success")
    expect(changes).toEqual(["sh", "apt-mark"])
    expect(commands.find(({ program }) => program === "dd")).toMatchObject({ input: content })
    expect(commands.at(-1)).toMatchObject({ program: "rm", args: ["-rf", folder] })
    const words = commands.map(({ program, args }) => [program, ...args].join(" "))
    const [simulated, done] = [
      words.findIndex((line) => line.includes("--simulate")),
      words.findIndex((line) => line.startsWith("sh ")),
    ]
    expect(simulated).toBeGreaterThan(0)
    expect(simulated).toBeLessThan(done)
  })

  it.each<[string, Record<string, Said>]>([
    ["has another version by now", { "dpkg-query": "pve-qemu-kvm\t10.1.0-1\tii \n" }],
    ["names another folder", { mktemp: "/etc\n" }],
    ["names a folder with a command", { mktemp: "/var/lib/rangewright-packages.abcdefghijk$(id)\n" }],
    ["has no room", { dd: { exitCode: 1, stderr: "No space left on device" } }],
    ["received something else", { sha256sum: `${"2".repeat(64)}  x` }],
    ["finds another package in the file", { "dpkg-deb": "openssh-server\t1\tamd64" }],
    ["would install another package", { simulate: "Inst libevil (1 x [amd64])\n" }],
    ["would remove one", { simulate: "Remv proxmox-ve [9]\n" }],
    ["would install another version", { simulate: "Inst pve-qemu-kvm [1] (3 x [amd64])\n" }],
  ])("changes nothing on a node that %s", async (_what, says) => {
    const { result, changes, commands } = await install(says)
    expect(result).toMatchObject({ _tag: "Failure" })
    expect(changes).toEqual([])
    // of a folder that the node only pretends to have made nothing is removed
    const removed = commands.filter(({ program }) => program === "rm").flatMap(({ args }) => args)
    expect(removed.filter((word) => word !== "-rf" && word !== folder)).toEqual([])
  })

  it("leaves the files where the connection broke: apt may still read them", async () => {
    const { result, commands } = await install({ sh: new ShellFault({ doing: "run sh", detail: "the connection was lost" }) })
    expect(result).toMatchObject({ failure: { kind: "unavailable", message: expect.stringContaining("connection was lost") } })
    expect(commands.map(({ program }) => program)).not.toContain("rm")
  })

  it("tells what apt said at its end", async () => {
    const { result } = await install({
      sh: { exitCode: 100 },
      tail: "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'",
    })
    expect(result).toMatchObject({
      failure: {
        kind: "failed",
        message: expect.stringContaining("dpkg was interrupted"),
        hint: expect.stringContaining("--configure -a"),
      },
    })
  })

  it("that changes nothing, or configures what is there, is no problem", () => {
    expect(simulationProblem("Reading package lists...\nConf pve-qemu-kvm (1 x [amd64])\n", [signed])).toBeUndefined()
    expect(simulationProblem("Inst pve-qemu-kvm:amd64 [1] (10.0.2-4+lab1 x [amd64])\n", [signed])).toBeUndefined()
    expect(simulationProblem("Purg pve-qemu-kvm [1]\n", [signed])).toContain("remove pve-qemu-kvm")
  })
})

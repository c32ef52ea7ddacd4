import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { objections, readDocumentation } from "./module-documentation.ts"
import { collections, found, patience, skipNote } from "../playbook/support/obstacle.ts"
import { plannedStages, type Stage } from "./planned-stages.ts"
import { type Answers, type Call, login, openTheatre, type Performance, type Theatre } from "./rehearsal.ts"
import { builtInTasks } from "./tasks.ts"
import { newMachine, secrets, settledMachine, windowsRange } from "./windows-range.ts"

const tasks = builtInTasks().filter(
  ({ module }) => !module.startsWith("ansible.builtin.") && !module.startsWith("ansible.posix."),
)
const modules = [...new Set(tasks.map(({ module }) => module))].toSorted()
const planned = plannedStages(windowsRange)
const [some] = [...planned.values()].filter(({ machine }) => machine.mark.machine === "LAB-ws")
if (some === undefined) throw new Error("the plan has no stage of LAB-ws")
const hostKey = "Kms-Host-Key-4"
const clientKey = "Kms-Client-Key-5"
const dressed = { disguised: true, manufacturer: "Dell Inc.", owner: "it's {{ nobody }}", persist: true }
const alone: readonly (readonly [stage: Stage["stage"], input: Stage["input"]])[] = [
  ["windows-update", {}],
  ["inspect-windows", {}],
  ["activate-windows", { host: "kms.example.org", port: 1688, license_key: clientKey }],
  ["kms-server", { license_key: hostKey }],
  ["anti-sandbox", dressed],
]
const stages = new Map([
  ...planned,
  ...alone.map(([stage, input]) => [`${stage}:LAB-ws`, { ...some, stage, input } as Stage] as const),
])
const stageOf = (key: string): Stage => {
  const stage = stages.get(key)
  if (stage === undefined) throw new Error(`the plan has no ${key}, only ${[...stages.keys()].join(", ")}`)
  return stage
}

const rehearsed = [
  "address:LAB-dc",
  "sysprep:LAB-dc",
  "windows-base:LAB-ws",
  "windows-base:LAB-alone",
  "primary-dc:LAB-dc",
  "alt-dc:LAB-dc2",
  "additional-tools:LAB-ws",
  "chocolatey:LAB-ws",
  "domain-join:LAB-ws",
  "office:LAB-ws",
  "visual-studio:LAB-ws",
  "windows-update:LAB-ws",
  "activate-windows:LAB-ws",
  "kms-server:LAB-ws",
  "anti-sandbox:LAB-ws",
] as const
const noCollections =
  found.because ?? (found.missing.length === 0 ? undefined : `missing collections: ${found.missing.join(", ")}`)

/** Nothing here proves what a module does to Windows: Ansible and the playbooks are real, the modules and the machine are not. */
describe.skipIf(found.because !== undefined)(
  `stages of Windows machines, rehearsed${skipNote(found.because)}`,
  { timeout: patience },
  () => {
    let theatre: Theatre
    const made: Call[] = []
    const first = new Map<string, Performance>()
    const rehearse = async (stage: Stage, answers: Answers): Promise<Performance> => {
      const performance = await theatre.rehearse(stage, answers)
      made.push(...performance.calls)
      return performance
    }
    const callsOf = (key: (typeof rehearsed)[number], module: string): readonly Call[] =>
      (first.get(key)?.calls ?? []).filter((call) => call.module === module)
    const asked = (key: (typeof rehearsed)[number], module: string) => callsOf(key, module).map((call) => call.arguments)

    beforeAll(async () => {
      theatre = await openTheatre(modules)
      for (const key of rehearsed) first.set(key, await rehearse(stageOf(key), newMachine))
    }, patience)
    afterAll(() => theatre?.close())

    it.each(rehearsed)("%s comes to its end with what the plan gives it", (key) => {
      const performance = first.get(key)
      expect(performance?.ok, performance?.said).toBe(true)
      expect(performance?.changed).toBe(true)
    })

    it("a machine takes its address on its own, then its name, and gets the Windows name of its time zone", () => {
      const [, take] = callsOf("address:LAB-dc", "ansible.windows.win_powershell")
      expect(take).toMatchObject({
        async: true,
        arguments: { parameters: { Adapter: "Ethernet", Address: "10.7.10.11", Prefix: "24", Gateway: "10.7.10.254" } },
      })
      expect(asked("address:LAB-dc", "community.windows.win_timezone")).toEqual([{ timezone: "W. Europe Standard Time" }])
      expect(asked("address:LAB-dc", "ansible.windows.win_hostname")).toEqual([{ name: "LAB-dc" }])
      expect(asked("address:LAB-dc", "ansible.windows.win_dns_client")).toEqual([
        { adapter_names: "*", dns_servers: ["10.7.10.254"] },
      ])
      expect(callsOf("address:LAB-dc", "ansible.windows.win_reboot")).toHaveLength(1)
    })

    it("a domain is created as configured, and set up by an account that it knows", () => {
      expect(asked("primary-dc:LAB-dc", "microsoft.ad.domain")).toEqual([
        {
          dns_domain_name: "corp.example",
          domain_netbios_name: "CORP",
          domain_mode: "Win2012R2",
          forest_mode: "Win2012R2",
          safe_mode_password: secrets.safeMode,
          install_dns: true,
          reboot: true,
        },
      ])
      const users = callsOf("primary-dc:LAB-dc", "microsoft.ad.user")
      expect(users.map(({ arguments: { name, password } }) => [name, password])).toEqual([
        ["domainuser", secrets.user],
        ["domainadmin", secrets.admin],
      ])
      const groups = callsOf("primary-dc:LAB-dc", "microsoft.ad.group")
      expect(groups.map(({ arguments: { identity, members } }) => [identity, members])).toEqual([
        ["S-1-5-32-555", { add: ["domainuser", "domainadmin"] }],
        ...[512, 518, 519, 520].map((rid) => [`S-1-5-21-1-2-3-${rid}`, { add: ["domainadmin"] }]),
      ])
      for (const { become } of [...users, ...groups]) expect(become).toBe(`CORP\\${login.user}`)
      expect(callsOf("primary-dc:LAB-dc", "microsoft.ad.domain")[0]).not.toHaveProperty("become")
      expect(asked("primary-dc:LAB-dc", "microsoft.ad.ou").map(({ name }) => name)).toEqual(["Workstations", "Servers"])
      const policies = (first.get("primary-dc:LAB-dc")?.calls ?? []).filter(({ task }) => task.startsWith("Have the policy "))
      expect(policies.map(({ arguments: { parameters } }) => parameters)).toMatchObject([
        { Name: "disable_defender", Values: expect.arrayContaining([expect.objectContaining({ name: "DisableAntiSpyware" })]) },
        { Name: "anon_share_access", Values: expect.arrayContaining([expect.objectContaining({ value: 1 })]) },
      ])
    })

    it("further controllers and members find the domain by its first controller, and join it as its administrator", () => {
      for (const key of ["alt-dc:LAB-dc2", "domain-join:LAB-ws"] as const)
        expect(asked(key, "ansible.windows.win_dns_client")).toEqual([{ adapter_names: "*", dns_servers: ["10.7.10.11"] }])
      const administrator = { domain_admin_user: "domainadmin@corp.example", domain_admin_password: secrets.admin }
      expect(asked("alt-dc:LAB-dc2", "microsoft.ad.domain_controller")).toMatchObject([
        { ...administrator, dns_domain_name: "corp.example", safe_mode_password: secrets.safeMode },
      ])
      expect(asked("domain-join:LAB-ws", "microsoft.ad.membership")).toMatchObject([
        { ...administrator, dns_domain_name: "corp.example", domain_ou_path: "OU=Servers,DC=corp,DC=example" },
      ])
    })

    it("automatic logon is set where the user is known: by the domain's stages, otherwise at once", () => {
      const loggedOn = (key: (typeof rehearsed)[number]) =>
        asked(key, "community.windows.win_auto_logon").map(({ username, password }) => [username, password])
      expect(loggedOn("primary-dc:LAB-dc")).toEqual([["CORP\\domainadmin", secrets.admin]])
      expect(loggedOn("domain-join:LAB-ws")).toEqual([["CORP\\domainuser", secrets.user]])
      expect(loggedOn("windows-base:LAB-ws")).toEqual([])
      expect(loggedOn("windows-base:LAB-alone")).toEqual([[login.user, login.password]])
    })

    it("policies of a machine without a domain are its own settings", () => {
      const names = asked("windows-base:LAB-alone", "ansible.windows.win_regedit").map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining(["AllowInsecureGuestAuth", "RequireSecuritySignature"]))
      const others = asked("windows-base:LAB-ws", "ansible.windows.win_regedit").map(({ name }) => name)
      expect(others).not.toContain("AllowInsecureGuestAuth")
    })

    it("programs are installed one by one, with the checks that the configuration leaves them", () => {
      const packages = asked("chocolatey:LAB-ws", "chocolatey.chocolatey.win_chocolatey")
      expect(packages).toMatchObject([
        { name: "vscodium", ignore_checksums: true },
        { name: "git", ignore_checksums: true },
      ])
      expect(asked("additional-tools:LAB-ws", "chocolatey.chocolatey.win_chocolatey")).toContainEqual(
        expect.objectContaining({ name: "sysinternals", package_params: "/InstallDir:C:\\Tools" }),
      )
      expect(asked("office:LAB-ws", "chocolatey.chocolatey.win_chocolatey")).toMatchObject([
        { name: "microsoft-office-deployment", package_params: "/64bit /Product:ProPlus2021Retail" },
      ])
      expect(asked("visual-studio:LAB-ws", "chocolatey.chocolatey.win_chocolatey")).toMatchObject([
        { name: "visualstudio2022community" },
      ])
    })

    it("updates are installed with the update service on, which is disabled again only where it was", async () => {
      const modes = (calls: readonly Call[]) =>
        calls.flatMap(({ module, arguments: { start_mode: mode } }) =>
          module === "ansible.windows.win_service" ? [mode] : module === "ansible.windows.win_updates" ? ["updates"] : [],
        )
      expect(modes(first.get("windows-update:LAB-ws")?.calls ?? [])).toEqual(["manual", "updates", "disabled"])
      expect(asked("windows-update:LAB-ws", "ansible.windows.win_updates")).toMatchObject([
        { category_names: ["*"], reboot: true },
      ])
      const enabled = { "ansible.windows.win_service_info": { services: [{ start_mode: "manual" }] } }
      const again = await rehearse(stageOf("windows-update:LAB-ws"), { ...newMachine, ...enabled })
      expect(modes(again.calls)).toEqual(["updates"])
      const failing = { "ansible.windows.win_updates": { failed: true, msg: "0x80240022" } }
      const failed = await rehearse(stageOf("windows-update:LAB-ws"), { ...newMachine, ...failing })
      expect([failed.ok, modes(failed.calls)]).toEqual([false, ["manual", "updates", "disabled"]])
      expect(failed.said).toContain("0x80240022")
    })

    it("a machine is asked for its licence without a change", async () => {
      const told = await rehearse(stageOf("inspect-windows:LAB-ws"), settledMachine)
      expect([told.ok, told.changed], told.said).toEqual([true, false])
      expect(told.calls.map(({ task }) => task)).toEqual(["Report"])
    })

    it("a machine gets its product key, its KMS host and its licence, and tells in the end what it has", () => {
      const calls = first.get("activate-windows:LAB-ws")?.calls ?? []
      expect(calls.map(({ task }) => task)).toEqual([
        "Make sure that Windows can be activated",
        "Install the product key",
        "Point it to the KMS host and activate it",
        "Report",
      ])
      expect(calls[1]?.arguments["parameters"]).toEqual({ Key: clientKey })
      expect(calls[2]?.arguments["parameters"]).toEqual({ KmsHost: "kms.example.org", Port: "1688" })
    })

    it("a key that Windows refuses is told by its code, and nothing is activated", async () => {
      for (const key of ["activate-windows:LAB-ws", "kms-server:LAB-ws"]) {
        const answers = { ...newMachine, "Install the product key": { result: { error: "0xC004F050" } } }
        const told = await theatre.rehearse(stageOf(key), answers)
        expect(told.ok, told.said).toBe(true)
        expect(told.calls.filter(({ task }) => /activate/iu.test(task)).map(({ task }) => task)).toEqual([
          "Make sure that Windows can be activated",
        ])
        expect(told.calls.at(-1)?.task).toBe("Report")
      }
    })

    it("an evaluation and a domain controller get no key", async () => {
      const answers = {
        ...newMachine,
        "Make sure that Windows can be activated": {
          failed: true,
          msg: "It has an evaluation edition, which cannot be activated.",
        },
      }
      for (const key of ["activate-windows:LAB-ws", "kms-server:LAB-ws"]) {
        const told = await theatre.rehearse(stageOf(key), answers)
        expect(told.ok).toBe(false)
        expect(told.said).toContain("evaluation edition")
        expect(told.calls.map(({ task }) => task)).not.toContain("Install the product key")
      }
    })

    it("what Windows is to show is passed to one script literally, and nothing in it is evaluated", () => {
      const [change] = asked("anti-sandbox:LAB-ws", "ansible.windows.win_powershell").slice(-1)
      const parameters = change?.["parameters"] as Readonly<Record<string, string>> | undefined
      expect(JSON.parse(parameters?.["Wanted"] ?? "")).toEqual(dressed)
      expect(parameters?.["Program"]).toContain("function Set-Shown")
    })

    it("Sysprep's answers name the machine and its login, and are removed again", () => {
      const [answers] = callsOf("sysprep:LAB-dc", "ansible.windows.win_template")
      expect(answers?.content).toContain("<ComputerName>LAB-dc</ComputerName>")
      expect(answers?.content).toContain(`<Value>${login.password}</Value>`)
      expect(asked("sysprep:LAB-dc", "ansible.windows.win_file")).toContainEqual({
        path: answers?.arguments["dest"],
        state: "absent",
      })
    })

    it("obstacles of Sysprep are removed, and it is tried once more", async () => {
      const stage = stageOf("sysprep:LAB-dc")
      const failed = await rehearse(stage, { ...newMachine, "Check whether Sysprep succeeded": { stat: { exists: false } } })
      expect(failed.ok).toBe(false)
      expect(failed.said).toContain("setuperr.log in the machine tells why")
      const attempts = failed.calls
        .map(({ task }) => task)
        .filter((task) => /Generalise|Remove the apps that prevent it/u.test(task))
      expect(attempts).toEqual([
        "Generalise and restart in a moment",
        "Remove the apps that prevent it",
        "Generalise and restart in a moment",
      ])
    })

    it("a machine that cannot install the wallpaper's program continues without it", async () => {
      const away: Answers = { ...newMachine, "ansible.windows.win_get_url": { failed: true, msg: "no route to host" } }
      const performance = await rehearse(stageOf("windows-base:LAB-ws"), away)
      expect(performance.ok, performance.said).toBe(true)
      expect(performance.said).toContain("set defaults.enable_dynamic_wallpaper to false")
    })

    it("what Windows does not support is refused before anything is done, with a hint", async () => {
      const stage = stageOf("address:LAB-dc")
      const input = { ...(stage.input as object), timezone: "Antarctica/Troll" }
      const zone = await rehearse({ ...stage, input }, newMachine)
      expect(zone).toMatchObject({ ok: false, calls: [] })
      expect(zone.said).toContain("Set defaults.timezone of the configuration")
      const office = await rehearse(stageOf("office:LAB-alone"), newMachine)
      expect(office).toMatchObject({ ok: false, calls: [] })
      expect(office.said).toContain("one of 2016, 2019, 2021")
    })

    it.each([
      "address:LAB-dc",
      "sysprep:LAB-dc",
      "windows-base:LAB-alone",
      "primary-dc:LAB-dc",
      "alt-dc:LAB-dc2",
      "domain-join:LAB-ws",
    ])("%s changes nothing, restarts nothing and takes no name server away where everything was done before", async (key) => {
      const again = await rehearse(stageOf(key), settledMachine)
      expect(again.ok, again.said).toBe(true)
      expect(again.changed).toBe(false)
      const called = again.calls.map(({ module }) => module)
      expect(called).not.toContain("ansible.windows.win_reboot")
      expect(again.calls.filter((call) => call.async)).toEqual([])
      if (!/-dc:|join:/u.test(key)) expect(called).not.toContain("ansible.windows.win_dns_client")
    })

    it("a machine that is to have a login of its own is given its password last of all", async () => {
      const performance = await theatre.rehearse(stageOf("address:LAB-dc"), newMachine, {}, "Rw1-of-its-own")
      made.push(...performance.calls)
      expect(performance.ok, performance.said).toBe(true)
      expect(performance.calls.at(-1)?.arguments["parameters"]).toEqual({ User: login.user, Password: "Rw1-of-its-own" })
      expect(performance.said).not.toContain("Rw1-of-its-own")
      const given = [...first.values()].flatMap(({ calls }) => calls).map(({ task }) => task)
      expect(given).not.toContain("Set the password of the machine's login")
    })

    it("passwords are passed to modules only, never to the log", () => {
      const said = [...first.values()].map((performance) => performance.said).join("")
      for (const secret of [...Object.values(secrets), login.password, hostKey, clientKey]) {
        expect(said).not.toContain(secret)
        expect(JSON.stringify(made)).toContain(secret)
      }
    })

    it("no task for Windows is left unrehearsed", () => {
      const called = new Set(made.map(({ module, task }) => `${module}: ${task}`))
      const plain = tasks.filter(({ name }) => !name.includes("{{"))
      expect(plain.map(({ module, name }) => `${module}: ${name}`).filter((task) => !called.has(task))).toEqual([])
      expect(modules.filter((module) => !made.some((call) => call.module === module))).toEqual([])
    })

    it.skipIf(noCollections !== undefined)(`modules accept all their arguments${skipNote(noCollections)}`, async () => {
      const documentation = await readDocumentation(modules, [...collections, ...found.collectionFolders])
      expect([...new Set(made.flatMap((call) => objections(documentation, call)))]).toEqual([])
    })
  },
)

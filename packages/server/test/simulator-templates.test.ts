import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { startService, type RunningService } from "../src/compose/service.ts"
import { loadConfig } from "../src/config/config.ts"
import { makeClient } from "../src/demo/client.ts"

let data: string
let running: RunningService | undefined
const start = async (more: Record<string, string> = {}): Promise<RunningService> => {
  const environment = {
    RANGEWRIGHT_DATA: data,
    RANGEWRIGHT_PORT: "0",
    RANGEWRIGHT_HOST: "127.0.0.1",
    RANGEWRIGHT_LOG_LEVEL: "error",
    RANGEWRIGHT_SIMULATOR_SPEED: "600",
    RANGEWRIGHT_OBSERVE_EVERY: "1",
    ...more,
  }
  running = await startService(loadConfig({ file: undefined, environment }))
  return running
}
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rangewright-templates-"))
})
afterEach(async () => {
  await running?.stop()
  running = undefined
  rmSync(data, { recursive: true, force: true })
})

/** A lab as the public ones are: named after its range, members of two forests on Windows Servers of three ages, somebody who attacks them. */
const lab = (machines: readonly (readonly [name: string, template: string])[]): string =>
  `ludus:\n${machines
    .map(
      ([name, template], at) => `  - vm_name: "{{ range_id }}-${name}"
    hostname: "{{ range_id }}-${name}"
    template: ${template}
    vlan: 10
    ip_last_octet: ${at + 10}
    ram_gb: 4
    cpus: 2
    ${template.startsWith("win") ? "windows: { sysprep: true }" : "linux: true"}
`,
    )
    .join("")}`

const deployed = async ({ plainUrl, rootKeyFile }: RunningService, text: string): Promise<string> => {
  const root = makeClient(plainUrl, readFileSync(rootKeyFile, "utf8").trim())
  const { apiKey } = await root.send<{ readonly apiKey: string }>("POST", "/api/v2/user", {
    userID: "ADA",
    name: "Ada",
    email: "ada@lab.example",
    isAdmin: true,
  })
  const ada = makeClient(plainUrl, apiKey)
  await ada.upload("/api/v2/range/config", "lab.yml", text)
  const { runID } = await ada.send<{ readonly runID: string }>("POST", "/api/v2/range/deploy", {})
  await ada.follow(`/api/v2/runs/${runID}/events`, () => undefined)
  const { status, message } = await ada.send<{ readonly status: string; readonly message: string }>(
    "GET",
    `/api/v2/runs/${runID}`,
  )
  return status === "success" ? status : message
}

test("the built-in simulator has the templates of public labs, and a lab of theirs deploys", { timeout: 60_000 }, async () => {
  const machines = [
    ["DC01", "win2019-server-x64-template"],
    ["DC02", "win2019-server-x64-template"],
    ["DC03", "win2016-server-x64-template"],
    ["SRV02", "win2025-server-x64-template"],
    ["SRV03", "win2016-server-x64-template"],
    ["WS01", "win10-22h2-x64-enterprise-template"],
    ["ATT", "kali-x64-desktop-template"],
    ["LIN", "ubuntu-24.04-x64-server-template"],
    ["ROCK", "rocky-9-x64-server-template"],
  ] as const
  expect(await deployed(await start(), lab(machines))).toBe("success")
})

test("simulator_templates adds templates, also to a cluster that an earlier start left", { timeout: 60_000 }, async () => {
  const first = await start()
  await first.stop()
  const more = { RANGEWRIGHT_SIMULATOR_TEMPLATES: "flare-vm-template=windows, ubuntu-26.04-x64-server-template" }
  const machines = [
    ["FLARE", "flare-vm-template"],
    ["NEW", "ubuntu-26.04-x64-server-template"],
  ] as const
  expect(await deployed(await start(more), lab(machines))).toBe("success")
})

test("a template with an unknown system is refused with a hint what to write", async () => {
  await expect(start({ RANGEWRIGHT_SIMULATOR_TEMPLATES: "flare-vm-template" })).rejects.toThrow(
    "simulator_templates: flare-vm-template: say which system it has, as in flare-vm-template=windows; one of windows, debian",
  )
  await expect(start({ RANGEWRIGHT_SIMULATOR_TEMPLATES: "../etc=debian" })).rejects.toThrow("../etc=debian is not a template")
})

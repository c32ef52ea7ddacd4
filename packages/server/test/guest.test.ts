import { describe, expect, test } from "vitest"
import { playbookOptions } from "../src/compose/guest.ts"
import { loadConfig } from "../src/config/config.ts"

const secrets = { PROXMOX_TOKEN_SECRET: "of-the-token", SECRET_KEY: "a".repeat(64), GALAXY_TOKEN: "of-galaxy" }

const optionsOf = (environment: Readonly<Record<string, string>>) =>
  playbookOptions(
    loadConfig({
      file: undefined,
      environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [`RANGEWRIGHT_${name}`, value])),
    }),
    "/data",
  )

describe("what automation is told of the configuration", () => {
  test("roles find its keys under the names that they know, and no secret among them", () => {
    const { variables } = optionsOf({
      ...secrets,
      PROXMOX_URL: "https://pve1:8006/, https://pve2:8006",
      PROXMOX_TOKEN_ID: "rangewright@pve!service",
      PROXMOX_FINGERPRINT: "ab".repeat(32),
      PROXMOX_NODE: "pve1",
      PROXMOX_VM_STORAGE_POOL: "fast",
      RESERVED_RANGE_NUMBERS: "4, 5",
    })
    expect(variables).toMatchObject({
      proxmox_url: "https://pve1:8006",
      proxmox_node: "pve1",
      proxmox_hostname: "pve1",
      proxmox_invalid_cert: true,
      proxmox_vm_storage_pool: "fast",
      reserved_range_numbers: [4, 5],
      sdn_zone: "ludus",
      port: 8080,
    })
    const told = JSON.stringify(variables)
    for (const secret of Object.values(secrets)) expect(told).not.toContain(secret)
    expect(Object.keys(variables ?? {}).filter((name) => /token|secret|key|database/u.test(name))).toEqual([])
  })

  test("what is not configured is no variable", () => {
    expect(Object.keys(optionsOf({}).variables ?? {})).not.toContain("proxmox_url")
  })
})

import { describe, expect, test } from "vitest"
import { playbookOptions } from "../src/compose/guest.ts"
import { loadConfig } from "../src/config/config.ts"

const secrets = { PROXMOX_TOKEN_SECRET: "of-the-token", SECRET_KEY: "a".repeat(64), GALAXY_TOKEN: "of-galaxy" }

const jump = {
  ANSIBLE_ROUTE: "jump",
  ANSIBLE_JUMP_HOST: "jump.example",
  ANSIBLE_JUMP_USER: "labs",
  ANSIBLE_JUMP_HOST_KEY: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ",
}

const optionsOf = (environment: Readonly<Record<string, string>>) =>
  playbookOptions(
    loadConfig({
      file: undefined,
      environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [`RANGEWRIGHT_${name}`, value])),
    }),
    "/data",
  )

describe("the configuration as passed to automation", () => {
  test("roles get its keys under the names that they know, without secrets", () => {
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

  test("unconfigured keys are not variables", () => {
    expect(Object.keys(optionsOf({}).variables ?? {})).not.toContain("proxmox_url")
  })

  test("a jump host needs a key or a password, and a known host key", () => {
    expect(optionsOf({ ...jump, ANSIBLE_JUMP_KEY_FILE: "/etc/jump-key" }).route).toEqual({
      type: "jump",
      host: "jump.example",
      port: 22,
      user: "labs",
      hostKey: jump.ANSIBLE_JUMP_HOST_KEY,
      login: { type: "key", file: "/etc/jump-key" },
    })
    const { route } = optionsOf({ ...jump, ANSIBLE_JUMP_PORT: "2222", ANSIBLE_JUMP_PASSWORD: "of-the-jump-host" })
    expect(route).toMatchObject({ port: 2222, login: { type: "password" } })
    expect(JSON.stringify(route)).not.toContain("of-the-jump-host")
  })

  test.each([
    [{ ANSIBLE_ROUTE: "jump" }, "ansible_jump_host: needed"],
    [{ ...jump }, "ansible_jump_key_file and ansible_jump_password: set one of them"],
    [{ ...jump, ANSIBLE_JUMP_KEY_FILE: "/k", ANSIBLE_JUMP_PASSWORD: "p" }, "set one of them"],
    [{ ...jump, ANSIBLE_JUMP_KEY_FILE: "k" }, "is not an absolute path"],
    [{ ...jump, ANSIBLE_JUMP_KEY_FILE: "/k", ANSIBLE_JUMP_HOST_KEY: "* ssh-rsa x" }, "ansible_jump_host_key: write"],
    [{ ANSIBLE_JUMP_HOST: "jump.example" }, "only used with ansible_route: jump"],
  ])("%j is refused, with the reason", (environment, because) => {
    expect(() => optionsOf(environment)).toThrow(because)
  })
})

import type { BuildAccount } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Agent } from "node:http"
import { join } from "node:path"
import type { PackerOptions } from "../src/options.ts"

/** Options for builds in a folder with a program that stands for Packer. */
export const optionsOf = (folder: string, program: string): PackerOptions => ({
  folder: join(folder, "builds"),
  program,
  storage: "local-lvm",
  isoStorage: "local",
  address: "192.0.2.254",
  hypervisor: { url: "http://127.0.0.1:1", agent: new Agent() },
  caps: { vms: 1, cores: 1, memoryMiB: 512, diskBytes: 1024 ** 3 },
  bridge: Effect.succeed("vmbr1000"),
})

export const account: BuildAccount = {
  username: "build-1@pve",
  password: Redacted.make("a-password"),
  tokenId: "build-1@pve!build",
  tokenSecret: Redacted.make("a-secret"),
  pool: "rw-build-1",
}

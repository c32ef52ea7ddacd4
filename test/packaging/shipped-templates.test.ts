import { readSource, sayIssues } from "@rangewright/domain"
import * as Result from "effect/Result"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const root = fileURLToPath(new URL("../../packages/adapter-packer/templates/", import.meta.url))

const texts = new Map(
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(root.length), readFileSync(path, "utf8")] as const
    }),
)

/** A builder only receives variables that it declares. */
const variables =
  "proxmox_url proxmox_host proxmox_skip_tls_verify proxmox_pool proxmox_storage_pool proxmox_storage_format iso_storage_pool ansible_home ludus_nat_interface".split(
    " ",
  )

it("the shipped templates are a source: the router's, another Debian, and a Windows", () => {
  const read = readSource({ entries: [...texts.keys()].map((path) => ({ path, kind: "file" as const })), texts })
  if (Result.isFailure(read)) throw new Error(sayIssues(read.failure))
  expect(read.success.content.templates.map(({ name }) => name).toSorted()).toEqual([
    "debian-11-x64-server-template",
    "debian-12-x64-server-template",
    "win2022-server-x64-template",
  ])
})

it.each([...texts].filter(([path]) => path.endsWith(".pkr.hcl")))("%s accepts what the service provides", (_, text) => {
  for (const name of variables) expect(text).toContain(`variable "${name}"`)
  expect(text).toMatch(/pool\s+= var\.proxmox_pool/u)
})

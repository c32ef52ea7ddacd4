import * as Effect from "effect/Effect"
import { mkdir, rename, symlink } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fetchRole, list, providerContract } from "./provider.contract.ts"
import { signedContract } from "./signed.contract.ts"
import { web } from "./support/roles-folder.ts"
import { signedWorld } from "./support/signed-world.ts"

const make = () => signedWorld("folder")

providerContract({ name: "a folder", make })
signedContract("a folder", make)

test("a folder without an index says how to create one", async () => {
  const world = await make()
  const fault = await world.run(Effect.flip(list))
  expect([fault.facts.reason, fault.hint]).toEqual(["not-found", expect.stringContaining("subscription pack")])
})

test("nothing is read through a link in place of a package, or of a folder", async () => {
  const world = await make()
  await world.publish([web])
  const [role] = await world.run(list)
  const file = join(world.folder, `packages/${role?.packageId}.tar.gz`)
  await rename(file, `${file}.moved`)
  await symlink(`${file}.moved`, file)
  expect((await world.run(Effect.flip(fetchRole(web.role)))).facts.reason).toBe("unavailable")
  await rename(file, `${file}.link`)
  await mkdir(file)
  expect((await world.run(Effect.flip(fetchRole(web.role)))).facts.reason).toBe("broken")
})

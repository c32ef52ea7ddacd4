import { ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { writeFiles } from "./support/repository.ts"
import { damageListing, gitWorld, textOf } from "./support/world.ts"

describe("folders of the host", () => {
  test("an allowed folder is copied as it is now, without git's own folders", async () => {
    const world = gitWorld()
    const path = join(world.served, "labs")
    writeFiles(path, {
      "source.yml": "name: x\n",
      "roles/a/run.sh": { program: "#!/bin/sh\n" },
      "roles/a/l": { link: "run.sh" },
      ".git/config": "[core]\n",
    })
    const snapshot = await world.fetch({ type: "folder", path })
    expect(snapshot.files).toEqual([
      { kind: "link", path: "roles/a/l", target: "run.sh" },
      { kind: "file", path: "roles/a/run.sh", size: 10, executable: true },
      { kind: "file", path: "source.yml", size: 8, executable: false },
    ])
    expect((await world.fetch({ type: "folder", path })).id).toBe(snapshot.id)
    writeFiles(path, { "source.yml": "name: y\n" })
    expect((await world.fetch({ type: "folder", path })).id).not.toBe(snapshot.id)
    expect(await world.run(textOf(snapshot, "source.yml"))).toBe("name: x\n")
    world.expectClean()
  })

  test("a snapshot whose list of files is damaged says so, and the next fetch replaces it", async () => {
    const world = gitWorld()
    const path = join(world.served, "labs")
    writeFiles(path, { "source.yml": "name: x\n" })
    const snapshot = await world.fetch({ type: "folder", path })
    damageListing(world, snapshot, "")
    const fault = await world.run(Effect.flip(ContentFetcher.use((fetcher) => fetcher.open(snapshot.id))))
    expect(fault).toMatchObject({ facts: { detail: "the list of its files is damaged", hint: "Fetch it again." } })
    expect(await world.fetch({ type: "folder", path })).toEqual(snapshot)
    expect(await world.run(textOf(snapshot, "source.yml"))).toBe("name: x\n")
    world.expectClean()
  })

  test("nothing outside the allowed folders can be read or detected", async () => {
    const world = gitWorld()
    const outside = join(world.root, "outside")
    mkdirSync(outside)
    symlinkSync(outside, join(world.served, "link"))
    mkdirSync(`${world.served}-twin`)
    const messages = new Set<string>()
    for (const path of [
      outside,
      join(world.root, "none"),
      join(world.served, "link"),
      `${world.served}/../outside`,
      `${world.served}-twin`,
      "served",
      "",
      "/",
      `${world.served}\0`,
    ]) {
      const fault = await world.fault({ type: "folder", path })
      expect(fault.facts).toMatchObject({ reason: "refused", rule: "folder" })
      messages.add(fault.facts.detail)
    }
    // one answer for relative paths, one for all others
    expect(messages.size).toBe(2)
  })

  test("without configured folders, none is allowed", async () => {
    const world = gitWorld({ folders: [] })
    expect((await world.fault({ type: "folder", path: world.served })).facts.rule).toBe("folder")
  })

  const hostile: readonly (readonly [string, (at: string) => void | Promise<void>, string])[] = [
    ["an absolute link", (at: string) => symlinkSync("/etc/passwd", join(at, "x")), "link"],
    ["a link out of the folder", (at: string) => symlinkSync("../../outside", join(at, "x")), "link"],
    [
      "a socket",
      async (at: string) => {
        const server = createServer()
        onTestFinished(() => void server.close())
        await new Promise<void>((resolve) => server.listen(join(at, "x"), resolve))
      },
      "special",
    ],
    [
      "a set-id program",
      (at: string) => {
        writeFileSync(join(at, "x"), "")
        chmodSync(join(at, "x"), 0o4755)
      },
      "set-id",
    ],
    ["twins", (at: string) => writeFiles(at, { X: "1", x: "2" }), "twin"],
  ]
  test.each(hostile)("%s in it is refused and named", async (_, plant, rule) => {
    const world = gitWorld()
    const path = join(world.served, "labs")
    mkdirSync(path)
    await plant(path)
    const fault = await world.fault({ type: "folder", path })
    expect(fault.facts).toMatchObject({ reason: "refused", rule, item: "x" })
    world.expectClean()
  })

  test("a file is not a folder", async () => {
    const world = gitWorld()
    const path = join(world.served, "file")
    writeFileSync(path, "")
    expect((await world.fault({ type: "folder", path })).facts.reason).toBe("not-found")
  })
})

import { Settings, usualSettings } from "@rangewright/application"
import { ArtifactLibrary, Blueprints, ContentFetcher, Ranges, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { bindLibrary } from "../src/compose/library.ts"
import { loadConfig } from "../src/config/config.ts"

const names = (environment: Record<string, string>) => {
  const data = mkdtempSync(join(tmpdir(), "shipped-"))
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const unused = {} as never
  const nothing = Layer.mergeAll(
    Layer.succeed(Blueprints, unused),
    Layer.succeed(ContentFetcher, unused),
    Layer.succeed(Ranges, unused),
    Layer.succeed(Settings, usualSettings),
    Layer.succeed(Sources, unused),
    Layer.succeed(Users, unused),
  )
  return Effect.runPromise(
    ArtifactLibrary.use(({ list }) =>
      Effect.map(list({ type: "global" }), ({ templates }) => templates.map(({ name }) => name)),
    ).pipe(Effect.provide(Layer.provide(bindLibrary(loadConfig({ file: undefined, environment }), data), nothing))),
  )
}

it("a fresh installation has templates of its own, unless its operator switches them off", async () => {
  expect(await names({})).toEqual([
    "debian-11-x64-server-template",
    "debian-12-x64-server-template",
    "win2022-server-x64-template",
  ])
  expect(await names({ RANGEWRIGHT_SHIPPED_TEMPLATES: "false" })).toEqual([])
})

import { BuildFault, TemplateBuilder } from "@rangewright/ports"
import { endProcessesBelow, removeFolder } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdir } from "node:fs/promises"
import { availabilityOf, lookAround } from "./availability.ts"
import { buildWith } from "./build.ts"
import { clearBuild } from "./files.ts"
import { type Images, openImages } from "./images.ts"
import { openNumbers } from "./next-numbers.ts"
import { type PackerOptions, settingsOf } from "./options.ts"
import { openPortShares } from "./port-shares.ts"

const open = async ({ folder, images }: PackerOptions): Promise<Images | undefined> => {
  await endProcessesBelow(folder)
  await removeFolder(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return images === undefined ? undefined : openImages(images)
}

/** Builds with the operator's Packer. What a killed service left of builds is cleaned up at start. */
export const packerLayer = (options: PackerOptions): Layer.Layer<TemplateBuilder, BuildFault> =>
  Layer.effect(
    TemplateBuilder,
    Effect.gen(function* () {
      const settings = settingsOf(options)
      const numbers = openNumbers()
      const portShare = openPortShares()
      const images = yield* Effect.tryPromise({
        try: () => open(options),
        catch: (cause) => new BuildFault({ doing: "open the folder of builds", reason: "failed", detail: String(cause) }),
      })
      return {
        available: Effect.map(lookAround(settings), availabilityOf),
        build: (build) => buildWith(settings, { images, numbers, portShare }, build),
        clear: (id) => clearBuild(settings.folder, id),
      }
    }),
  )

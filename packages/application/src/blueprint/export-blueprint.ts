import {
  type ArchiveManifest,
  archiveLayout,
  type Blueprint,
  blueprintManifestText,
  Failed,
  manifestFile,
  pictureEnding,
  requirementsFile,
} from "@rangewright/domain"
import { type ArchiveFile, Archives, Blueprints, type ContentFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Download } from "../operation/operation.ts"
import { openBundle, replacedFiles } from "./bundle.ts"
import { blueprintConfig } from "./find-blueprint.ts"

const utf8 = new TextEncoder()

/**
 * An archive of a complete blueprint: its manifest, configuration, requirements and picture as they are now, and the other files that came
 * with it. The same blueprint gives the same bytes on every installation. Owners and shares are not included.
 */
export const blueprintArchive = (blueprint: Blueprint) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const { pack } = yield* Archives
    const notPacked = (fault: ContentFault) => new Failed({ what: `Cannot export blueprint ${blueprint.id}: ${fault.message}` })
    const config = yield* blueprintConfig(blueprint)
    const requirements = yield* blueprints.requirements(blueprint.id)
    const picture =
      blueprint.thumbnail === undefined ? undefined : yield* blueprints.thumbnail(blueprint.recordId, blueprint.thumbnail)
    const bundle = yield* Effect.mapError(openBundle(blueprint.bundle), notPacked)
    const layout = archiveLayout(
      blueprint.id,
      bundle.files,
      replacedFiles(bundle, requirements),
      picture === undefined ? undefined : pictureEnding(picture.type),
    )
    const { id, name, description, version, tags, minVersion } = blueprint
    const manifest: ArchiveManifest = {
      id,
      name,
      description,
      version,
      tags,
      minVersion,
      config: layout.config,
      thumbnail: layout.thumbnail,
    }
    const own = (path: string, content: string | Uint8Array): ArchiveFile => ({
      path: `${layout.folder}/${path}`,
      content: typeof content === "string" ? utf8.encode(content) : content,
    })
    const files: readonly ArchiveFile[] = [
      own(manifestFile, blueprintManifestText(manifest)),
      own(layout.config, config),
      ...(requirements === undefined ? [] : [own(requirementsFile, requirements)]),
      ...(picture === undefined || layout.thumbnail === undefined ? [] : [own(layout.thumbnail, picture.bytes)]),
      ...layout.files.flatMap(({ path, from, executable }): readonly ArchiveFile[] =>
        blueprint.bundle === undefined
          ? []
          : [{ path: `${layout.folder}/${path}`, executable, content: { snapshot: blueprint.bundle.snapshot, path: from } }],
      ),
    ]
    return { name: layout.folder, ending: ".tar.gz", bytes: Stream.mapError(pack(files), notPacked) } satisfies Download
  })

import { type ArtifactKind, collectionManifestFile, collectionMetadataFile } from "./artifact.ts"
import { readCollectionManifest, readCollectionSource, readRoleReceipt, roleReceiptFile } from "./receipt.ts"

/** The files that contain the version of an installed copy, in order of precedence. */
export const versionFiles: Readonly<Record<ArtifactKind, ReadonlyArray<string>>> = {
  template: [],
  role: [roleReceiptFile],
  collection: [collectionManifestFile, collectionMetadataFile],
}

/** The version in one of these files; undefined if it has none. */
export const installedVersion = (file: string, text: string): string | undefined => {
  switch (file) {
    case roleReceiptFile:
      return readRoleReceipt(text)
    case collectionManifestFile:
      return readCollectionManifest(text)?.version
    case collectionMetadataFile:
      return readCollectionSource(text)?.version
    default:
      return undefined
  }
}

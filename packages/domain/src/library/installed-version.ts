import { type ArtifactKind, collectionManifestFile, collectionMetadataFile } from "./artifact.ts"
import { readCollectionManifest, readCollectionSource, readRoleReceipt, roleReceiptFile } from "./receipt.ts"

/** The files that tell the version of an installed copy, the one that counts first. */
export const versionFiles: Readonly<Record<ArtifactKind, ReadonlyArray<string>>> = {
  template: [],
  role: [roleReceiptFile],
  collection: [collectionManifestFile, collectionMetadataFile],
}

/** The version that one of those files tells; undefined where it tells none. */
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

export {
  allowedNames,
  type ArtifactKind,
  collectionManifestFile,
  collectionMetadataFile,
  collectionSegments,
  isArtifactName,
  roleMetadataFiles,
} from "./artifact.ts"
export { installedVersion, versionFiles } from "./installed-version.ts"
export {
  type ArtifactGiven,
  longestText,
  prepareArtifact,
  type PreparedArtifact,
  preparedTexts,
  receiptsAreStale,
} from "./prepare.ts"
export { type CollectionIdentity, readCollectionManifest, readCollectionSource, roleReceiptFile } from "./receipt.ts"

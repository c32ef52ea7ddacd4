export {
  allowedNames,
  type ArtifactKind,
  collectionManifestFile,
  collectionMetadataFile,
  collectionSegments,
  isArtifactName,
  roleFolders,
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
export { bestVersion, fitsPin, type WantedArtifact, wantedCollection, wantedRole } from "./requirement.ts"
export { needsFiles, readNeeds } from "./needs.ts"
export {
  type Decision,
  decideInstalls,
  type Dependencies,
  type InstalledVersions,
  installedVersions,
  isNeighbour,
  noSuchVersion,
  notPublished,
  otherVersion,
  type Published,
  type PublishedVersions,
  type SettledDecision,
  standingOf,
  wantedIn,
} from "./resolve.ts"
export { readRoleVariables, type RoleVariable, roleVariableFiles, type RoleVariables } from "./role-variables.ts"
export { roleOfArchive } from "./archive-name.ts"

export {
  allowedNames,
  type ArtifactKind,
  artifactKinds,
  collectionManifestFile,
  collectionMetadataFile,
  collectionSegments,
  isBuilder,
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
export {
  isRequirementUrl,
  bestVersion,
  type Dependencies,
  fitsPin,
  type WantedArtifact,
  wantedCollection,
  wantedIn,
  wantedRole,
} from "./requirement.ts"
export { needsFiles, readNeeds } from "./needs.ts"
export { type Fetched, type DependencyResolver, resolveDependencies, installLimits } from "./dependency-resolver.ts"
export { type InstallOutcome } from "./install-outcome.ts"
export {
  installedVersions,
  type InstalledVersions,
  noSuchVersion,
  notPublished,
  otherVersion,
  requirementProblem,
} from "./installed-state.ts"
export { readRoleVariables, type RoleVariable, roleVariableFiles, type RoleVariables } from "./role-variables.ts"
export { allowedVariableNames, isVariableName } from "./variable-name.ts"
export { roleOfArchive } from "./archive-name.ts"

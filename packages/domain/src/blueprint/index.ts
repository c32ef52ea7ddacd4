export {
  type BlueprintAccess,
  blueprintAccess,
  type BlueprintPath,
  type BlueprintReader,
  blueprintReaders,
  mayChangeBlueprint,
} from "./access.ts"
export {
  archiveFolder,
  type ArchiveLayout,
  archiveLayout,
  type BundleFile,
  bundleFiles,
  manifestFile,
  requirementsFile,
} from "./archive-layout.ts"
export { type ArchiveManifest, blueprintManifestText } from "./manifest-text.ts"
export {
  mostPictureBytes,
  mostPicturePixels,
  type Picture,
  pictureEnding,
  pictureName,
  type PictureType,
  pictureTypeOf,
  pictureTypes,
} from "./picture.ts"
export { pictureSizeOf } from "./picture-size.ts"
export {
  type Blueprint,
  BlueprintExists,
  BlueprintNotFound,
  type BlueprintDraft,
  type BlueprintText,
  blueprintTextIssues,
  copyIdOf,
  firstBlueprintVersion,
  isBlueprintId,
  newlyMadeBlueprint,
} from "./blueprint.ts"
export {
  type BlueprintBundle,
  type BlueprintId,
  type BlueprintOrigin,
  type DependencyInstallation,
  type DependencyStatus,
  dependencyStatuses,
  holderOfBundle,
  idOfSourceBlueprint,
  installationOf,
  isAnyBlueprintId,
  neverInstalled,
} from "./origin.ts"
export { type KnownRoles, type RequiredRoles, requiredRoles, requiresNothing, stillRequired } from "./required-roles.ts"
export { withRequirements } from "./requirements-text.ts"

export { type BlueprintManifest, readBlueprintManifest } from "./blueprint.ts"
export { type BuilderFacts, type BuilderImage, readBuilderFile, readBuilderImages, withStoredImages } from "./builder-file.ts"
export {
  type BrokenItem,
  type CollectionRequirement,
  type ConfigReferences,
  emptyContent,
  type FileText,
  type ItemKind,
  type Requirements,
  type RoleRequirement,
  type ShippedBlueprint,
  type ShippedCollection,
  type ShippedRole,
  type ShippedTemplate,
  type SourceContent,
  type SourceManifest,
} from "./content.ts"
export { rootsOfLayout, type SourceEntry, type SourceFiles, sourceLimits } from "./files.ts"
export { sayIssues, type SourceIssue } from "./issue.ts"
export { guessCollection, isCollectionSegment, isRoleName, isShippedBlueprintId, isSourceId, isTemplateName } from "./names.ts"
export { neededTexts, neededTextsInParts } from "./needed-texts.ts"
export { type ReadSource, readSource, readSourceInParts } from "./read-source.ts"
export type { InParts } from "./reading.ts"
export { readReferences } from "./references.ts"
export { noRequirements, readRequirements } from "./requirements.ts"
export {
  describedBy,
  homepageOf,
  newlyMadeSource,
  sameOrigin,
  type Source,
  type SourceDraft,
  SourceBroken,
  SourceExists,
  type SourceId,
  SourceMoved,
  SourceNotFound,
  type SourceOrigin,
  type SourceStatus,
  type SourceText,
  type SourceType,
  sourceStatuses,
  sourceTypes,
  SourceUnfetched,
} from "./source.ts"
export { isShownText, shownText } from "./shown-text.ts"
export { deriveSourceId, type IdBasis } from "./source-id.ts"
export { compareVersions, parseVersion, satisfiesPin, type Version } from "./version.ts"

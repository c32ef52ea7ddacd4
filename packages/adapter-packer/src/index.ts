export { type BuilderFinding, builderFindings } from "./availability.ts"
export { packerLayer } from "./layer.ts"
export type { PackerOptions } from "./options.ts"
export { shippedTemplates } from "./shipped.ts"

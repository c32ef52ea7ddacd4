export {
  type AutomationAvailability,
  automationAvailability,
  type AutomationFinding,
  automationFindings,
} from "./availability.ts"
export { libraryRoles } from "./installed-roles.ts"
export { jumpFindings } from "./jump.ts"
export { playbookLayer } from "./layer.ts"
export type { JumpHost, PlaybookOptions, Route } from "./options.ts"

export {
  type AutomationAvailability,
  automationAvailability,
  type AutomationFinding,
  automationFindings,
} from "./availability.ts"
export { playbookLayer } from "./layer.ts"
export type { PlaybookOptions, Route } from "./options.ts"

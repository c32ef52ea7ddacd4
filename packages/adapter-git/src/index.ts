export { gitAvailability } from "./git/availability.ts"
export { contentLayer } from "./layer.ts"
export type { ContentOptions, Lookup } from "./options.ts"

export { nameLookupLayer } from "./layer.ts"
export type { InternetOptions } from "./options.ts"

export { oidcLayer } from "./layer.ts"
export { issuerUrl, type OidcOptions } from "./options.ts"

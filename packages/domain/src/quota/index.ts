export * from "./excess.ts"
export * from "./limits.ts"
export * from "./report.ts"
export * from "./use.ts"

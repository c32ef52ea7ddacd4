export * from "./judge.ts"
export * from "./manifest.ts"
export * from "./model.ts"

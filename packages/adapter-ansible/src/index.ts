export * from "./installer/index.ts"
export * from "./library/index.ts"

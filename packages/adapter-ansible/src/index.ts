export * from "./library/index.ts"

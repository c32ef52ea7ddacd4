export * from "./client-file.ts"
export * from "./key.ts"

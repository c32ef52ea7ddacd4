export * from "./calls.ts"
export * from "./fault.ts"
export * from "./faults.ts"

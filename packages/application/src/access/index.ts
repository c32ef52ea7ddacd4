export * from "./credentials.ts"
export * from "./perform.ts"
export * from "./select-range.ts"
export * from "./select-user.ts"

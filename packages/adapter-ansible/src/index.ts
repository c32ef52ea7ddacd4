export * from "./installer/index.ts"
export * from "./library/index.ts"
export * from "./playbook/index.ts"

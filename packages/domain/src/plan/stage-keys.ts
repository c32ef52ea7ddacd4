import type { GuestStage } from "./action.ts"

/** Key of the step of one stage of one machine; its success is stored under the same name. */
export const stageKey = (stage: Exclude<GuestStage, "role">, machine: string): string => `${stage}:${machine}`

/** Key of the step of one role of one machine. Machine names contain no colon. */
export const roleKey = (machine: string, role: string): string => `role:${machine}:${role}`

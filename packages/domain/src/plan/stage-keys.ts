import type { GuestStage } from "./action.ts"

/** Key of the step of one stage of one machine; also the name under which its success is remembered. */
export const stageKey = (stage: Exclude<GuestStage, "role">, machine: string): string => `${stage}:${machine}`

/** Key of the step of one role of one machine. Machine names hold no colon. */
export const roleKey = (machine: string, role: string): string => `role:${machine}:${role}`

const ends = {
  success: "The run succeeded.",
  partial: "The run ended, but some steps failed.",
  failure: "The run failed.",
  aborted: "The run was stopped.",
} as const

/** Texts that the log adds itself. */
export const kindText = {
  planned: (steps: number) => `Planned: ${steps} steps`,
  attempt: (title: string, attempt: number) => `${title}: attempt ${attempt}`,
  done: "done",
  skipped: (because: string) => `skipped: ${because}`,
  retried: (text: string) => `${text} (tried again)`,
  moved: (machine: string, from: number, to: number) => `VM ${from} is taken; ${machine} becomes VM ${to}`,
  waiting: (reason: string) => `Waiting: ${reason}`,
  continued: (reason: string) => `Continues: ${reason}`,
  resumed: "The service was restarted; the run continues where it stopped.",
  notified: (to: string, because: string | undefined) =>
    because === undefined ? `Notified ${to}.` : `Could not notify ${to}: ${because}.`,
  cancelled: (by: string) => `${by} stopped the run.`,
  ended: (status: keyof typeof ends, message: string) => (message === "" ? ends[status] : `${ends[status]} ${message}`),
}

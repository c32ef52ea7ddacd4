/** Texts of the configuration editor. */
export const config = {
  intro:
    "One YAML file describes the range. It is checked as you type; no machine changes until you deploy. Ctrl+Space completes; hover over a key for its description.",
  example: "Insert an example",
  save: "Save",
  saveAndDeploy: "Save and review the deploy",
  saved: "Saved.",
  good: "The configuration is valid.",
  checking: "Checking…",
  findings: "Findings",
  problems: (count: number) => `${count} ${count === 1 ? "problem" : "problems"}`,
  line: (line: number, column: number) => `Line ${line}, column ${column}`,
  label: "Configuration in YAML",
  notLoaded: "The editor could not be loaded.",
  would: "What would change",
  wouldSaved: "Based on the stored configuration. Save yours to see what it would change.",
  changedTitle: "The configuration has changed in the meantime",
  changedText:
    "Somebody else saved it since you opened it. Nothing of theirs was overwritten. These lines were removed (-) and added (+):",
  theirs: "What was changed",
  takeTheirs: "Use theirs, discard mine",
  keepMine: "Keep mine and continue editing",
  schema: {
    type: (types: string) => `Type: ${types}`,
    oneOf: (values: string) => `One of: ${values}`,
    between: (least: number | undefined, most: number | undefined) =>
      most === undefined ? `At least ${least}` : least === undefined ? `At most ${most}` : `From ${least} to ${most}`,
    usual: (value: string) => `Default: ${value}`,
  },
} as const

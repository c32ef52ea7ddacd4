/** Texts of a plan's page, which are loaded only there. */
export const plan = {
  part: "Only a part…",
  partText:
    "Machines by name or pattern, such as *-dc*, separated by colons. Parts by their tags, such as network or windows, and roles, separated by commas. Other machines, parts and roles are left out.",
  limit: "Only these machines",
  tags: "Only these parts",
  roles: "Only these roles",
  force: "Run all stages again, even in testing mode",
  draft: "You have changed the configuration and not saved it: this plan is without your changes.",
} as const

/** Texts of the page of a plan that others do not load. */
export const plan = {
  part: "Only a part…",
  partText:
    "Machines by their names or patterns such as *-dc*, several with : in between; roles separated by commas. What is left out stays as it is.",
  limit: "Only these machines",
  tag: "Part",
  anyTag: "Every part",
  roles: "Only these roles",
  force: "Even in testing mode",
} as const

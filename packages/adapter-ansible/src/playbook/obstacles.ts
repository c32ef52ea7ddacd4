import { type GuestObstacle, guestStages } from "@rangewright/domain"
import { type AutomationAvailability, remedies, usedCollections, windowsModule } from "./availability.ts"

const onHost = (remedy: string): string => `On the service's host: ${remedy}`

/** What the service's host cannot do inside machines. A user who needs none of it can skip it, instead of finding out afterwards. */
export const hostObstacles = (found: AutomationAvailability, windows: "winrm" | "psrp"): readonly GuestObstacle[] => {
  if (found.ansible === undefined)
    return [
      {
        because: found.because ?? "Ansible was not found",
        hint: `${onHost(found.hint)} With guest_automation: none deploys skip work inside machines.`,
      },
    ]
  const speaks = windows === "winrm" ? found.winrm : found.psrp
  return [
    ...(found.sshpass
      ? []
      : [
          {
            os: ["linux", "macos"] as const,
            because: "sshpass is not installed on the service's host, without which SSH cannot use their passwords",
            hint: onHost(remedies.sshpass),
          },
        ]),
    ...(speaks
      ? []
      : [
          {
            os: ["windows"] as const,
            because: `Ansible on the service's host has no ${windowsModule(windows)}, without which Windows machines cannot be reached`,
            hint: onHost(remedies.windows(windows)),
          },
        ]),
    ...usedCollections.flatMap(({ name, stages }) =>
      found.missing.includes(name) && stages.length > 0
        ? [
            {
              os: ["windows"] as const,
              stages: guestStages.filter((stage) => (stages as readonly string[]).includes(stage)),
              because: `the collection ${name} is not there`,
              hint: onHost(remedies.collections),
            },
          ]
        : [],
    ),
  ]
}
